//! Participants as clients know them.

use actors::ids::{self, Id, User};
use actors::meeting::{self, Decision};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::caller::Visitor;
use crate::access::role::Standing;
use crate::enumeration;
use crate::http::fields::{Field, Wrong, line};
use crate::meetings::consents::model::ConsentScope;
use crate::meetings::model::MeetingRole;

enumeration! {
    /// Where somebody is.
    pub enum ParticipantStatus { Invited = "INVITED", Joined = "JOINED", Left = "LEFT", Removed = "REMOVED" }
}

/// What somebody is called in a meeting: 1–120 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayName(pub String);

impl Field for DisplayName {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        line(value, 1, 120).map(Self)
    }
}

/// What somebody agreed to.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParticipantConsent {
    /// Null: not answered yet.
    #[schema(required)]
    pub recording_consent: Option<bool>,
    /// What is granted.
    pub scopes: Vec<ConsentScope>,
    #[schema(required)]
    pub wording_version: Option<String>,
    /// When they answered last.
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub consented_at: Option<Time>,
}

impl ParticipantConsent {
    fn of(participant: &meeting::Participant) -> Self {
        let consent = participant.consent.as_ref();
        Self {
            recording_consent: consent.map(|consent| consent.decision == Decision::Granted),
            scopes: consent.into_iter().flat_map(|consent| &consent.scopes).map(|scope| (*scope).into()).collect(),
            wording_version: consent.map(|consent| consent.wording.version.clone()),
            consented_at: consent.map(|consent| consent.at),
        }
    }
}

/// A participant, without what differs by who asks: as events and snapshots have them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Participant {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<ids::Participant>,
    #[schema(value_type = uuid::Uuid)]
    pub meeting_id: Id<meeting::Meeting>,
    /// Null: a guest without an account.
    #[schema(required, value_type = Option<uuid::Uuid>)]
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    pub role: MeetingRole,
    pub status: ParticipantStatus,
    pub consent: ParticipantConsent,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub joined_at: Option<Time>,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub left_at: Option<Time>,
    /// In the meeting, with a socket or media connection.
    pub connected: bool,
}

impl Participant {
    #[must_use]
    pub fn of(meeting_id: Id<meeting::Meeting>, participant: &meeting::Participant) -> Self {
        Self {
            id: participant.id,
            meeting_id,
            user_id: participant.user_id,
            display_name: participant.display_name.clone(),
            role: participant.role.into(),
            status: participant.status().into(),
            consent: ParticipantConsent::of(participant),
            joined_at: participant.presence.joined_at(),
            left_at: participant.presence.left_at(),
            connected: participant.is_connected(),
        }
    }
}

/// A participant as one caller may see them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Participant)]
pub struct SeenParticipant {
    #[serde(flatten)]
    #[schema(inline)]
    pub participant: Participant,
    /// Null unless the caller is that person, an analyst, or the meeting's host.
    #[schema(required)]
    pub email: Option<String>,
}

/// Who looks at participants.
#[derive(Debug, Clone, Copy)]
pub struct Viewer {
    pub visitor: Visitor,
    pub standing: Standing,
}

impl SeenParticipant {
    #[must_use]
    pub fn of(meeting_id: Id<meeting::Meeting>, participant: &meeting::Participant, viewer: Viewer) -> Self {
        let is_own = is_of(participant, viewer.visitor);
        let may = is_own || viewer.standing.may_host() || viewer.standing.is(crate::access::role::ProjectRole::Analyst);
        Self { participant: Participant::of(meeting_id, participant), email: participant.email.clone().filter(|_| may) }
    }
}

/// Whether a place is the visitor's own.
#[must_use]
pub fn is_of(participant: &meeting::Participant, visitor: Visitor) -> bool {
    match visitor {
        Visitor::Account(caller) => participant.user_id == Some(caller.user_id),
        Visitor::Guest(guest) => participant.user_id.is_none() && participant.id == guest.participant_id,
    }
}

impl From<meeting::ParticipantStatus> for ParticipantStatus {
    fn from(status: meeting::ParticipantStatus) -> Self {
        match status {
            meeting::ParticipantStatus::Invited => Self::Invited,
            meeting::ParticipantStatus::Joined => Self::Joined,
            meeting::ParticipantStatus::Left => Self::Left,
            meeting::ParticipantStatus::Removed => Self::Removed,
        }
    }
}

/// What was told of a participant, with another name; `None`: it was told of something else, or with that name.
#[must_use]
pub fn renamed(told: &str, participant: Id<ids::Participant>, name: &str) -> Option<String> {
    let id = participant.to_string();
    // Most events: nothing is parsed that can't be about them.
    if !told.contains(&id) {
        return None;
    }
    let mut told: Value = serde_json::from_str(told).ok()?;
    if told.get("id")?.as_str()? != id {
        return None;
    }
    let shown = told.get_mut("displayName")?;
    if shown.as_str() == Some(name) {
        return None;
    }
    *shown = Value::from(name);
    Some(told.to_string())
}
