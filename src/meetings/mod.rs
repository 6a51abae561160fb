//! Meetings and their lifecycle. Every change goes through the meeting's actor (`actors::meeting`); reads use its
//! snapshot or the rows.

pub mod attendance;
mod audience;
mod commands;
pub mod consents;
pub mod deletion;
pub mod exclusion;
pub mod invitations;
pub mod journal;
pub mod lifecycle;
pub mod media;
pub mod membership;
pub mod model;
pub mod participants;
pub mod recordings;
mod refusals;
pub mod rooms;
pub mod state;
pub mod store;
pub mod transcripts;
pub mod wordings;

pub use audience::{MeetingAudience, MeetingTopicSnapshot};

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::meeting::Participant;
use actors::shell::Snapshot;
use actors::time::Time;

use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::{Caller, Guest, Principal};
use crate::access::role::Relation;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::state::Meetings;

/// A meeting as it was last saved: the resource that policies authorize access to.
pub type MeetingSnapshot = Arc<Snapshot<actors::meeting::Meeting>>;

impl Resource for MeetingSnapshot {
    type State = Meetings;
    type Ids = Id<actors::meeting::Meeting>;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        path.id("meetingId")
    }

    async fn find(state: &Meetings, id: Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let found = state.registry.snapshot(id).await.map_err(|away| ApiError::unavailable(away.0))?;
        let meeting = found.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?;
        let project_id = meeting.state.project_id;
        let role = state.projects.roles.of(&state.db, project_id, caller.user_id).await?;
        Ok(Loaded { relation: relation(&meeting.state, caller, role), resource: Ok(meeting) })
    }

    async fn find_for_guest(state: &Meetings, id: Self::Ids, guest: Guest) -> Result<Loaded<Self>, ApiError> {
        let found = state.registry.snapshot(id).await.map_err(|away| ApiError::unavailable(away.0))?;
        let meeting = found.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?;
        let relation = relation_of_guest(&meeting.state, guest, state.now())?;
        // A participant admitted by another invitation is not the guest's own, even if it is the same person.
        let took_part = relation.took_part && relation.invited;
        Ok(Loaded { relation: Relation { took_part, ..relation }, resource: Ok(meeting) })
    }
}

/// How long after the end of a meeting guests may still read it and withdraw their consent.
const AFTERWARDS: Duration = Duration::from_secs(3600);

/// Returns the participant that the principal is or was in the meeting.
#[must_use]
pub fn participant_of(meeting: &actors::meeting::Meeting, principal: Principal) -> Option<&Participant> {
    match principal {
        Principal::Account(caller) => meeting.participants.of_user(caller.user_id),
        Principal::Guest(guest) => {
            let own = meeting.participants.get(&guest.participant_id).filter(|_| guest.meeting_id == meeting.id);
            // Once the guest has signed in, the participant belongs to that account.
            own.filter(|own| own.user_id.is_none())
        }
    }
}

/// Returns the relation of a guest to a meeting.
///
/// # Errors
/// 401 when the meeting ended or was cancelled more than an hour ago: the guest's token has expired with it.
fn relation_of_guest(meeting: &actors::meeting::Meeting, guest: Guest, now: Time) -> Result<Relation, ApiError> {
    let Some(own) = participant_of(meeting, Principal::Guest(guest)) else { return Ok(Relation::default()) };
    if meeting.over_at().is_some_and(|over_at| now >= over_at + AFTERWARDS) {
        return Err(ApiError::of(Code::UNAUTHORIZED));
    }
    Ok(Relation {
        invited: !own.is_removed() && own.invitation == Some(guest.invitation_id),
        removed: own.is_removed(),
        took_part: own.first_joined_at.is_some(),
        ..Relation::default()
    })
}

/// Returns the relation of an account to a meeting. Having hosted it gives no rights to a user who has left the
/// project.
fn relation(
    meeting: &actors::meeting::Meeting,
    caller: Caller,
    role: Option<crate::access::role::ProjectRole>,
) -> Relation {
    let own = meeting.participants.of_user(caller.user_id);
    let removed = own.is_some_and(|own| own.is_removed());
    let present = own.filter(|own| !own.is_removed());
    Relation {
        role,
        hosts: role.is_some() && present.is_some_and(|own| own.role.leads()),
        invited: present.is_some_and(|own| own.invitation.is_some()),
        removed,
        took_part: own.is_some_and(|own| own.first_joined_at.is_some()),
        ..Relation::default()
    }
}
