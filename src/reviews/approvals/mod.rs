//! Approval: what people decide about requirements and stories, and how they change them.
//!
//! ```text
//!                    approve                          reject (comment)
//! NEEDS_REVIEW ------------------> APPROVED   NEEDS_REVIEW ----------> REJECTED
//!      ^  |                          |  ^                                 |
//!      |  `-- defer (until a date) --'  `-- approve again, if suspect     |
//!      `----------- reopen, any edit, regenerate -------------------------'
//! ```
//! Every decision raises the version and is one event of the project's trail (`analysis::trail`), in the transaction of the
//! change. An edit may approve at once. In a project with `signedApprovals` an approval is signed.

pub mod bodies;
pub mod model;
pub mod operations;
pub mod regenerate;
pub mod routes;
pub mod trail;

use actors::ids::{self, Id};
use uuid::Uuid;

use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::analysis;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::item_kind::ItemKind;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

/// An item of a project that a decision is about.
#[derive(Debug, Clone, Copy)]
pub struct TargetItem {
    pub project_id: Id<ids::Project>,
    pub id: Id<()>,
    pub kind: ItemKind,
}

/// A requirement that a decision is about, as a resource.
#[derive(Debug)]
pub struct ReviewedRequirement(pub TargetItem);

/// A user story that a decision is about, as a resource.
#[derive(Debug)]
pub struct ReviewedStory(pub TargetItem);

async fn find(state: &Reviews, item: TargetItem, caller: Caller) -> Result<Loaded<TargetItem>, ApiError> {
    let TargetItem { project_id, id, kind } = item;
    let Loaded { relation, .. } = Project::find(&state.projects, project_id, caller).await?;
    let found = state.db.read(move |conn| Box::pin(analysis::items::store::exists(conn, project_id, kind, id))).await;
    let exists = found.map_err(|failed: DbError| ApiError::from(failed))?;
    Ok(Loaded { relation, resource: if exists { Ok(item) } else { Err(ApiError::of(Code::NOT_FOUND)) } })
}

macro_rules! reviewed {
    ($name:ident, $kind:ident, $id:literal) => {
        impl Resource for $name {
            type State = Reviews;
            type Ids = (Id<ids::Project>, Id<()>);

            fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
                Ok((path.id("projectId")?, path.id($id)?))
            }

            async fn find(state: &Reviews, ids: Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
                let item = TargetItem { project_id: ids.0, id: ids.1, kind: ItemKind::$kind };
                let Loaded { relation, resource } = find(state, item, caller).await?;
                Ok(Loaded { relation, resource: resource.map(Self) })
            }
        }
    };
}

reviewed!(ReviewedRequirement, Requirement, "requirementId");
reviewed!(ReviewedStory, UserStory, "userStoryId");

impl TargetItem {
    #[must_use]
    pub const fn uuid(&self) -> Uuid {
        self.id.uuid()
    }
}
