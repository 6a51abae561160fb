//! Exports: a dashboard as a file that other programs open, kept for [`store::KEPT`].
//!
//! ```text
//! request --> row PREPARING + job --> dashboard --> Specification --> writer | printer --> file --> row READY, event
//!     `------ waits for a moment, so that small files are in the answer ------^
//! ```
//! The files are made by jobs, few at once and in turns by project, so that a restart loses none and a large one delays nobody
//! else's for long. The writers are the crate `exports`; PDF is set by a program of its own (`clients::printer`), which runs as
//! a child with limits. The same data gives the same bytes, so that equal files are stored once.

pub mod bodies;
pub mod files;
pub mod making;
pub mod model;
pub mod operations;
pub mod routes;
pub mod selection;
pub mod specification;
pub mod store;

use actors::ids::{self, Id};

use self::model::DashboardExport;
use self::store::StoredExport;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;

impl Resource for StoredExport {
    type State = Analysis;
    type Ids = (Id<ids::Project>, Id<DashboardExport>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("exportId")?))
    }

    async fn find(state: &Analysis, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let own = found.filter(|export| export.project_id == project_id);
        Ok(Loaded { relation, resource: own.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
