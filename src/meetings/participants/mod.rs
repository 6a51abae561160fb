//! Participants: who is in a meeting, and how they join and leave.

pub mod bodies;
pub mod erase_names;
pub mod model;
pub mod operations;
pub mod routes;

use actors::ids::{self, Id};

use super::{MeetingSnapshot, relation_of_guest};
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::{Caller, Guest, Principal};
use crate::access::role::Relation;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::state::Meetings;

/// A participant of a meeting, as a resource for hosts.
pub struct Someone {
    pub meeting: MeetingSnapshot,
    pub id: Id<ids::Participant>,
}

/// A participant that is the caller: no other role of the caller, such as host, allows answering for someone else.
pub struct Oneself {
    pub meeting: MeetingSnapshot,
    pub id: Id<ids::Participant>,
}

type Ids = (Id<actors::meeting::Meeting>, Id<ids::Participant>);

fn in_path(path: &PathIds<'_>) -> Result<Ids, ApiError> {
    Ok((path.id("meetingId")?, path.id("participantId")?))
}

impl Resource for Someone {
    type State = Meetings;
    type Ids = Ids;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        in_path(path)
    }

    async fn find(state: &Meetings, (meeting_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, resource } = MeetingSnapshot::find(state, meeting_id, caller).await?;
        let meeting = resource?;
        let is_there = meeting.state.participants.get(&id).is_some();
        let resource = if is_there { Ok(Self { meeting, id }) } else { Err(ApiError::of(Code::NOT_FOUND)) };
        Ok(Loaded { relation, resource })
    }
}

impl Resource for Oneself {
    type State = Meetings;
    type Ids = Ids;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        in_path(path)
    }

    async fn find(state: &Meetings, ids: Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        Ok(Someone::find(state, ids, caller).await?.of(caller.into()))
    }

    /// A guest who was removed, or admitted again by another invitation, may still withdraw an earlier consent.
    async fn find_for_guest(
        state: &Meetings,
        (meeting_id, id): Self::Ids,
        guest: Guest,
    ) -> Result<Loaded<Self>, ApiError> {
        let meeting = MeetingSnapshot::find_for_guest(state, meeting_id, guest).await?.resource?;
        let relation = relation_of_guest(&meeting.state, guest, state.now())?;
        let is_there = meeting.state.participants.get(&id).is_some();
        let resource = if is_there { Ok(Someone { meeting, id }) } else { Err(ApiError::of(Code::NOT_FOUND)) };
        Ok(Loaded { relation, resource }.of(Principal::Guest(guest)))
    }
}

impl Loaded<Someone> {
    /// Restricts `took_part` to the case that the participant is the principal.
    fn of(self, principal: Principal) -> Loaded<Oneself> {
        let Self { relation, resource } = self;
        let is_another = resource.as_ref().is_ok_and(|Someone { meeting, id }| {
            meeting.state.participants.get(id).is_none_or(|one| !model::is_of(one, principal))
        });
        let relation = Relation { took_part: relation.took_part && !is_another, ..relation };
        Loaded { relation, resource: resource.map(|Someone { meeting, id }| Oneself { meeting, id }) }
    }
}
