//! Consents as clients know them.

use std::collections::BTreeSet;

use actors::ids::{self, Id, User};
use actors::meeting::{self, Entry, Scope};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::enumeration;
use crate::http::fields::{Field, Wrong};

enumeration! {
    /// What may be made of somebody's speech.
    pub enum ConsentScope { Recording = "RECORDING", Transcript = "TRANSCRIPT", AiAnalysis = "AI_ANALYSIS" }
}

enumeration! {
    /// What somebody answered.
    pub enum ConsentDecision { Granted = "GRANTED", Refused = "REFUSED", Withdrawn = "WITHDRAWN" }
}

impl From<Scope> for ConsentScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Recording => Self::Recording,
            Scope::Transcript => Self::Transcript,
            Scope::AiAnalysis => Self::AiAnalysis,
        }
    }
}

impl From<ConsentScope> for Scope {
    fn from(scope: ConsentScope) -> Self {
        match scope {
            ConsentScope::Recording => Self::Recording,
            ConsentScope::Transcript => Self::Transcript,
            ConsentScope::AiAnalysis => Self::AiAnalysis,
        }
    }
}

impl From<meeting::Decision> for ConsentDecision {
    fn from(decision: meeting::Decision) -> Self {
        match decision {
            meeting::Decision::Granted => Self::Granted,
            meeting::Decision::Refused => Self::Refused,
            meeting::Decision::Withdrawn => Self::Withdrawn,
        }
    }
}

/// What is granted: RECORDING at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(pub BTreeSet<Scope>);

impl Field for Scopes {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let Value::Array(values) = value else { return Err(Wrong::value("This must be a list.")) };
        let scopes = values.iter().map(|value| ConsentScope::parse(value).map(Scope::from));
        let scopes = scopes.collect::<Result<BTreeSet<_>, _>>()?;
        if scopes.contains(&Scope::Recording) {
            Ok(Self(scopes))
        } else {
            Err(Wrong::value("RECORDING is granted first; the other scopes go with it."))
        }
    }
}

/// What words somebody answered to, as they name it: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordingVersion(pub String);

impl Field for WordingVersion {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        crate::http::fields::text(value, 1, 100).map(Self)
    }
}

/// The words that people are asked with today.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentWording {
    /// Names these very words, language and all: give it back with the consent.
    pub version: String,
    pub language: String,
    pub text: String,
    /// SHA-256 of the text in UTF-8, in hexadecimal.
    pub text_hash: String,
}

/// Who answered.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentParticipant {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<ids::Participant>,
    #[schema(required, value_type = Option<uuid::Uuid>)]
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    #[schema(required)]
    pub email: Option<String>,
}

/// One answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRecordItem {
    pub participant: ConsentParticipant,
    pub decision: ConsentDecision,
    pub scopes: Vec<ConsentScope>,
    pub wording_version: String,
    pub text_hash: String,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub at: Time,
    /// From 1, without a gap.
    pub number: u64,
    pub language: String,
    pub user_agent_hash: String,
    /// The hash of the item before; of the first, 64 zeros.
    pub previous_hash: String,
    /// SHA-256 over these lines, each ended by a line feed: `colloquy-consent-1`, previousHash, the meeting's id, number,
    /// the participant's id, decision, scopes (joined with commas), wordingVersion, language, textHash, at, userAgentHash.
    pub hash: String,
}

/// Everything that people of a meeting answered, in its order.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRecord {
    #[schema(value_type = uuid::Uuid)]
    pub meeting_id: Id<meeting::Meeting>,
    pub items: Vec<ConsentRecordItem>,
    /// Of the last item; 64 zeros where there is none. A later record goes on from here, or something was edited.
    pub hash: String,
}

impl ConsentRecord {
    /// `None`: the entries are not the ledger of this meeting.
    #[must_use]
    pub fn of(meeting: &meeting::Meeting, entries: &[Entry]) -> Option<Self> {
        if !Entry::chain(entries, meeting.ledger) {
            return None;
        }
        let items = entries.iter().map(|entry| {
            let participant = meeting.participants.get(&entry.participant_id)?;
            Some(ConsentRecordItem {
                participant: ConsentParticipant {
                    id: participant.id,
                    user_id: participant.user_id,
                    display_name: participant.display_name.clone(),
                    email: participant.email.clone(),
                },
                decision: entry.decision.into(),
                scopes: entry.scopes.iter().map(|scope| (*scope).into()).collect(),
                wording_version: entry.wording.version.clone(),
                text_hash: entry.wording.text_hash.to_string(),
                at: entry.at,
                number: entry.number,
                language: entry.wording.language.clone(),
                user_agent_hash: entry.user_agent_hash.to_string(),
                previous_hash: entry.previous.to_string(),
                hash: entry.hash().to_string(),
            })
        });
        Some(Self {
            meeting_id: meeting.id,
            items: items.collect::<Option<_>>()?,
            hash: meeting.ledger.head.to_string(),
        })
    }
}
