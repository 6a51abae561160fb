//! Handles the projects of an account that is deleted: projects without other members are deleted; in the others the
//! membership ends, and what the account contributed stays.

pub mod store;

use std::sync::Arc;

use actors::ids::{self, Id, User};
use actors::live::{EventRecord, RequestId};
use async_trait::async_trait;
use store::DeletedPart;
use uuid::Uuid;

use super::deletion;
use super::people::operations as members;
use super::people::store as people;
use crate::accounts::profile::deletion::{AfterCommit, DeletedAccount, DeletionHook, ReleaseError};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::{ApiError, FieldError};
use crate::projects::state::Projects;

/// The deletion hook for an account's projects.
pub struct ProjectDeletionHook {
    pub state: Projects,
}

#[async_trait]
impl DeletionHook for ProjectDeletionHook {
    async fn prepare(&self, leaving: &DeletedAccount) -> Result<(), ApiError> {
        let (state, user_id) = (&self.state, leaving.account.id);
        let found = state.db.read(move |conn| {
            Box::pin(async move {
                let parts = store::parts(conn, user_id).await?;
                let mut busy = Vec::new();
                for part in parts.iter().filter(|part| part.is_alone()) {
                    if super::store::is_busy(conn, part.project_id).await? {
                        busy.push(part.name.clone());
                    }
                }
                Ok::<_, DbError>((parts, busy))
            })
        });
        let (parts, busy) = found.await.map_err(ApiError::from)?;
        refuse(&parts, busy)?;
        let until = deletion::in_a_moment();
        for part in parts.iter().filter(|part| part.is_alone()) {
            if delete_alone(state, part.project_id, user_id, &leaving.request).await? {
                deletion::begin(state, part.project_id, until, &leaving.request).await;
            }
        }
        Ok(())
    }

    /// Locks the projects in the order of their ids, as all code does that locks more than one.
    async fn lock(&self, conn: &mut Conn, user_id: Id<User>) -> Result<Vec<Uuid>, DbError> {
        let projects = store::projects(conn, user_id).await?;
        for id in &projects {
            super::store::find_to_change(conn, *id).await?;
        }
        Ok(projects.into_iter().map(Id::uuid).collect())
    }

    async fn release(&self, conn: &mut Conn, leaving: &DeletedAccount) -> Result<Option<AfterCommit>, ReleaseError> {
        let user_id = leaving.account.id;
        let parts = store::parts(conn, user_id).await?;
        if parts.iter().any(DeletedPart::is_alone) {
            return Err(ReleaseError::Again);
        }
        refuse(&parts, Vec::new()).map_err(ReleaseError::Refused)?;
        let mut records = Vec::new();
        for part in &parts {
            records.extend(take_out(conn, part.project_id, leaving).await?);
        }
        store::forget_invitations(conn, &leaving.account.email).await?;
        let left: Vec<Id<ids::Project>> = parts.iter().map(|part| part.project_id).collect();
        let state = self.state.clone();
        Ok(Some(Box::new(move || {
            left.into_iter().for_each(|id| state.roles.invalidate(id));
            state.hub.publish(records);
        })))
    }
}

/// Refuses the deletion with an error for each project that needs another owner first, or in which a meeting or run has
/// to end first.
fn refuse(parts: &[DeletedPart], busy: Vec<String>) -> Result<(), ApiError> {
    let fault = |code: Code, message: String| FieldError::of(code, None, message);
    let heirless = parts.iter().filter(|part| part.leaves_no_owner()).map(|part| {
        fault(Code::LAST_OWNER, format!("“{}” ({}) needs another owner first.", part.name, part.project_id))
    });
    let mut faults: Vec<FieldError> = heirless.collect();
    let code = if faults.is_empty() { Code::INVALID_STATE } else { Code::LAST_OWNER };
    faults.extend(busy.into_iter().map(|name| {
        fault(Code::INVALID_STATE, format!("End the live meetings and the unfinished analysis runs of “{name}” first."))
    }));
    match faults.as_slice() {
        [] => Ok(()),
        [first, ..] => Err(ApiError { message: first.message().to_owned(), faults, ..ApiError::of(code) }),
    }
}

/// Deletes a project that has no other members. Does nothing if another user has joined in the meantime, or if it was
/// deleted already. Returns whether it was deleted.
async fn delete_alone(
    state: &Projects,
    id: Id<ids::Project>,
    user_id: Id<User>,
    request: &RequestId,
) -> Result<bool, ApiError> {
    let (now, jobs, request_id) = (state.now(), state.jobs.clone(), Arc::clone(request));
    // Held whatever the outcome is: the change may be committed although the result is unknown.
    let changing = state.roles.change(id);
    let record = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let Some(project) = super::store::find_to_change(conn, id).await? else {
                    return Ok::<_, ApiError>(None);
                };
                if !store::parts(conn, user_id).await?.iter().any(|part| part.project_id == id && part.is_alone()) {
                    return Ok(None);
                }
                deletion::hide_and_enqueue_deletion(conn, &jobs, &project, now, &request_id).await.map(Some)
            })
        })
        .await;
    drop(changing);
    let Some(record) = record? else { return Ok(false) };
    state.hub.publish(vec![record]);
    Ok(true)
}

/// Ends the membership in a project. If the account is the project's `ownerId`, the owner who joined first takes its
/// place.
async fn take_out(
    conn: &mut Conn,
    id: Id<ids::Project>,
    leaving: &DeletedAccount,
) -> Result<Vec<EventRecord>, DbError> {
    let user_id = leaving.account.id;
    let (project, member) = (super::store::find(conn, id).await?, people::of(conn, id, user_id).await?);
    let (Some(project), Some(member)) = (project, member) else { return Ok(Vec::new()) };
    let successor = people::owners(conn, id).await?.into_iter().find(|owner| *owner != user_id);
    members::take_out(conn, project, &member, successor, leaving.now, &leaving.request).await
}
