//! Types of the approval trail.

use actors::ids::{Id, User};
use actors::time::Time;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::difference::FieldChange;
use crate::analysis::items::model::WorkflowStatus;
use crate::http::enumeration::wire_enum;
use crate::http::input::Query;
use crate::projects::item_kind::ItemKind;

wire_enum! {
    /// What was done to an item.
    pub enum ApprovalAction {
        Approve,
        Reject,
        Reopen,
        /// It stays to be reviewed, until a date.
        Defer,
        Edit,
        EditAndApprove,
        Regenerate,
        AcceptProposal,
        /// An approved story came to rest on a requirement that says something else now.
        BecomeSuspect,
    }
}

wire_enum! {
    /// Why an item was rejected.
    pub enum RejectionReason {
        NotNeeded,
        OutOfScope,
        Duplicate,
        Incorrect,
        Unclear,
        Infeasible,
        Other,
    }
}

wire_enum! {
    /// What a person means by signing.
    pub enum SignatureMeaning {
        Approval,
        Review,
        Responsibility,
        Authorship,
    }
}

/// How the person who signed showed who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SignatureMethod {
    /// By the password of the account, once more.
    Password,
    /// By a sign-in with the OpenID provider in the last minutes.
    Provider,
}

/// A signature, without the name that is printed beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signature {
    pub meaning: SignatureMeaning,
    pub method: SignatureMethod,
}

/// The signature of an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintedSignature {
    pub meaning: SignatureMeaning,
    pub method: SignatureMethod,
    /// The full name of the person who signed.
    pub printed_name: String,
}

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decider {
    pub id: Id<User>,
    pub name: String,
}

/// What a person decided about an item, and why.
#[derive(Debug, Clone)]
pub struct ItemDecision {
    pub action: ApprovalAction,
    pub comment: Option<String>,
    pub reason_code: Option<RejectionReason>,
    pub deferred_until: Option<NaiveDate>,
    pub signature: Option<Signature>,
    /// The comments of stakeholders that it answers.
    pub feedback_ids: Vec<Uuid>,
    /// The requirement whose change made a story suspect.
    pub caused_by: Option<Uuid>,
}

impl ItemDecision {
    #[must_use]
    pub const fn of(action: ApprovalAction) -> Self {
        Self {
            action,
            comment: None,
            reason_code: None,
            deferred_until: None,
            signature: None,
            feedback_ids: Vec::new(),
            caused_by: None,
        }
    }
}

/// The account that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalActor {
    /// Id of the account, or of the service key.
    pub id: Id<User>,
    /// The full name at that time; `Deleted account` once the account is deleted.
    pub name: String,
}

/// One decision of a person about one item, sealed in the project's approval trail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalEvent {
    pub id: Uuid,
    pub target_type: ItemKind,
    /// Id of the requirement or the user story.
    pub target_id: Uuid,
    /// The code of the item, such as `REQ-001`.
    #[schema(example = "REQ-001")]
    pub target_code: String,
    pub action: ApprovalAction,
    /// Null for an item that an accepted proposal added.
    #[schema(required)]
    pub from_status: Option<WorkflowStatus>,
    pub to_status: WorkflowStatus,
    /// The version of the item before the event; null for an item without a version before.
    #[schema(required)]
    pub from_version: Option<i64>,
    /// The version of the item after the event.
    pub to_version: i64,
    /// The fields of the content that changed.
    pub diff: Vec<FieldChange>,
    /// What the person wrote about the decision; null if nothing.
    #[schema(required)]
    pub comment: Option<String>,
    pub actor: ApprovalActor,
    /// When it was decided.
    pub at: Time,
    /// SHA-256 of the event and of `previousHash`, in hex.
    #[schema(min_length = 64, max_length = 64)]
    pub hash: String,
    /// The hash of the event before it; 64 zeros for the first.
    #[schema(min_length = 64, max_length = 64)]
    pub previous_hash: String,
    /// The place in the trail, from 1.
    pub number: i64,
    #[schema(required)]
    pub reason_code: Option<RejectionReason>,
    /// `YYYY-MM-DD`
    #[schema(required)]
    pub deferred_until: Option<NaiveDate>,
    #[schema(required)]
    pub signature: Option<PrintedSignature>,
    /// The comments of stakeholders that a regeneration took up.
    pub feedback_ids: Vec<Uuid>,
    /// The requirement whose change made a story suspect.
    #[schema(required)]
    pub caused_by: Option<Uuid>,
}

/// Whether an approval trail is as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrailVerification {
    /// Whether every event fits the hash of the one before it.
    pub valid: bool,
    /// How many events the trail has.
    pub count: i64,
    /// The hash of the last event; 64 zeros for an empty trail. Note it elsewhere: it is what shows a trail that was written
    /// anew as a whole.
    #[schema(min_length = 64, max_length = 64)]
    pub head: String,
    /// The number of the first event that is not as it was written; null for a valid trail.
    #[schema(required)]
    pub broken_at: Option<i64>,
}

/// The filter of the list of events.
#[derive(Debug, Clone, Query)]
pub struct TrailFilter {
    /// Return only events about this kind of items.
    #[query(rename = "targetType")]
    pub target: Option<ItemKind>,
    /// Return only events about this item.
    pub target_id: Option<Id<()>>,
    /// Return only events of this action.
    pub action: Option<ApprovalAction>,
    /// Return only events of this account.
    pub actor_id: Option<Id<User>>,
}
