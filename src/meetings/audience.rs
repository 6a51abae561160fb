//! Who may listen to a meeting, and what they are told first.

use actors::ids::Id;
use actors::live::{Topic, TopicKind};
use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::Meeting;
use super::model;
use super::participants::model::Participant;
use crate::access::caller::Visitor;
use crate::access::guard::Guarded;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::live::audience::{self, Listening, Snapshot};
use crate::meetings::state::Meetings;

/// Attendees.
pub struct Audience {
    pub meetings: Meetings,
}

/// A meeting with all that its events tell.
#[derive(Serialize)]
struct State {
    meeting: model::Meeting,
    participants: Vec<Participant>,
    recordings: [(); 0],
}

#[async_trait]
impl audience::Audience for Audience {
    fn kind(&self) -> TopicKind {
        TopicKind::Meeting
    }

    async fn admit(&self, caller: Visitor, id: Uuid) -> Result<Topic, Failure> {
        let id = Id::from_uuid(id);
        let found = match caller {
            Visitor::Account(caller) => Meeting::find(&self.meetings, id, caller).await?,
            Visitor::Guest(guest) => Meeting::find_for_guest(&self.meetings, id, guest).await?,
        };
        let meeting = found.thing?;
        if !found.standing.may_attend() {
            return Err(Failure::of(Code::FORBIDDEN));
        }
        Ok(Topic { kind: TopicKind::Project, id: meeting.state.project_id.uuid() })
    }

    async fn snapshot(&self, id: Uuid) -> Result<Snapshot, Failure> {
        let found =
            self.meetings.registry.snapshot(Id::from_uuid(id)).await.map_err(|away| Failure::unavailable(away.0))?;
        let meeting = &found.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?.state;
        let state = State {
            meeting: model::Meeting::of(meeting, &self.meetings.url),
            participants: meeting.participants.values().map(|one| Participant::of(meeting.id, one)).collect(),
            recordings: [],
        };
        Snapshot::of(&state, meeting.revision, "meeting.updated")
    }

    fn listens(&self, caller: Visitor, id: Uuid) -> Option<Listening> {
        Some(Listening::until_dropped(self.meetings.attendance.enter(&self.meetings, Id::from_uuid(id), caller.uuid())))
    }
}
