//! Projects: where a team's documents, meetings and requirements belong, and who is a member.

pub mod documents;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::app::App;
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::failure::Failure;
use model::Project;

impl Guarded for Project {
    type Ids = Id<ids::Project>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        path.id("projectId")
    }

    async fn find(app: &App, id: Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let found = app
            .db
            .read(move |conn| {
                Box::pin(async move {
                    let Some(project) = store::find(conn, id).await? else { return Ok::<_, Failed>(None) };
                    Ok(Some((project, store::role(conn, id, caller.user_id).await?)))
                })
            })
            .await?;
        let (project, role) = found.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        Ok(Found { standing: Standing { role, ..Standing::default() }, thing: Ok(project) })
    }
}

/// Refuses changes to a project that is archived.
///
/// # Errors
/// 409 `ProjectArchived`.
pub fn must_be_active(project: &Project) -> Result<(), Failure> {
    match project.status {
        model::ProjectStatus::Active => Ok(()),
        model::ProjectStatus::Archived => Err(Failure::of(Code::PROJECT_ARCHIVED)),
    }
}
