//! Projects: where a team's documents, meetings and requirements belong, and who is a member.

pub mod deletion;
pub mod documents;
pub mod events;
pub mod leaving;
pub mod model;
pub mod operations;
pub mod people;
pub mod roles;
pub mod routes;
pub mod state;
pub mod store;

use actors::ids::{self, Id};

use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::projects::state::Projects;
use model::Project;

impl Guarded for Project {
    type State = Projects;
    type Ids = Id<ids::Project>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        path.id("projectId")
    }

    async fn find(state: &Projects, id: Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await.map_err(Failure::from)?;
        let project = found.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        let role = state.roles.of(&state.db, id, caller.user_id).await?;
        Ok(Found { standing: Standing { role, ..Standing::default() }, thing: Ok(project) })
    }
}

/// Refuses changes to a project that is archived.
///
/// # Errors
/// 409 `ProjectArchived`.
pub fn must_be_active(project: &Project) -> Result<(), Failure> {
    match project.status {
        model::ProjectStatus::Active => Ok(()),
        model::ProjectStatus::Archived => Err(Failure::of(Code::PROJECT_ARCHIVED)),
    }
}
