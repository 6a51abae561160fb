//! Re-authentication for irreversible operations: a signed-in session is not enough.
//!
//! The caller must be the owner of the account, not just someone at an unlocked screen: the password is required once
//! more, or, where the account has none, a log-in within the last minutes.

use std::time::Duration;

use super::store;
use crate::access::principal::Caller;
use crate::accounts::model::{Account, TypedPassword};
use crate::accounts::state::Accounts;
use crate::accounts::{limits, store as accounts};
use crate::db::{DbError, rate_limits};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::passwords::PasswordCheck;

/// Returns the account of the caller, as it was when its owner was verified.
///
/// # Errors
/// 422 on `field` for a password that is missing or wrong; 403 `RecentLoginRequired` for an account without a password
/// whose session is older; 429 after too many wrong passwords; 401 when the account was deleted.
pub async fn owner(
    state: &Accounts,
    caller: Caller,
    typed: Option<TypedPassword>,
    field: &str,
) -> Result<Account, ApiError> {
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let account = accounts::account(conn, caller.user_id).await?;
            Ok::<_, DbError>((account, store::session_started_at(conn, caller.session_id).await?))
        })
    });
    let (account, started) = found.await.map_err(ApiError::from)?;
    let account = account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    match (&account.password_hash, typed) {
        (Some(hash), Some(typed)) => {
            // Counted as a failure until the password is known to be right, like log-ins: a stolen token must not be a
            // way to guess.
            let (rates, now) = (limits::proofs(state, account.id), state.now());
            let reserved =
                state.db.write(move |conn| Box::pin(async move { rate_limits::reserve(conn, &rates, now).await }));
            let counted = reserved.await.map_err(ApiError::from)?.map_err(ApiError::too_many)?;
            let checked = state.passwords.check(typed.0, Some(hash.clone())).await;
            if matches!(checked, Ok(PasswordCheck::Wrong)) {
                return Err(wrong_password(field, "The password is wrong."));
            }
            let released = state.db.write(move |conn| Box::pin(rate_limits::release(conn, counted, &[])));
            released.await.map_err(ApiError::from)?;
            checked.map(|_| account)
        }
        (Some(_), None) => Err(ApiError::field(field, Reason::Required, Reason::Required.sentence())),
        (None, Some(_)) => Err(wrong_password(field, "This account has no password.")),
        (None, None) => {
            let recent = Duration::from_secs(state.config.accounts.recent_login_seconds);
            let is_recent = started.is_some_and(|started| state.now().since(started) <= recent);
            if is_recent { Ok(account) } else { Err(ApiError::of(Code::RECENT_LOGIN_REQUIRED)) }
        }
    }
}

fn wrong_password(field: &str, message: &str) -> ApiError {
    ApiError::at(field, Code::WRONG_PASSWORD, message)
}
