//! People of a project: its members, the invited, and its stakeholders.
//!
//! ```text
//!   add --> PENDING (a link by e-mail, 7 days) --accept--> member --change role--> member --remove, leave--> removed
//!             |  invited or sent again: another invitation takes its place, and the former link is invalid
//!             |  revoked: the link is invalid
//!             `- valid only while the inviter may still give the role
//! ```
//! Every change of members locks the project's row, so that of two owners who demote each other one remains. There is
//! always an OWNER, and the project's `ownerId` is always one of the owners.

pub mod bodies;
pub mod emails;
pub mod invitees;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use self::model::InvitationToProject;
use super::model::Project;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::state::Projects;

impl Resource for InvitationToProject {
    type State = Projects;
    type Ids = (Id<ids::Project>, Id<Self>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("invitationId")?))
    }

    async fn find(state: &Projects, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(state, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::invitations::find(conn, id))).await;
        let found = found.map_err(ApiError::from)?.filter(|invitation| invitation.project_id == project_id);
        Ok(Loaded { relation, resource: found.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}

/// A membership, by the ids in the path. Its role is read in the transaction that changes it.
pub struct Membership {
    pub project_id: Id<ids::Project>,
    pub member_id: Id<ids::Member>,
}

impl Resource for Membership {
    type State = Projects;
    type Ids = (Id<ids::Project>, Id<ids::Member>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("memberId")?))
    }

    async fn find(
        state: &Projects,
        (project_id, member_id): Self::Ids,
        caller: Caller,
    ) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(state, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, project_id, member_id))).await;
        let found = found.map_err(ApiError::from)?;
        let own = found.as_ref().is_some_and(|member| member.user_id == caller.user_id);
        let resource = found.map(|_| Self { project_id, member_id }).ok_or_else(|| ApiError::of(Code::NOT_FOUND));
        Ok(Loaded { relation: Relation { own, ..relation }, resource })
    }
}
