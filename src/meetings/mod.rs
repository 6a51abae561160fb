//! Meetings and their lifecycle. Every change goes through the meeting's actor (`actors::meeting`); reads take its
//! snapshot, or the rows.

mod audience;
pub mod consents;
pub mod invitations;
pub mod leaving;
pub mod membership;
pub mod model;
pub mod operations;
pub mod participants;
pub mod rooms;
pub mod routes;
pub mod state;
pub mod store;

pub use audience::Audience;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::meeting::Participant;
use actors::shell::Snapshot;
use actors::time::Time;

use crate::access::caller::{Caller, Guest, Visitor};
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::meetings::state::Meetings;

/// A meeting that somebody may see or host: as it was last saved.
pub type Meeting = Arc<Snapshot<actors::meeting::Meeting>>;

impl Guarded for Meeting {
    type State = Meetings;
    type Ids = Id<actors::meeting::Meeting>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        path.id("meetingId")
    }

    async fn find(state: &Meetings, id: Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let found = state.registry.snapshot(id).await.map_err(|away| Failure::unavailable(away.0))?;
        let meeting = found.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?;
        let project_id = meeting.state.project_id;
        let role = state.roles.of(&state.db, project_id, caller.user_id).await?;
        Ok(Found { standing: standing(&meeting.state, caller, role), thing: Ok(meeting) })
    }

    async fn find_for_guest(state: &Meetings, id: Self::Ids, guest: Guest) -> Result<Found<Self>, Failure> {
        let found = state.registry.snapshot(id).await.map_err(|away| Failure::unavailable(away.0))?;
        let meeting = found.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?;
        let standing = standing_of_guest(&meeting.state, guest, state.now())?;
        // A place that another invitation gave is another's, though it be the same person.
        let took_part = standing.took_part && standing.invited;
        Ok(Found { standing: Standing { took_part, ..standing }, thing: Ok(meeting) })
    }
}

/// How long guests may still read a meeting that is over, and take back what they agreed to.
const AFTERWARDS: Duration = Duration::from_secs(3600);

/// The place that a visitor has or had.
#[must_use]
pub fn place_of(meeting: &actors::meeting::Meeting, visitor: Visitor) -> Option<&Participant> {
    match visitor {
        Visitor::Account(caller) => meeting.participants.of_user(caller.user_id),
        Visitor::Guest(guest) => {
            let own = meeting.participants.get(&guest.participant_id).filter(|_| guest.meeting_id == meeting.id);
            // Once they signed in, it is that account's.
            own.filter(|own| own.user_id.is_none())
        }
    }
}

/// What a guest is to a meeting.
///
/// # Errors
/// 401: it was over long ago, and the guest's token with it.
fn standing_of_guest(meeting: &actors::meeting::Meeting, guest: Guest, now: Time) -> Result<Standing, Failure> {
    let Some(own) = place_of(meeting, Visitor::Guest(guest)) else { return Ok(Standing::default()) };
    if meeting.over_at().is_some_and(|over_at| now >= over_at + AFTERWARDS) {
        return Err(Failure::of(Code::UNAUTHORIZED));
    }
    Ok(Standing {
        invited: !own.is_removed() && own.invitation == Some(guest.invitation_id),
        removed: own.is_removed(),
        took_part: own.first_joined_at.is_some(),
        ..Standing::default()
    })
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
