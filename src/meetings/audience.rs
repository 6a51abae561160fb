//! Who may subscribe to the events of a meeting, and the snapshot that a subscription starts with.

use actors::event_kind::EventKind;
use actors::ids::Id;
use actors::live::{Topic, TopicKind};
use async_trait::async_trait;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::MeetingSnapshot;
use super::model;
use super::participants::model::ParticipantView;
use super::recordings::model::RecordingView;
use crate::access::policy::Resource;
use crate::access::principal::Principal;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::live::audience::{self, Listening, TopicSnapshot};
use crate::meetings::state::Meetings;

/// The audience of meeting topics: everyone who may attend the meeting.
pub struct MeetingAudience {
    pub meetings: Meetings,
}

/// The snapshot of a meeting topic: everything that its events can change.
#[derive(Serialize, ToSchema)]
#[schema(as = MeetingSnapshot)]
pub struct MeetingTopicSnapshot {
    meeting: model::MeetingView,
    participants: Vec<ParticipantView>,
    recordings: Vec<RecordingView>,
}

#[async_trait]
impl audience::Audience for MeetingAudience {
    fn kind(&self) -> TopicKind {
        TopicKind::Meeting
    }

    async fn admit(&self, caller: Principal, id: Uuid) -> Result<Topic, ApiError> {
        let id = Id::from_uuid(id);
        let found = match caller {
            Principal::Account(caller) => MeetingSnapshot::find(&self.meetings, id, caller).await?,
            Principal::Guest(guest) => MeetingSnapshot::find_for_guest(&self.meetings, id, guest).await?,
        };
        let meeting = found.resource?;
        if !found.relation.may_attend() {
            return Err(ApiError::of(Code::FORBIDDEN));
        }
        Ok(Topic { kind: TopicKind::Project, id: meeting.state.project_id.uuid() })
    }

    async fn snapshot(&self, id: Uuid) -> Result<TopicSnapshot, ApiError> {
        let found =
            self.meetings.registry.snapshot(Id::from_uuid(id)).await.map_err(|away| ApiError::unavailable(away.0))?;
        let meeting = &found.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?.state;
        let state = MeetingTopicSnapshot {
            meeting: model::MeetingView::of(meeting, &self.meetings.url),
            participants: meeting.participants.values().map(|one| ParticipantView::of(meeting.id, one)).collect(),
            recordings: meeting.recordings.values().map(|one| RecordingView::of(meeting.id, one)).collect(),
        };
        TopicSnapshot::of(&state, meeting.revision, EventKind::MeetingUpdated)
    }

    fn listens(&self, caller: Principal, id: Uuid) -> Option<Listening> {
        Some(Listening::until_dropped(self.meetings.attendance.enter(Id::from_uuid(id), caller.uuid())))
    }
}
