//! Request and response types of meetings.

use actors::ids::{self, Id, User};
use actors::meeting::{self, ConsentPolicy, EndReason, MeetingRole, MeetingStatus, RecordingStatus};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::wordings::ConsentWording;
use crate::access::principal::Principal;
use crate::http::agent::Agent;
use crate::http::enumeration::Enumeration;
use crate::http::fields::{Field, InvalidValue, line, text};
use crate::meetings::state::Meetings;

impl Enumeration for MeetingStatus {}
impl Enumeration for MeetingRole {}
impl Enumeration for ConsentPolicy {}

/// The title of a meeting: 1–200 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = MeetingTitle, min_length = 1, max_length = 200, example = "Discovery with the clinic")]
#[schema(pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
pub struct Title(pub String);

impl Field for Title {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 200).map(Self)
    }
}

/// The reason for which a meeting is ended or cancelled: 1–1,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 1000)]
pub struct ClosingNote(pub String);

impl Field for ClosingNote {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 1000).map(Self)
    }
}

/// A meeting.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Meeting)]
pub struct MeetingView {
    pub id: Id<meeting::Meeting>,
    pub project_id: Id<ids::Project>,
    /// 1–200 characters on one line.
    pub title: String,
    /// Up to 5,000 characters; empty if there is none.
    pub description: String,
    pub status: MeetingStatus,
    /// The URL of the page for joining, on the application's host.
    pub join_url: String,
    /// Id of the account that scheduled the meeting.
    pub created_by_id: Id<User>,
    /// Id of the participant who is the HOST. It stays when the host leaves.
    pub host_participant_id: Id<ids::Participant>,
    /// When the meeting is to take place. It may lie in the past, for a meeting that is recorded here afterwards.
    pub scheduled_at: Time,
    /// When the meeting was started; null until then. A repeated start does not change it.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When the meeting ended; null unless it is ENDED.
    #[schema(required)]
    pub ended_at: Option<Time>,
    pub created_at: Time,
    /// When one of title, description, scheduledAt or status last changed.
    pub updated_at: Time,
}

impl MeetingView {
    #[must_use]
    pub fn of(meeting: &meeting::Meeting, app_url: &str) -> Self {
        Self {
            id: meeting.id,
            project_id: meeting.project_id,
            title: meeting.title.clone(),
            description: meeting.description.clone(),
            status: meeting.status(),
            join_url: join_url(app_url, meeting.id),
            created_by_id: meeting.created_by,
            host_participant_id: meeting.host,
            scheduled_at: meeting.scheduled_at,
            started_at: meeting.started_at(),
            ended_at: meeting.ended_at(),
            created_at: meeting.created_at,
            updated_at: meeting.updated_at,
        }
    }
}

/// Returns the URL of the page for joining a meeting.
#[must_use]
pub fn join_url(app_url: &str, id: Id<meeting::Meeting>) -> String {
    format!("{app_url}/meetings/{id}/join")
}

/// A meeting in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingListItem {
    #[serde(flatten)]
    #[schema(inline)]
    pub meeting: MeetingView,
    /// Number of participants, in any status.
    pub participant_count: i64,
    /// Status of the newest recording.
    #[schema(required)]
    pub recording_status: Option<RecordingStatus>,
}

/// A meeting, with the fields that concern the caller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingDetails {
    #[serde(flatten)]
    #[schema(inline)]
    pub meeting: MeetingView,
    /// Null for a project member who is not a participant of the meeting.
    #[schema(required)]
    pub my_role: Option<MeetingRole>,
    /// Id of the caller's participant; null if the caller is none.
    #[schema(required)]
    pub my_participant_id: Option<Id<ids::Participant>>,
    #[schema(required)]
    pub end_reason: Option<EndReason>,
    pub consent_policy: ConsentPolicy,
    /// The version that the ETag names. Increases with each edit and each change of status.
    pub version: u64,
    /// The current consent wording, in a language of the request's `Accept-Language`, else in English.
    pub consent_wording: ConsentWording,
}

impl MeetingDetails {
    #[must_use]
    pub fn of(meeting: &meeting::Meeting, caller: Principal, state: &Meetings, agent: &Agent) -> Self {
        let own = super::participant_of(meeting, caller);
        Self {
            meeting: MeetingView::of(meeting, &state.url),
            my_role: own.map(|own| own.role),
            my_participant_id: own.map(|own| own.id),
            end_reason: meeting.end_reason(),
            consent_policy: meeting.consent_policy,
            version: meeting.version,
            consent_wording: state.wordings.in_one_of(&agent.languages),
        }
    }
}
