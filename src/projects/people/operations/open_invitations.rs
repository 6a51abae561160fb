//! Operations on invitations that nobody has accepted yet: list and revoke.

use std::collections::HashMap;

use actors::ids::{self, Id, User};

use super::super::model::{self, InvitationToProject, ProjectInvitation, State};
use super::super::store::invitations;
use super::{acting, locked};
use crate::access::principal::Caller;
use crate::accounts;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::projects::state::Projects;
use crate::projects::store as projects;

/// Lists the invitations that nobody has accepted and nobody revoked, newest first, expired ones too.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Projects,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<ProjectInvitation>, ApiError> {
    let now = state.now();
    let read = async move |conn: &mut Conn| {
        let open = invitations::list_open(conn, project_id, page).await?;
        let mut inviters: Vec<Id<User>> = open.items.iter().map(|one| one.invited_by_id).collect();
        inviters.sort_unstable();
        inviters.dedup();
        let roles = projects::roles(conn, project_id, &inviters).await?;
        let accounts = accounts::store::accounts(conn, &inviters).await?;
        let names: HashMap<Id<User>, String> = accounts.into_iter().map(|one| (one.id, one.full_name)).collect();
        Ok::<_, DbError>(open.map(|one| {
            let status = one.status(roles.get(&one.invited_by_id).copied(), now);
            let name = names.get(&one.invited_by_id).cloned();
            ProjectInvitation::of(one, status, name)
        }))
    };
    state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)
}

/// Revokes an invitation: its link leads nowhere from then on. Changes nothing if it has already been revoked.
///
/// # Errors
/// 403 for an invitation to a role that the caller may not give; 409 for one that was accepted.
pub async fn revoke(state: &Projects, caller: Caller, invitation: InvitationToProject) -> Result<(), ApiError> {
    let InvitationToProject { id, project_id, .. } = invitation;
    let now = state.now();
    let revoked = state.db.write(move |conn| {
        Box::pin(async move {
            // Locks the project, so that it is not accepted meanwhile.
            locked(conn, project_id).await?;
            let actor = acting(conn, project_id, caller).await?;
            let invitation = invitations::find(conn, id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
            if !model::may_handle(actor, invitation.role) {
                return Err(ApiError::of(Code::FORBIDDEN));
            }
            match invitation.state {
                State::Accepted { .. } => {
                    Err(ApiError::with_message(Code::INVALID_STATE, "The invitation was accepted: remove the member."))
                }
                State::Revoked { .. } => Ok(()),
                State::Open => Ok(invitations::revoke(conn, id, now).await?),
            }
        })
    });
    revoked.await
}
