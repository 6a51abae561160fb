//! New passwords, one function an operation.

use std::time::Duration;

use actors::ids::{Id, Session};
use actors::live::RequestId;

use super::model::ResetToken;
use super::store;
use crate::access::guard::Public;
use crate::access::one_time::OneTimeToken;
use crate::accounts::limits::{self, Tried};
use crate::accounts::model::{Account, CodePurpose, Email};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::sessions::store::{self as sessions, Ending};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::accounts::{codes, external, letters};
use crate::db::Failed;
use crate::db::attempts;
use crate::http::failure::Failure;
use crate::passwords;

const PURPOSE: CodePurpose = CodePurpose::ResetPassword;
const TOKEN: &str = "reset password";

/// Turns a code into a token that lets a new password be chosen.
///
/// # Errors
/// 422 `OtpInvalid` for whatever is wrong: the code, its age, the address; 429 while locked, whatever the code.
pub async fn verify_otp(state: &Accounts, by: &Public, email: Email, typed: String) -> Result<ResetToken, Failure> {
    let email = email.as_str().to_owned();
    let now = state.now();
    let life = state.config.accounts.reset_token_seconds;
    let expires_at = now + Duration::from_secs(life);
    let token = OneTimeToken::draw()?;
    let token_hash = token.kept(&state.secret, TOKEN)?;
    let rates = limits::code_tries(state, by, &email);
    let secret = state.secret.clone();
    let tried = state.db.write(move |conn| {
        Box::pin(async move {
            let counted = match attempts::reserve(conn, &rates, now).await? {
                Ok(counted) => counted,
                Err(wait) => return Ok::<_, Failed>(Tried::Locked(wait)),
            };
            let account = accounts::account_of(conn, &email).await?;
            let subject = account.as_ref().map_or_else(String::new, |account| account.id.to_string());
            let hash = codes::hash(&secret, PURPOSE, &email, &subject, &typed);
            // A wrong try is kept, so it is no error of the transaction.
            let right = codes::redeem(conn, &email, PURPOSE, &hash, now).await?;
            let Some(account) = account.filter(|_| right) else { return Ok(Tried::Wrong) };
            store::replace(conn, account.id, &token_hash, expires_at).await?;
            attempts::release(conn, counted, &[]).await?;
            Ok(Tried::Right(()))
        })
    });
    tried.await?.or_refused("code")?;
    Ok(ResetToken { reset_token: token.text().to_owned(), expires_in: life })
}

/// Sets a new password and ends all sessions. The owner is told by mail.
///
/// # Errors
/// 422 `OtpInvalid` for whatever is wrong with the token, `PasswordRefused` for the password (then the token is still good);
/// 429 while the account's codes are locked, or past too many wrong tokens.
pub async fn reset_password(
    state: &Accounts,
    by: &Public,
    token: OneTimeToken,
    password: String,
    request: RequestId,
) -> Result<(), Failure> {
    // What has not the form of a token is looked for too, and counted: nothing is kept under an empty hash.
    let token_hash = token.hash(&state.secret, TOKEN).unwrap_or_default();
    let account = whose(state, by, token_hash.clone()).await?.or_refused("resetToken")?;
    passwords::acceptable(&password, &[&account.email, &account.full_name])
        .map_err(|wrong| Failure::field("newPassword", wrong.reason, wrong.message))?;
    let hash = state.passwords.hash(password).await?;
    let now = state.now();
    let codes_of = limits::code_tries(state, by, &account.email);
    let logins_of = limits::of_logins(state, by, &account.email);
    let post = state.post.clone();
    let set: Tried<Vec<Id<Session>>> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let wait = limits::locked(conn, &codes_of, now).await?;
                if !wait.is_zero() {
                    return Ok::<_, Failed>(Tried::Locked(wait));
                }
                if !store::take(conn, account.id, &token_hash, now).await?
                    || !accounts::set_password(conn, account.id, &hash, now).await?
                {
                    return Ok(Tried::Wrong);
                }
                let ended = sessions::end(conn, account.id, Ending::All, now).await?;
                external::forget_codes(conn, account.id).await?;
                codes::store::delete(conn, &account.email, PURPOSE).await?;
                limits::forgive_logins(conn, &logins_of).await?;
                let letter = letters::password_changed(&account.email, account.language);
                post.send(conn, letter, now, &request).await?;
                Ok(Tried::Right(ended))
            })
        })
        .await?;
    are_over(state, set.or_refused("resetToken")?, now);
    state.jobs.wake();
    Ok(())
}

/// Whose a token is. What has no owner counts against the client.
async fn whose(state: &Accounts, by: &Public, token_hash: String) -> Result<Tried<Account>, Failure> {
    let rates = limits::token_tries(state, by);
    let now = state.now();
    let found = state.db.write(move |conn| {
        Box::pin(async move {
            let counted = match attempts::reserve(conn, &rates, now).await? {
                Ok(counted) => counted,
                Err(wait) => return Ok::<_, Failed>(Tried::Locked(wait)),
            };
            let account = match store::owner(conn, &token_hash, now).await? {
                Some(user_id) => accounts::account(conn, user_id).await?,
                None => None,
            };
            let Some(account) = account else { return Ok(Tried::Wrong) };
            attempts::release(conn, counted, &[]).await?;
            Ok(Tried::Right(account))
        })
    });
    Ok(found.await?)
}
