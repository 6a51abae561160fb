//! Invitations to review a project's results: who is invited, by e-mail, and the access that accepting gives.
//!
//! ```text
//!   create --> row, token (hash only), e-mail --> link --> preview, accept --> review token (hash only), for
//!                                                                              X-Review-Token until the access ends
//! ```

pub mod bodies;
pub mod emails;
pub mod model;
pub mod operations;
pub mod routes;
pub mod shown;
pub mod store;

use actors::ids::{self, Id};

use self::model::ReviewInvitation;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

impl Resource for ReviewInvitation {
    type State = Reviews;
    type Ids = (Id<ids::Project>, Id<Self>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("invitationId")?))
    }

    async fn find(state: &Reviews, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let resource = found.filter(|invitation| invitation.project_id == project_id);
        Ok(Loaded { relation, resource: resource.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
