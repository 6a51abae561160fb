//! People of a project: its members, who is asked to become one, and who has a stake in it.
//!
//! ```text
//!   add --> PENDING (a link by mail, 7 days) --accept--> member --change role--> member --remove, leave--> gone
//!             |  asked again: the former link is worth nothing
//!             `- as good as its inviter is now: who may no longer give the role has given nothing
//! ```
//! Every change of members holds the project's row, so that of two owners who take each other's role one stays. There is
//! always an OWNER, and the project's `ownerId` is always one of them.

pub mod letters;
pub mod membership_end;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use super::model::Project;
use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::projects::state::Projects;

/// A member of a project, by the ids in the path. What they are is read where they are changed.
pub struct Membership {
    pub project_id: Id<ids::Project>,
    pub member_id: Id<ids::Member>,
}

impl Guarded for Membership {
    type State = Projects;
    type Ids = (Id<ids::Project>, Id<ids::Member>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        Ok((path.id("projectId")?, path.id("memberId")?))
    }

    async fn find(
        state: &Projects,
        (project_id, member_id): Self::Ids,
        caller: Caller,
    ) -> Result<Found<Self>, Failure> {
        let Found { standing, .. } = Project::find(state, project_id, caller).await?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, project_id, member_id))).await;
        let found = found.map_err(Failure::from)?;
        let own = found.as_ref().is_some_and(|member| member.user_id == caller.user_id);
        let thing = found.map(|_| Self { project_id, member_id }).ok_or_else(|| Failure::of(Code::NOT_FOUND));
        Ok(Found { standing: Standing { own, ..standing }, thing })
    }
}
