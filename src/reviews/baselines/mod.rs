//! Baselines: a project's requirements and user stories as they stood at one moment.
//!
//! A baseline is a whole copy, written by one statement and never changed or deleted, except with its project. A project has
//! at most [`MAX_BASELINES`]. Two baselines, or one and the present, are compared by the fields that people read: the times of
//! changes, the engine's scores and the sources take no part.

pub mod bodies;
pub mod comparison;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use self::model::Baseline;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

/// The most baselines of a project: nothing deletes one.
pub const MAX_BASELINES: i64 = 200;

/// A baseline of a project, as a resource.
pub struct ProjectBaseline {
    pub project_id: Id<ids::Project>,
    pub id: Id<Baseline>,
}

impl Resource for ProjectBaseline {
    type State = Reviews;
    type Ids = (Id<ids::Project>, Id<Baseline>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("baselineId")?))
    }

    async fn find(state: &Reviews, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, project_id, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let resource = found.map(|_| Self { project_id, id }).ok_or_else(|| ApiError::of(Code::NOT_FOUND));
        Ok(Loaded { relation, resource })
    }
}
