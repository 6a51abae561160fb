//! Projects: the container of a team's documents, meetings and requirements, and its members.

pub mod awake;
pub mod bodies;
pub mod deletion;
pub mod deletion_hook;
pub mod documents;
pub mod events;
pub mod glossary;
pub mod item_kind;
pub mod membership_end;
pub mod model;
pub mod operations;
pub mod people;
pub mod roles;
pub mod routes;
pub mod state;
pub mod store;

use actors::ids::{self, Id};
use model::Project;

use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::state::Projects;
use crate::quotas::model::Payer;

impl Resource for Project {
    type State = Projects;
    type Ids = Id<ids::Project>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        path.id("projectId")
    }

    async fn find(state: &Projects, id: Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let found = state.roles.project(&state.db, id).await?;
        let project = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?.as_ref().clone();
        let role = state.roles.of(&state.db, id, caller.user_id).await?;
        Ok(Loaded { relation: Relation { role, ..Relation::default() }, resource: Ok(project) })
    }
}

impl Projects {
    /// Returns whose quotas what is stored in a project uses up.
    ///
    /// # Errors
    /// 404 if there is no such project any more.
    pub async fn payer(&self, id: Id<ids::Project>) -> Result<Payer, ApiError> {
        let project = self.roles.project(&self.db, id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        Ok(Payer::Project { id, owner_id: project.owner_id })
    }
}

/// Refuses a change to an archived project.
///
/// # Errors
/// 409 `ProjectArchived`.
pub fn must_be_active(project: &Project) -> Result<(), ApiError> {
    project.status.must_be_active()
}
