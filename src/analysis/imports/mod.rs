//! Imports: a file that was exported from here and changed elsewhere, or ReqIF of another program, comes back as proposals.
//!
//! ```text
//!                                  child process: reader --> comparison with the project's items
//!                                       |                        |
//! upload --> row READING + job ---------'                      drafts --> OPEN proposals, row READY, event
//!     `------ waits for a moment, so that small files are in the answer ----------------^
//! ```
//! Nothing of the project changes before somebody accepts a proposal. An item of the file is the one of the project that has
//! its id, otherwise the one that has its code. What differs is proposed as CHANGED, with what the file does not speak of as it
//! is here; what is unknown is proposed as NEW. Whatever is not taken over is a note of the report, with its place in the file:
//! statuses, duplicates and conflicts, which are decided here; values that an edit would not take either; and new items with
//! the words of one that is there. Items that the file lacks are listed and stay.
//!
//! Where the file tells the version that was exported and the item has changed since, the proposal is about that version, so
//! that it is not accepted without `If-Match`. A later import supersedes what earlier ones propose for the same items; runs
//! leave it alone, and it leaves alone what runs propose.
//!
//! The file is read by a job, one at a time, in a process with limits on memory and time, and goes once it is read. The server parses
//! nothing of it; it gives the process the project's items page by page, and takes the proposals some at a time. A file at which the
//! process fails has FAILED, and is not tried again. A job that is cut off begins anew, without the drafts
//! that it had written: proposals become visible all at once.

pub mod child;
pub mod exchange;
pub mod files;
pub mod model;
pub mod operations;
pub mod planner;
pub mod planning;
pub mod reading;
pub mod routes;
pub mod store;
pub mod upload;
pub mod wording;

use actors::ids::{self, Id};

use self::model::ItemImport;
use self::store::StoredImport;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;

impl Resource for StoredImport {
    type State = Analysis;
    type Ids = (Id<ids::Project>, Id<ItemImport>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("importId")?))
    }

    async fn find(state: &Analysis, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let own = found.filter(|stored| stored.import.project_id == project_id);
        Ok(Loaded { relation, resource: own.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
