//! Proposals: what a run would change about the items of a project, or reject (see [`super::findings`]), and what an import would add
//! or change (see [`super::imports`]).
//!
//! ```text
//! NEW | CHANGED | GONE -> OPEN --accept--> ACCEPTED (the item changes)
//!                          |--dismiss-> DISMISSED
//!                          |--later run or import about the same item-> SUPERSEDED
//!                          `--run undone-> deleted
//! ```
//! Proposals are written as drafts beside the drafts of items, and become OPEN in the transaction that completes the run, by
//! a fixed number of statements that don't touch their texts ([`store::drafts::publish`]). The drafts of a run that ends in
//! another way are deleted by a job. A run begins with the deletion of what was superseded more than 30 days ago.
//!
//! Accepting NEW makes the item, with the next code; CHANGED replaces its content (version + 1, AI_REGENERATED, or
//! HUMAN_EDITED if an import proposed it; `before` has what was replaced); GONE rejects it. `If-Match` is compared with
//! the version of the item: 412. Without it, an item that has changed since it was proposed is 409: sending its present
//! version says that this one was seen. What is not OPEN any more is 409, also if it is decided the same way once more: the
//! interface names no repetition.
//!
//! References never dangle: an item refers only to requirements that exist. A reference of an item to one that is proposed is
//! stored as a link of that proposal, and is added to the item when it is accepted, so the order makes no difference. Whoever
//! accepts holds the lock of the project's row: of two that refer to each other, the second one sees the first.

pub mod bodies;
pub mod forgetting;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use self::model::Proposal;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::model::Project;

/// A proposal of a project, as a resource.
pub struct ProjectProposal {
    pub project_id: Id<ids::Project>,
    pub id: Id<Proposal>,
}

impl Resource for ProjectProposal {
    type State = Analysis;
    type Ids = (Id<ids::Project>, Id<Proposal>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("proposalId")?))
    }

    async fn find(state: &Analysis, (project_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::exists(conn, project_id, id))).await;
        let exists = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let resource = if exists { Ok(Self { project_id, id }) } else { Err(ApiError::of(Code::NOT_FOUND)) };
        Ok(Loaded { relation, resource })
    }
}
