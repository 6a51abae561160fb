//! Feedback on a project's results: from reviewers and members, and what analysts make of it.

pub mod bodies;
pub mod emails;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use self::model::Feedback;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

impl Resource for Feedback {
    type State = Reviews;
    type Ids = (Id<ids::Project>, Id<Self>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("feedbackId")?))
    }

    async fn find(state: &Reviews, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let resource = found.filter(|feedback| feedback.project_id == project_id);
        Ok(Loaded { relation, resource: resource.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
