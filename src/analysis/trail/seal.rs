//! The sealed text of an event, and its hash.

use actors::ids::{self, Id, User};
use actors::time::Time;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::difference::FieldChange;
use super::model::{ApprovalAction, ApprovalActor, ApprovalEvent, PrintedSignature, RejectionReason, Signature};
use crate::accounts::model::DELETED_NAME;
use crate::analysis::items::model::WorkflowStatus;
use crate::projects::item_kind::ItemKind;

/// What stands before the first event.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What is hashed of an event. It names the project and its place, so that no event can stand elsewhere.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SealedEvent {
    pub project_id: Id<ids::Project>,
    pub number: i64,
    pub id: Uuid,
    pub target_type: ItemKind,
    pub target_id: Uuid,
    pub target_code: String,
    pub action: ApprovalAction,
    pub from_status: Option<WorkflowStatus>,
    pub to_status: WorkflowStatus,
    pub from_version: Option<i64>,
    pub to_version: i64,
    pub diff: Vec<FieldChange>,
    pub comment: Option<String>,
    pub reason_code: Option<RejectionReason>,
    pub deferred_until: Option<NaiveDate>,
    pub signature: Option<Signature>,
    pub feedback_ids: Vec<Uuid>,
    pub caused_by: Option<Uuid>,
    pub actor_id: Id<User>,
    /// See [`name_digest`].
    pub actor_name_digest: String,
    pub at: Time,
}

/// An event as it is stored.
#[derive(Debug, Clone)]
pub struct StoredEvent {
    pub id: Uuid,
    pub project_id: Id<ids::Project>,
    pub number: i64,
    pub target_type: String,
    pub target_id: Uuid,
    pub action: String,
    pub actor_id: Id<User>,
    /// `None` once the account is deleted.
    pub actor_name: Option<String>,
    pub actor_salt: String,
    /// The JSON of a [`SealedEvent`].
    pub sealed: String,
    pub hash: String,
}

/// Returns the hash of a sealed text after another hash, in hex.
#[must_use]
pub fn hash(previous: &str, sealed: &str) -> String {
    let mut hash = Sha256::new();
    for part in ["colloquy approval event 1\n", previous, "\n", sealed] {
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

/// Returns the digest that stands for a name: without the salt, which is erased with the name, nobody can try names.
#[must_use]
pub fn name_digest(salt: &str, name: &str) -> String {
    let mut hash = Sha256::new();
    for part in ["colloquy actor name 1\n", salt, "\n", name] {
        hash.update(part);
    }
    hex::encode(hash.finalize())
}

impl StoredEvent {
    /// Whether the event is the one that was written at this place: its text, its columns and the name beside it. Returns its
    /// hash then.
    #[must_use]
    pub fn holds(&self, project_id: Id<ids::Project>, number: i64, previous: &str) -> Option<&str> {
        let sealed: SealedEvent = serde_json::from_str(&self.sealed).ok()?;
        let is_in_place = (sealed.project_id, sealed.number) == (project_id, number)
            && (self.project_id, self.number) == (project_id, number);
        let are_columns_so = sealed.id == self.id
            && sealed.target_type.to_string() == self.target_type
            && sealed.target_id == self.target_id
            && sealed.action.to_string() == self.action
            && sealed.actor_id == self.actor_id;
        let is_named_so =
            self.actor_name.as_ref().is_none_or(|name| name_digest(&self.actor_salt, name) == sealed.actor_name_digest);
        let is_hashed_so = hash(previous, &self.sealed) == self.hash;
        (is_in_place && are_columns_so && is_named_so && is_hashed_so).then_some(self.hash.as_str())
    }

    /// The event as clients get it.
    ///
    /// # Errors
    /// The stored text is none of an event.
    pub fn shown(self, previous_hash: String) -> Result<ApprovalEvent, serde_json::Error> {
        let sealed: SealedEvent = serde_json::from_str(&self.sealed)?;
        let name = self.actor_name.unwrap_or_else(|| DELETED_NAME.to_owned());
        let printed = |Signature { meaning, method }| PrintedSignature { meaning, method, printed_name: name.clone() };
        Ok(ApprovalEvent {
            id: sealed.id,
            target_type: sealed.target_type,
            target_id: sealed.target_id,
            target_code: sealed.target_code,
            action: sealed.action,
            from_status: sealed.from_status,
            to_status: sealed.to_status,
            from_version: sealed.from_version,
            to_version: sealed.to_version,
            diff: sealed.diff,
            comment: sealed.comment,
            signature: sealed.signature.map(printed),
            actor: ApprovalActor { id: sealed.actor_id, name },
            at: sealed.at,
            hash: self.hash,
            previous_hash,
            number: sealed.number,
            reason_code: sealed.reason_code,
            deferred_until: sealed.deferred_until,
            feedback_ids: sealed.feedback_ids,
            caused_by: sealed.caused_by,
        })
    }
}
