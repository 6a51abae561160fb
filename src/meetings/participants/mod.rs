//! Participants: who is in a meeting, how they come and go, and who of them is connected.

pub mod attendance;
pub mod model;
pub mod operations;
pub mod renaming;
pub mod routes;
pub mod store;
pub mod sweep;

use actors::ids::{self, Id};

use super::{Meeting, standing_of_guest};
use crate::access::caller::{Caller, Guest, Visitor};
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::meetings::state::Meetings;

/// Somebody in a meeting, for those who host it.
pub struct Someone {
    pub meeting: Meeting,
    pub id: Id<ids::Participant>,
}

/// A participant who is the caller: whatever else somebody is, they don't speak for others.
pub struct Oneself {
    pub meeting: Meeting,
    pub id: Id<ids::Participant>,
}

type Ids = (Id<actors::meeting::Meeting>, Id<ids::Participant>);

fn in_path(path: &PathIds<'_>) -> Result<Ids, Failure> {
    Ok((path.id("meetingId")?, path.id("participantId")?))
}

impl Guarded for Someone {
    type State = Meetings;
    type Ids = Ids;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        in_path(path)
    }

    async fn find(state: &Meetings, (meeting_id, id): Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let Found { standing, thing } = Meeting::find(state, meeting_id, caller).await?;
        let meeting = thing?;
        let is_there = meeting.state.participants.get(&id).is_some();
        let thing = if is_there { Ok(Self { meeting, id }) } else { Err(Failure::of(Code::NOT_FOUND)) };
        Ok(Found { standing, thing })
    }
}

impl Guarded for Oneself {
    type State = Meetings;
    type Ids = Ids;

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        in_path(path)
    }

    async fn find(state: &Meetings, ids: Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        Ok(Someone::find(state, ids, caller).await?.of(caller.into()))
    }

    /// Who was removed, or let in anew, may still take back what they agreed to before.
    async fn find_for_guest(
        state: &Meetings,
        (meeting_id, id): Self::Ids,
        guest: Guest,
    ) -> Result<Found<Self>, Failure> {
        let meeting = Meeting::find_for_guest(state, meeting_id, guest).await?.thing?;
        let standing = standing_of_guest(&meeting.state, guest, state.now())?;
        let is_there = meeting.state.participants.get(&id).is_some();
        let thing = if is_there { Ok(Someone { meeting, id }) } else { Err(Failure::of(Code::NOT_FOUND)) };
        Ok(Found { standing, thing }.of(Visitor::Guest(guest)))
    }
}

impl Found<Someone> {
    /// What somebody is to themself alone.
    fn of(self, visitor: Visitor) -> Found<Oneself> {
        let Self { standing, thing } = self;
        let is_another = thing.as_ref().is_ok_and(|Someone { meeting, id }| {
            meeting.state.participants.get(id).is_none_or(|one| !model::is_of(one, visitor))
        });
        let standing = Standing { took_part: standing.took_part && !is_another, ..standing };
        Found { standing, thing: thing.map(|Someone { meeting, id }| Oneself { meeting, id }) }
    }
}
