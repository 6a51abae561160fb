//! Exports: approved user stories become issues of the connected tracker, each exactly once.
//!
//! ```text
//! QUEUED -> RUNNING -> COMPLETED | PARTIAL | FAILED      CANCELLED at any time before
//!
//! of each page of stories:  no issue yet      intent saved -> create -> issue id saved
//!                           intent, no issue  wait until no call can be under way -> look for it -> as above, or create
//!                           issue             read it -> unchanged | update | edited there, moved, gone: said, and left alone
//! ```
//! The intent is committed before the call that creates an issue, and the issue carries the story's id from its first moment.
//! So a server that was killed at any point finds what it had created, and creates nothing twice.

pub mod bodies;
pub mod drafting;
pub mod events;
pub mod exporting;
pub mod halt;
pub mod known;
pub mod model;
pub mod operations;
pub mod page;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use self::model::TrackerExport;
use self::store::StoredTrackerExport;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;
use crate::trackers::state::Trackers;

/// The most stories of one export.
pub const MAX_STORIES: usize = 5000;

impl Resource for StoredTrackerExport {
    type State = Trackers;
    type Ids = (Id<ids::Project>, Id<TrackerExport>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("exportId")?))
    }

    async fn find(state: &Trackers, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let own = found.filter(|export| export.project_id == project_id);
        Ok(Loaded { relation, resource: own.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
