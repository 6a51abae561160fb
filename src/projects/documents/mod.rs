//! Documents: files of a project, and what is read in them.
//!
//! ```text
//! upload ── file store (by hash) ── row + job + event, one transaction ──> PENDING
//!                                     job: PROCESSING ── child process ──> READY with its text, or FAILED with a reason
//! ```
//! The text never changes once a document is READY, so that a quote can be verified by its offsets. Contents that are the
//! same are kept once; the file goes with the last document that has it.

pub mod contents;
mod events;
pub mod model;
pub mod operations;
pub mod reading;
pub mod routes;
pub mod store;
pub mod upload;

use actors::ids::{self, Id};

use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::projects::state::Projects;
use model::Document;

impl Guarded for Document {
    type State = Projects;
    type Ids = (Id<ids::Project>, Id<ids::Document>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        Ok((path.id("projectId")?, path.id("documentId")?))
    }

    async fn find(state: &Projects, (project_id, id): Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let found = state
            .db
            .read(move |conn| {
                Box::pin(async move {
                    if super::store::find(conn, project_id).await?.is_none() {
                        return Ok::<_, Failed>(None);
                    }
                    let role = super::store::role(conn, project_id, caller.user_id).await?;
                    Ok(Some((role, store::find(conn, project_id, id).await?)))
                })
            })
            .await?;
        let (role, document) = found.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        let standing = Standing { role, ..Standing::default() };
        Ok(Found { standing, thing: document.ok_or_else(|| Failure::of(Code::NOT_FOUND)) })
    }
}
