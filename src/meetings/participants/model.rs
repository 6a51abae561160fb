//! Request and response types of participants.

use actors::ids::{self, Id, User};
use actors::meeting::{self, ConsentDecision, ConsentScope, MeetingRole, ParticipantStatus};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::principal::Principal;
use crate::access::role::Relation;
use crate::http::enumeration::Enumeration;
use crate::http::fields::{Field, InvalidValue, line};

impl Enumeration for ParticipantStatus {}

/// The name of a participant in a meeting: 1–120 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
pub struct DisplayName(pub String);

impl Field for DisplayName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 120).map(Self)
    }
}

/// The newest consent answer of a participant.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParticipantConsent {
    /// Null: not answered yet.
    #[schema(required)]
    pub recording_consent: Option<bool>,
    /// The granted scopes.
    pub scopes: Vec<ConsentScope>,
    /// The version of the wording that was answered; null if nothing was answered.
    #[schema(required)]
    pub wording_version: Option<String>,
    /// Time of the newest answer.
    #[schema(required)]
    pub consented_at: Option<Time>,
}

impl ParticipantConsent {
    fn of(participant: &meeting::Participant) -> Self {
        let consent = participant.consent.as_ref();
        Self {
            recording_consent: consent.map(|consent| consent.decision == ConsentDecision::Granted),
            scopes: consent.into_iter().flat_map(|consent| &consent.scopes).copied().collect(),
            wording_version: consent.map(|consent| consent.wording.version.clone()),
            consented_at: consent.map(|consent| consent.at),
        }
    }
}

/// A participant, without the fields that depend on the caller: the form used in events and snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParticipantView {
    pub id: Id<ids::Participant>,
    pub meeting_id: Id<meeting::Meeting>,
    /// Null: a guest without an account.
    #[schema(required)]
    pub user_id: Option<Id<User>>,
    /// The name that the others see.
    pub display_name: String,
    pub role: MeetingRole,
    pub status: ParticipantStatus,
    pub consent: ParticipantConsent,
    /// When the latest stay in the meeting began; null for who never joined.
    #[schema(required)]
    pub joined_at: Option<Time>,
    /// When the latest stay ended; null while they are JOINED, and for who never joined.
    #[schema(required)]
    pub left_at: Option<Time>,
    /// In the meeting, with an open socket or media connection.
    pub connected: bool,
}

impl ParticipantView {
    #[must_use]
    pub fn of(meeting_id: Id<meeting::Meeting>, participant: &meeting::Participant) -> Self {
        Self {
            id: participant.id,
            meeting_id,
            user_id: participant.user_id,
            display_name: participant.display_name.clone(),
            role: participant.role,
            status: participant.status(),
            consent: ParticipantConsent::of(participant),
            joined_at: participant.presence.joined_at(),
            left_at: participant.presence.left_at(),
            connected: participant.is_connected(),
        }
    }
}

/// A participant, with the fields that depend on the caller.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Participant)]
pub struct SeenParticipant {
    #[serde(flatten)]
    #[schema(inline)]
    pub participant: ParticipantView,
    /// Null unless the caller is that participant, an analyst of the project or above, or a host of the meeting.
    #[schema(required)]
    pub email: Option<String>,
}

/// The principal for whom participants are rendered, with their relation to the meeting.
#[derive(Debug, Clone, Copy)]
pub struct ParticipantViewer {
    pub principal: Principal,
    pub relation: Relation,
}

impl SeenParticipant {
    #[must_use]
    pub fn of(meeting_id: Id<meeting::Meeting>, participant: &meeting::Participant, viewer: ParticipantViewer) -> Self {
        let is_own = is_of(participant, viewer.principal);
        let sees_email =
            is_own || viewer.relation.may_host() || viewer.relation.is(crate::access::role::ProjectRole::Analyst);
        Self {
            participant: ParticipantView::of(meeting_id, participant),
            email: participant.email.clone().filter(|_| sees_email),
        }
    }
}

/// Whether the participant is the principal.
#[must_use]
pub fn is_of(participant: &meeting::Participant, principal: Principal) -> bool {
    match principal {
        Principal::Account(caller) => participant.user_id == Some(caller.user_id),
        Principal::Guest(guest) => participant.user_id.is_none() && participant.id == guest.participant_id,
    }
}

/// Returns the payload of an event with the participant's name replaced; `None` when the event is about something else,
/// or already has that name.
#[must_use]
pub fn renamed(payload: &str, participant: Id<ids::Participant>, name: &str) -> Option<String> {
    let id = participant.to_string();
    // True of most events: a payload that does not contain the id is not parsed.
    if !payload.contains(&id) {
        return None;
    }
    let mut payload: Value = serde_json::from_str(payload).ok()?;
    if payload.get("id")?.as_str()? != id {
        return None;
    }
    let shown = payload.get_mut("displayName")?;
    if shown.as_str() == Some(name) {
        return None;
    }
    *shown = Value::from(name);
    Some(payload.to_string())
}
