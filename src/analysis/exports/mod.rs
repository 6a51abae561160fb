//! Exports: a dashboard as a file that other programs open, kept for [`KEPT`].
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
pub mod specification;
pub mod store;

use std::time::Duration;

use actors::ids::{self, Id};

use self::model::DashboardExport;
use self::store::StoredExport;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::analysis::ends::Ends;
use crate::analysis::state::Analysis;
use crate::clients::files::Files;
use crate::clients::printer::PdfPrinter;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;

/// How long a file is kept.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How many exports of a project are kept at once.
pub const MOST_EXPORTS: i64 = 200;

/// What exports need beside the database.
pub struct Exports {
    pub files: Files,
    pub printer: PdfPrinter,
    pub ended: Ends,
}

impl Exports {
    #[must_use]
    pub fn new(files: Files, printer: PdfPrinter) -> Self {
        Self { files, printer, ended: Ends::default() }
    }
}

impl Resource for StoredExport {
    type State = Analysis;
    type Ids = (Id<ids::Project>, Id<DashboardExport>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("exportId")?))
    }

    async fn find(state: &Analysis, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(state, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let own = found.filter(|export| export.project_id == project_id);
        Ok(Loaded { relation, resource: own.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
