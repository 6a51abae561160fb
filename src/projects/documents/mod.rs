//! Documents: the files of a project, and the text extracted from them.
//!
//! ```text
//! upload ── file store (by hash) ── row + job + event, one transaction ──> PENDING
//!                                     job: PROCESSING ── child process ──> READY with its text, or FAILED with reason
//! ```
//! The text of a version never changes once it is READY, so that a quote can be verified by its offsets; see [`versions`]. Identical
//! contents are stored once; the file is deleted with the last document that refers to it.

pub mod bodies;
pub mod contents;
mod events;
pub mod model;
pub mod operations;
pub mod reading;
pub mod routes;
pub mod store;
pub mod upload;
pub mod versions;

use actors::ids::{self, Id};
use model::Document;

use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::state::Projects;

impl Resource for Document {
    type State = Projects;
    type Ids = (Id<ids::Project>, Id<ids::Document>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("documentId")?))
    }

    async fn find(state: &Projects, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let found = state
            .db
            .read(move |conn| {
                Box::pin(async move {
                    if super::store::find(conn, project_id).await?.is_none() {
                        return Ok::<_, DbError>(None);
                    }
                    let role = super::store::role(conn, project_id, caller.user_id).await?;
                    Ok(Some((role, store::find(conn, project_id, id).await?)))
                })
            })
            .await?;
        let (role, document) = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        let relation = Relation { role, ..Relation::default() };
        Ok(Loaded { relation, resource: document.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
    }
}
