//! Request and response types of consents.

use std::collections::BTreeSet;

use actors::ids::{self, Id, User};
use actors::meeting::{self, ConsentDecision, ConsentScope, Digest, LedgerEntry};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::enumeration::Enumeration;
use crate::http::fields::{Field, InvalidValue};

impl Enumeration for ConsentScope {}

/// The granted scopes: `RECORDING` at least.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = ConsentScopes, value_type = Vec<ConsentScope>)]
pub struct Scopes(pub BTreeSet<ConsentScope>);

impl Field for Scopes {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::Array(values) = value else { return Err(InvalidValue::value("This must be a list.")) };
        let scopes = values.iter().map(ConsentScope::parse);
        let scopes = scopes.collect::<Result<BTreeSet<_>, _>>()?;
        if scopes.contains(&ConsentScope::Recording) {
            Ok(Self(scopes))
        } else {
            Err(InvalidValue::value("RECORDING must be granted first: the other scopes require it."))
        }
    }
}

/// The version of the wording that a participant answered to, as the client names it: 1–100 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 100)]
pub struct WordingVersion(pub String);

impl Field for WordingVersion {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        crate::http::fields::text(value, 1, 100).map(Self)
    }
}

/// The participant who answered.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentParticipant {
    pub id: Id<ids::Participant>,
    #[schema(required)]
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    #[schema(required)]
    pub email: Option<String>,
}

/// An entry of the ledger, with the host's own words if it is their declaration.
#[derive(Debug, Clone)]
pub struct StoredEntry {
    pub entry: LedgerEntry,
    pub text: Option<String>,
}

/// One answer of a participant.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRecordItem {
    pub participant: ConsentParticipant,
    pub decision: ConsentDecision,
    /// What was permitted by this answer; empty for a refusal or a withdrawal.
    pub scopes: Vec<ConsentScope>,
    /// The version of the wording that was shown.
    pub wording_version: String,
    /// SHA-256 of the wording that was shown, in hexadecimal.
    pub text_hash: String,
    /// When the person answered.
    pub at: Time,
    /// Position in the record, counted from 1 without gaps.
    pub number: u64,
    /// The language of the wording that was shown.
    pub language: String,
    /// SHA-256 of the `User-Agent` that the answer came from, in hexadecimal.
    pub user_agent_hash: String,
    /// The hash of the previous item; 64 zeros for the first one.
    pub previous_hash: String,
    /// SHA-256 over these lines, each terminated by a line feed: `colloquy-consent-1`, previousHash, the meeting's id,
    /// number, the participant's id, decision, scopes (joined with commas), wordingVersion, language, textHash, at,
    /// userAgentHash.
    pub hash: String,
    /// The host's declaration, where the decision is `ATTESTED`; `textHash` is its hash.
    #[schema(required)]
    pub text: Option<String>,
}

/// All consent answers of a meeting, in the order in which they were given.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentRecord {
    pub meeting_id: Id<meeting::Meeting>,
    /// All answers in the order in which they were given. Nothing is ever taken out.
    pub items: Vec<ConsentRecordItem>,
    /// Hash of the last item; 64 zeros when there are no items. A later record of the meeting continues from this hash;
    /// if it does not, an item was edited.
    pub hash: String,
}

impl ConsentRecord {
    /// Returns `None` when the entries are not the ledger of this meeting.
    #[must_use]
    pub fn of(meeting: &meeting::Meeting, stored: &[StoredEntry]) -> Option<Self> {
        let entries: Vec<_> = stored.iter().map(|stored| stored.entry.clone()).collect();
        let is_own = |stored: &StoredEntry| {
            stored.text.as_deref().is_none_or(|text| Digest::of(text) == stored.entry.wording.text_hash)
        };
        if !LedgerEntry::chain(&entries, meeting.ledger) || !stored.iter().all(is_own) {
            return None;
        }
        let items = stored.iter().map(|StoredEntry { entry, text }| {
            let participant = meeting.participants.get(&entry.participant_id)?;
            Some(ConsentRecordItem {
                participant: ConsentParticipant {
                    id: participant.id,
                    user_id: participant.user_id,
                    display_name: participant.display_name.clone(),
                    email: participant.email.clone(),
                },
                decision: entry.decision,
                scopes: entry.scopes.iter().copied().collect(),
                wording_version: entry.wording.version.clone(),
                text_hash: entry.wording.text_hash.to_string(),
                at: entry.at,
                number: entry.number,
                language: entry.wording.language.clone(),
                user_agent_hash: entry.user_agent_hash.to_string(),
                previous_hash: entry.previous.to_string(),
                hash: entry.hash().to_string(),
                text: text.clone(),
            })
        });
        Some(Self {
            meeting_id: meeting.id,
            items: items.collect::<Option<_>>()?,
            hash: meeting.ledger.head.to_string(),
        })
    }
}
