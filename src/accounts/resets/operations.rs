//! Operations of password resets, one function per operation.

use std::time::Duration;

use actors::ids::{Id, Session};
use actors::live::RequestId;

use super::model::ResetToken;
use super::store;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::limits::{self, Verification};
use crate::accounts::model::{Account, CodePurpose, Email};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::sessions::store::{self as sessions, SessionsToEnd};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::accounts::{codes, emails, external};
use crate::db::DbError;
use crate::db::rate_limits;
use crate::http::error::ApiError;
use crate::passwords;

const PURPOSE: CodePurpose = CodePurpose::ResetPassword;
const TOKEN: &str = "reset password";

/// Exchanges a code for a token that allows setting a new password.
///
/// # Errors
/// 422 `OtpInvalid` for anything that is wrong: the code, its age or the address; 429 while locked, whatever the code.
pub async fn verify_otp(state: &Accounts, by: &Public, email: Email, typed: String) -> Result<ResetToken, ApiError> {
    let email = email.as_str().to_owned();
    let now = state.now();
    let life = state.config.accounts.reset_token_seconds;
    let expires_at = now + Duration::from_secs(life);
    let token = OneTimeToken::generate()?;
    let token_hash = token.stored_hash(&state.secret, TOKEN)?;
    let rates = limits::code_tries(state, by, &email);
    let secret = state.secret.clone();
    let tried = state.db.write(move |conn| {
        Box::pin(async move {
            let counted = match rate_limits::reserve(conn, &rates, now).await? {
                Ok(counted) => counted,
                Err(wait) => return Ok::<_, DbError>(Verification::Locked(wait)),
            };
            let account = accounts::account_of(conn, &email).await?;
            let subject = account.as_ref().map_or_else(String::new, |account| account.id.to_string());
            let hash = codes::hash(&secret, PURPOSE, &email, &subject, &typed);
            // A failed attempt is stored, so the transaction commits.
            let right = codes::redeem(conn, &email, PURPOSE, &hash, now).await?;
            let Some(account) = account.filter(|_| right) else { return Ok(Verification::Wrong) };
            store::replace(conn, account.id, &token_hash, expires_at).await?;
            rate_limits::release(conn, counted, &[]).await?;
            Ok(Verification::Right(()))
        })
    });
    tried.await?.or_refused("code")?;
    Ok(ResetToken { reset_token: token.text().to_owned(), expires_in: life })
}

/// Sets a new password and ends all sessions. The owner is notified by e-mail.
///
/// # Errors
/// 422 `OtpInvalid` for anything that is wrong with the token, or `PasswordRefused` for the password (the token then
/// stays valid); 429 while the codes of the account are locked, or past too many wrong tokens.
pub async fn reset_password(
    state: &Accounts,
    by: &Public,
    token: OneTimeToken,
    password: String,
    request: RequestId,
) -> Result<(), ApiError> {
    // A malformed token is looked up and counted too: no row has an empty hash.
    let token_hash = token.hash(&state.secret, TOKEN).unwrap_or_default();
    let account = account_of_token(state, by, token_hash.clone()).await?.or_refused("resetToken")?;
    passwords::acceptable(&password, &[&account.email, &account.full_name])
        .map_err(|wrong| ApiError::field("newPassword", wrong.reason, wrong.message))?;
    let hash = state.passwords.hash(password).await?;
    let now = state.now();
    let codes_of = limits::code_tries(state, by, &account.email);
    let logins_of = limits::of_logins(state, by, &account.email);
    let outbox = state.outbox.clone();
    let set: Verification<Vec<Id<Session>>> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let wait = limits::locked(conn, &codes_of, now).await?;
                if !wait.is_zero() {
                    return Ok::<_, DbError>(Verification::Locked(wait));
                }
                if !store::take(conn, account.id, &token_hash, now).await?
                    || !accounts::set_password(conn, account.id, &hash, now).await?
                {
                    return Ok(Verification::Wrong);
                }
                let ended = sessions::end(conn, account.id, SessionsToEnd::All, now).await?;
                external::forget_codes(conn, account.id).await?;
                codes::store::delete(conn, &account.email, PURPOSE).await?;
                limits::forgive_logins(conn, &logins_of).await?;
                let email = emails::password_changed(&account.email, account.language);
                outbox.send(conn, email, now, &request).await?;
                Ok(Verification::Right(ended))
            })
        })
        .await?;
    are_over(state, set.or_refused("resetToken")?, now);
    state.jobs.wake();
    Ok(())
}

/// Returns the account of a token. An unknown token counts against the client.
async fn account_of_token(
    state: &Accounts,
    by: &Public,
    token_hash: String,
) -> Result<Verification<Account>, ApiError> {
    let rates = limits::token_tries(state, by);
    let now = state.now();
    let found = state.db.write(move |conn| {
        Box::pin(async move {
            let counted = match rate_limits::reserve(conn, &rates, now).await? {
                Ok(counted) => counted,
                Err(wait) => return Ok::<_, DbError>(Verification::Locked(wait)),
            };
            let account = match store::owner(conn, &token_hash, now).await? {
                Some(user_id) => accounts::account(conn, user_id).await?,
                None => None,
            };
            let Some(account) = account else { return Ok(Verification::Wrong) };
            rate_limits::release(conn, counted, &[]).await?;
            Ok(Verification::Right(account))
        })
    });
    Ok(found.await?)
}
