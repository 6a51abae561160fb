//! Request and response types of consents.

use std::collections::BTreeSet;

use actors::ids::{self, Id, User};
use actors::meeting::{self, LedgerEntry, Scope};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::enumeration;
use crate::http::fields::{Field, InvalidValue};

enumeration! {
    /// What a participant's speech may be used for.
    pub enum ConsentScope { Recording = "RECORDING", Transcript = "TRANSCRIPT", AiAnalysis = "AI_ANALYSIS" }
}

enumeration! {
    /// The answer of a participant.
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

/// The granted scopes: `RECORDING` at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scopes(pub BTreeSet<Scope>);

impl Field for Scopes {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::Array(values) = value else { return Err(InvalidValue::value("This must be a list.")) };
        let scopes = values.iter().map(|value| ConsentScope::parse(value).map(Scope::from));
        let scopes = scopes.collect::<Result<BTreeSet<_>, _>>()?;
        if scopes.contains(&Scope::Recording) {
            Ok(Self(scopes))
        } else {
            Err(InvalidValue::value("RECORDING is granted first; the other scopes go with it."))
        }
    }
}

/// The version of the wording that a participant answered to, as the client names it: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordingVersion(pub String);

impl Field for WordingVersion {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        crate::http::fields::text(value, 1, 100).map(Self)
    }
}

/// The current wording that participants are asked to consent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentWording {
    /// Identifies this exact text, including its language: send it back with the consent.
    pub version: String,
    pub language: String,
    pub text: String,
    /// SHA-256 of the text in UTF-8, in hexadecimal.
    pub text_hash: String,
}

/// The participant who answered.
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

/// One answer of a participant.
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
    /// Position in the record, counted from 1 without gaps.
    pub number: u64,
    pub language: String,
    pub user_agent_hash: String,
    /// The hash of the previous item; 64 zeros for the first one.
    pub previous_hash: String,
    /// SHA-256 over these lines, each terminated by a line feed: `colloquy-consent-1`, previousHash, the meeting's id,
    /// number, the participant's id, decision, scopes (joined with commas), wordingVersion, language, textHash, at,
    /// userAgentHash.
    pub hash: String,
}

/// All consent answers of a meeting, in the order in which they were given.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRecord {
    #[schema(value_type = uuid::Uuid)]
    pub meeting_id: Id<meeting::Meeting>,
    pub items: Vec<ConsentRecordItem>,
    /// Hash of the last item; 64 zeros when there are no items. A later record of the meeting continues from this hash;
    /// if it does not, an item was edited.
    pub hash: String,
}

impl ConsentRecord {
    /// Returns `None` when the entries are not the ledger of this meeting.
    #[must_use]
    pub fn of(meeting: &meeting::Meeting, entries: &[LedgerEntry]) -> Option<Self> {
        if !LedgerEntry::chain(entries, meeting.ledger) {
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
