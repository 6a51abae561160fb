//! Request and response types of meetings.

use actors::ids::{self, Id, User};
use actors::meeting::{self, Role};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::consents::model::ConsentWording;
use crate::access::principal::Principal;
use crate::enumeration;
use crate::http::agent::Agent;
use crate::http::fields::{Field, InvalidValue, line, text};
use crate::meetings::state::Meetings;

enumeration! {
    /// The stage of a meeting's lifecycle.
    pub enum MeetingStatus { Scheduled = "SCHEDULED", Live = "LIVE", Ended = "ENDED", Cancelled = "CANCELLED" }
}

enumeration! {
    /// Whose consent recording needs. `ALL`: nothing is recorded until every participant who joined has granted it.
    /// `NOTICE`: a refusal does not stop the recording; the speech of that participant is cut out.
    pub enum ConsentPolicy { All = "ALL", Notice = "NOTICE" }
}

enumeration! {
    /// Why a meeting ended.
    pub enum EndReason { HostEnded = "HOST_ENDED", Empty = "EMPTY", RoomFinished = "ROOM_FINISHED", System = "SYSTEM" }
}

enumeration! {
    /// The role of a participant in a meeting.
    pub enum MeetingRole { Host = "HOST", CoHost = "CO_HOST", Participant = "PARTICIPANT", Observer = "OBSERVER" }
}

impl From<Role> for MeetingRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Host => Self::Host,
            Role::CoHost => Self::CoHost,
            Role::Participant => Self::Participant,
            Role::Observer => Self::Observer,
        }
    }
}

impl From<MeetingRole> for Role {
    fn from(role: MeetingRole) -> Self {
        match role {
            MeetingRole::Host => Self::Host,
            MeetingRole::CoHost => Self::CoHost,
            MeetingRole::Participant => Self::Participant,
            MeetingRole::Observer => Self::Observer,
        }
    }
}

/// The title of a meeting: 1–200 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title(pub String);

impl Field for Title {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 200).map(Self)
    }
}

/// The reason for which a meeting is ended or cancelled: 1–1,000 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosingNote(pub String);

impl Field for ClosingNote {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 1000).map(Self)
    }
}

/// A meeting, with exactly these fields.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Meeting {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<meeting::Meeting>,
    #[schema(value_type = uuid::Uuid)]
    pub project_id: Id<ids::Project>,
    pub title: String,
    pub description: String,
    pub status: MeetingStatus,
    /// The URL of the page for joining, on the application's host.
    pub join_url: String,
    #[schema(value_type = uuid::Uuid)]
    pub created_by_id: Id<User>,
    #[schema(value_type = uuid::Uuid)]
    pub host_participant_id: Id<ids::Participant>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub scheduled_at: Time,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub started_at: Option<Time>,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub ended_at: Option<Time>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub updated_at: Time,
}

impl Meeting {
    #[must_use]
    pub fn of(meeting: &meeting::Meeting, app_url: &str) -> Self {
        Self {
            id: meeting.id,
            project_id: meeting.project_id,
            title: meeting.title.clone(),
            description: meeting.description.clone(),
            status: match meeting.status() {
                meeting::Status::Scheduled => MeetingStatus::Scheduled,
                meeting::Status::Live => MeetingStatus::Live,
                meeting::Status::Ended => MeetingStatus::Ended,
                meeting::Status::Cancelled => MeetingStatus::Cancelled,
            },
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
    pub meeting: Meeting,
    /// Number of participants, in any status.
    pub participant_count: i64,
    /// Status of the newest recording.
    #[schema(required)]
    pub recording_status: Option<String>,
}

/// A meeting, with the fields that concern the caller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingDetails {
    #[serde(flatten)]
    #[schema(inline)]
    pub meeting: Meeting,
    /// Null for a project member who is not a participant of the meeting.
    #[schema(required)]
    pub my_role: Option<MeetingRole>,
    #[schema(required, value_type = Option<uuid::Uuid>)]
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
        let own = super::place_of(meeting, caller);
        Self {
            meeting: Meeting::of(meeting, &state.url),
            my_role: own.map(|own| own.role.into()),
            my_participant_id: own.map(|own| own.id),
            end_reason: meeting.end_reason().map(|reason| match reason {
                meeting::EndReason::HostEnded => EndReason::HostEnded,
                meeting::EndReason::Empty => EndReason::Empty,
                meeting::EndReason::RoomFinished => EndReason::RoomFinished,
                meeting::EndReason::System => EndReason::System,
            }),
            consent_policy: match meeting.consent_policy {
                meeting::ConsentPolicy::All => ConsentPolicy::All,
                meeting::ConsentPolicy::Notice => ConsentPolicy::Notice,
            },
            version: meeting.version,
            consent_wording: state.wordings.in_one_of(&agent.languages),
        }
    }
}
