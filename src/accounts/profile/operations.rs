//! Profile, one function an operation; faces are in `avatar`, the end of an account in `leaving`.

use actors::live::RequestId;

use super::{letters, proof, store};
use crate::access::caller::Caller;
use crate::accounts::model::{FullName, JobTitle, Language, Profile, Typed};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::sessions::store::{self as sessions, Ending};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::patch::Patch;
use crate::passwords;

/// The caller's own account.
///
/// # Errors
/// 401: it is gone.
pub async fn details(state: &Accounts, caller: Caller) -> Result<Profile, Failure> {
    let found = state.db.read(move |conn| Box::pin(accounts::account(conn, caller.user_id))).await;
    let account = found.map_err(Failure::from)?.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
    Ok(Profile::from(&account))
}

/// What an edit changes.
#[derive(Debug)]
pub struct Edit {
    pub full_name: FullName,
    pub job_title: Patch<JobTitle>,
    pub language: Option<Language>,
}

/// Edits the caller's account; nothing that differs is no edit. In meetings people keep the name they joined with.
///
/// # Errors
/// 401: it is gone.
pub async fn edit(state: &Accounts, caller: Caller, edit: Edit) -> Result<Profile, Failure> {
    let now = state.now();
    let job_title = match edit.job_title {
        Patch::Keep => Patch::Keep,
        Patch::Set(JobTitle(Some(title))) => Patch::Set(title),
        Patch::Clear | Patch::Set(JobTitle(None)) => Patch::Clear,
    };
    let edited = state.db.write(move |conn| {
        Box::pin(
            async move { store::edit(conn, caller.user_id, &edit.full_name.0, job_title, edit.language, now).await },
        )
    });
    let account = edited.await.map_err(Failure::from)?.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?;
    Ok(Profile::from(&account))
}

/// Chooses a new password, or an account's first: every other session ends, and the owner is told.
///
/// # Errors
/// Those of `proof::owner` on `currentPassword`; 422 on `newPassword` for one that may not be chosen.
pub async fn change_password(
    state: &Accounts,
    caller: Caller,
    current: Option<Typed>,
    new: Typed,
    request: RequestId,
) -> Result<Profile, Failure> {
    let account = proof::owner(state, caller, current, "currentPassword").await?;
    passwords::acceptable(&new.0, &[&account.email, &account.full_name])
        .map_err(|wrong| Failure::field("newPassword", wrong.reason, wrong.message))?;
    let hash = state.passwords.hash(new.0).await?;
    let (now, post) = (state.now(), state.post.clone());
    let (account, ended) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                if !store::set_password(conn, &account, &hash, now).await? {
                    // Another change was first, so the password that was proved is none any more.
                    let former = "This was your password until now: it was changed meanwhile.";
                    return Err(Failure::at("currentPassword", Code::WRONG_PASSWORD, former));
                }
                let ended = sessions::end(conn, account.id, Ending::Others(caller.session_id), now).await?;
                post.send(conn, letters::password_changed(&account), now, &request).await?;
                let account = accounts::account(conn, account.id).await?;
                Ok((account.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))?, ended))
            })
        })
        .await?;
    are_over(state, ended, now);
    state.jobs.wake();
    Ok(Profile::from(&account))
}
