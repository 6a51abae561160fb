//! Operations on the profile, one function per operation; avatars are in `avatar`, account deletion is in `deletion`.

use actors::live::RequestId;

use super::bodies::EditProfile;
use super::{emails, proof, store};
use crate::access::principal::Caller;
use crate::accounts::model::{JobTitle, NewPassword, Profile, TypedPassword};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::sessions::store::{self as sessions, SessionsToEnd};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::patch::Patch;
use crate::passwords;

/// Returns the caller's own account.
///
/// # Errors
/// 401 when the account was deleted.
pub async fn details(state: &Accounts, caller: Caller) -> Result<Profile, ApiError> {
    let found = state.db.read(move |conn| Box::pin(accounts::account(conn, caller.user_id))).await;
    let account = found.map_err(ApiError::from)?.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    Ok(Profile::from(&account))
}

/// Edits the caller's account; an edit without a difference changes nothing. In meetings, participants keep the name
/// that they joined with.
///
/// # Errors
/// 401 when the account was deleted.
pub async fn edit(state: &Accounts, caller: Caller, body: EditProfile) -> Result<Profile, ApiError> {
    let now = state.now();
    let job_title = match body.job_title {
        Patch::Keep => Patch::Keep,
        Patch::Set(JobTitle(Some(title))) => Patch::Set(title),
        Patch::Clear | Patch::Set(JobTitle(None)) => Patch::Clear,
    };
    let edited = state.db.write(move |conn| {
        Box::pin(
            async move { store::edit(conn, caller.user_id, &body.full_name.0, job_title, body.language, now).await },
        )
    });
    let account = edited.await.map_err(ApiError::from)?.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?;
    Ok(Profile::from(&account))
}

/// Changes the password, or sets the first one of an account without a password. Every other session ends, and the
/// owner is notified by e-mail.
///
/// # Errors
/// Those of `proof::owner` on `currentPassword`; 422 on `newPassword` for an unacceptable one.
pub async fn change_password(
    state: &Accounts,
    caller: Caller,
    current: Option<TypedPassword>,
    new: NewPassword,
    request: RequestId,
) -> Result<Profile, ApiError> {
    let account = proof::owner(state, caller, current, "currentPassword").await?;
    passwords::acceptable(&new.0, &[&account.email, &account.full_name])
        .map_err(|wrong| ApiError::field("newPassword", wrong.reason, wrong.message))?;
    let hash = state.passwords.hash(new.0).await?;
    let (now, outbox) = (state.now(), state.outbox.clone());
    let (account, ended) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                if !store::set_password(conn, &account, &hash, now).await? {
                    // A concurrent change committed first, so the password that was checked is no longer valid.
                    let former = "This password is no longer valid: it was changed in the meantime.";
                    return Err(ApiError::at("currentPassword", Code::WRONG_PASSWORD, former));
                }
                let ended = sessions::end(conn, account.id, SessionsToEnd::Others(caller.session_id), now).await?;
                outbox.send(conn, emails::password_changed(&account), now, &request).await?;
                let account = accounts::account(conn, account.id).await?;
                Ok((account.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))?, ended))
            })
        })
        .await?;
    are_over(state, ended, now);
    state.jobs.wake();
    Ok(Profile::from(&account))
}
