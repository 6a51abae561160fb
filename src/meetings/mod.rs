//! Meetings and their lifecycle. Every change goes through the meeting's actor (`actors::meeting`); reads take its
//! snapshot, or the rows.

mod audience;
pub mod consents;
pub mod leaving;
pub mod model;
pub mod operations;
pub mod participants;
pub mod rooms;
pub mod routes;
pub mod store;

pub use audience::Audience;

use std::sync::Arc;

use actors::ids::Id;
use actors::shell::Snapshot;

use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::app::App;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::projects;

/// A meeting that somebody may see or host: as it was last saved.
pub type Meeting = Arc<Snapshot<actors::meeting::Meeting>>;

impl Guarded for Meeting {
    type Ids = Id<actors::meeting::Meeting>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        path.id("meetingId")
    }

    async fn find(app: &App, id: Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let found = app.meetings.snapshot(id).await.map_err(|away| Failure::unavailable(away.0))?;
        let meeting = found.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?;
        let project_id = meeting.state.project_id;
        let role = projects::roles::role(app, project_id, caller.user_id).await?;
        Ok(Found { standing: standing(&meeting.state, caller, role), thing: Ok(meeting) })
    }
}

/// What somebody is to a meeting. Who left the project keeps nothing by having hosted.
fn standing(
    meeting: &actors::meeting::Meeting,
    caller: Caller,
    role: Option<crate::access::role::ProjectRole>,
) -> Standing {
    let own = meeting.participants.of_user(caller.user_id);
    let removed = own.is_some_and(|own| own.is_removed());
    let present = own.filter(|own| !own.is_removed());
    Standing {
        own: false,
        role,
        hosts: role.is_some() && present.is_some_and(|own| own.role.leads()),
        invited: present.is_some_and(|own| own.invitation.is_some()),
        removed,
        took_part: own.is_some_and(|own| own.first_joined_at.is_some()),
    }
}
