//! Who asks for what can't be undone must be the owner, not just somebody at an open screen: the password once more, or,
//! where the account has none, a log-in of the last minutes.

use std::time::Duration;

use super::store;
use crate::access::caller::Caller;
use crate::accounts::model::{Account, Typed};
use crate::accounts::state::Accounts;
use crate::accounts::{limits, store as accounts};
use crate::db::{Failed, attempts};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::reason::Reason;
use crate::passwords::Checked;

/// The caller's account, as it was when its owner was proved.
///
/// # Errors
/// 422 on `field` for a password that is missing or wrong, 403 `RecentLoginRequired` for an account without one whose
/// session is older, 429 for who guesses, 401 where the account is gone.
pub async fn owner(state: &Accounts, caller: Caller, typed: Option<Typed>, field: &str) -> Result<Account, Failure> {
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let account = accounts::account(conn, caller.user_id).await?;
            Ok::<_, Failed>((account, store::session_begun(conn, caller.session_id).await?))
        })
    });
    let (account, begun) = found.await.map_err(Failure::from)?;
    let account = account.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
    match (&account.password_hash, typed) {
        (Some(hash), Some(typed)) => {
            // Counted as wrong until it is known to be right, like log-ins: a stolen token must not be a way to guess.
            let (rates, now) = (limits::proofs(state, account.id), state.now());
            let reserved =
                state.db.write(move |conn| Box::pin(async move { attempts::reserve(conn, &rates, now).await }));
            let counted = reserved.await.map_err(Failure::from)?.map_err(Failure::too_many)?;
            let checked = state.passwords.check(typed.0, Some(hash.clone())).await;
            if matches!(checked, Ok(Checked::Wrong)) {
                return Err(wrong(field, "This is not your password."));
            }
            let released = state.db.write(move |conn| Box::pin(attempts::release(conn, counted, &[])));
            released.await.map_err(Failure::from)?;
            checked.map(|_| account)
        }
        (Some(_), None) => Err(Failure::field(field, Reason::Required, Reason::Required.sentence())),
        (None, Some(_)) => Err(wrong(field, "This account has no password.")),
        (None, None) => {
            let recent = Duration::from_secs(state.config.accounts.recent_login_seconds);
            let is_recent = begun.is_some_and(|begun| state.now().since(begun) <= recent);
            if is_recent { Ok(account) } else { Err(Failure::of(Code::RECENT_LOGIN_REQUIRED)) }
        }
    }
}

fn wrong(field: &str, message: &str) -> Failure {
    Failure::at(field, Code::WRONG_PASSWORD, message)
}
