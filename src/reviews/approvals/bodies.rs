//! The bodies of requests that decide about items, change them, or have them written anew.

use actors::ids::Id;
use pipeline::result::{Priority, QualityCategory, RequirementType};
use serde_json::Value;
use utoipa::ToSchema;

use super::model::{DeferralDate, ReviewComment};
use crate::accounts::model::TypedPassword;
use crate::analysis::items::edits::{ClauseText, CriterionText, ItemTitle, StatementText};
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::trail::model::{RejectionReason, SignatureMeaning};
use crate::http::fields::{Field, Fields, InvalidValue, Rejected};
use crate::http::input::Body;
use crate::http::patch::Patch;
use crate::http::reason::Reason;
use crate::projects::item_kind::ItemKind;
use crate::reviews::feedback::model::Feedback;

/// The most items that one call decides about.
const MAX_ITEMS: usize = 200;

/// The signature of an approval: who signs shows once more who they are.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct SignatureInput {
    /// What the person means by signing.
    pub meaning: SignatureMeaning,
    /// Required if the account has a password; otherwise absent, and the session must have begun within the last ten minutes.
    pub password: Option<TypedPassword>,
}

/// A decision about the status of an item.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(check = Self::check)]
pub struct UpdateItemStatus {
    pub workflow_status: WorkflowStatus,
    /// Required with REJECTED.
    pub comment: Option<ReviewComment>,
    /// With REJECTED only; OTHER if it is absent.
    pub reason_code: Option<RejectionReason>,
    /// With NEEDS_REVIEW only: the item stays to be reviewed, and is put off until this day.
    pub deferred_until: Option<DeferralDate>,
    /// With APPROVED only; required if the project's `signedApprovals` is true.
    #[body(object)]
    pub signature: Option<SignatureInput>,
}

impl UpdateItemStatus {
    fn check(&self, fields: &mut Fields) {
        let is_not = |status: WorkflowStatus| self.workflow_status != status;
        if !is_not(WorkflowStatus::Rejected) && self.comment.is_none() {
            fields.fault("comment", Reason::Required, "A rejection needs a comment that says why.");
        }
        let of_another_status = [
            ("reasonCode", self.reason_code.is_some() && is_not(WorkflowStatus::Rejected)),
            ("deferredUntil", self.deferred_until.is_some() && is_not(WorkflowStatus::NeedsReview)),
            ("signature", self.signature.is_some() && is_not(WorkflowStatus::Approved)),
        ];
        for (name, _) in of_another_status.into_iter().filter(|(_, is_there)| *is_there) {
            fields.fault(name, Reason::InvalidValue, "This goes with another workflowStatus only.");
        }
    }
}

/// The status that an edit may set: it may approve what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StatusOfEdit {
    Approved,
}

/// The approval that comes with an edit.
#[derive(Debug)]
pub struct ApprovalOfEdit {
    pub comment: Option<ReviewComment>,
    pub signature: Option<SignatureInput>,
}

impl ApprovalOfEdit {
    fn read(fields: &mut Fields) -> Result<Option<Self>, Rejected> {
        let status = fields.replaced::<WorkflowStatus>("workflowStatus");
        let comment = fields.optional("comment");
        let signature = fields.object("signature", SignatureInput::read);
        let (status, comment, signature) = (status?, comment?, signature?);
        match status {
            Some(WorkflowStatus::Approved) => Ok(Some(Self { comment, signature })),
            Some(_) => {
                let sentence = "With an edit this can only be APPROVED: any edit is to be reviewed otherwise.";
                Err(fields.fault("workflowStatus", Reason::InvalidValue, sentence))
            }
            None if comment.is_some() || signature.is_some() => {
                let sentence = "A comment and a signature belong to an approval.";
                Err(fields.fault("workflowStatus", Reason::Required, sentence))
            }
            None => Ok(None),
        }
    }
}

/// An edit of a requirement; with `workflowStatus`, it is approved at once.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditRequirement {
    #[schema(nullable = false)]
    pub title: Option<ItemTitle>,
    #[schema(nullable = false)]
    pub statement: Option<StatementText>,
    #[schema(nullable = false, rename = "type")]
    pub kind: Option<RequirementType>,
    /// For NON_FUNCTIONAL requirements only.
    #[schema(value_type = Option<QualityCategory>)]
    pub category: Patch<QualityCategory>,
    #[schema(nullable = false)]
    pub priority: Option<Priority>,
    /// APPROVED approves the requirement as it is edited.
    #[schema(nullable = false, value_type = Option<StatusOfEdit>)]
    #[body(with = ApprovalOfEdit::read)]
    pub workflow_status: Option<ApprovalOfEdit>,
    /// With `workflowStatus` only.
    #[schema(value_type = Option<ReviewComment>)]
    #[body(skip)]
    #[expect(dead_code, reason = "it is read with the approval")]
    comment: (),
    /// With `workflowStatus` only; required then if the project's `signedApprovals` is true.
    #[schema(value_type = Option<SignatureInput>)]
    #[body(skip)]
    #[expect(dead_code, reason = "it is read with the approval")]
    signature: (),
}

/// What an acceptance criterion says.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct EditedCriterion {
    pub text: ClauseText,
    pub given: Option<ClauseText>,
    pub when: Option<ClauseText>,
    pub then: Option<ClauseText>,
}

impl From<EditedCriterion> for CriterionText {
    fn from(EditedCriterion { text, given, when, then }: EditedCriterion) -> Self {
        let clause = |clause: Option<ClauseText>| clause.map(|clause| clause.0);
        Self { text: text.0, given: clause(given), when: clause(when), then: clause(then) }
    }
}

/// An edit of a user story; with `workflowStatus`, it is approved at once.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditUserStory {
    #[schema(nullable = false)]
    pub title: Option<ItemTitle>,
    #[schema(value_type = Option<ClauseText>)]
    pub role: Patch<ClauseText>,
    #[schema(nullable = false)]
    pub goal: Option<ClauseText>,
    #[schema(value_type = Option<ClauseText>)]
    pub benefit: Patch<ClauseText>,
    #[schema(nullable = false)]
    pub priority: Option<Priority>,
    /// All criteria: those that are not named are removed. One that says the same keeps its id.
    #[schema(nullable = false, max_items = 50)]
    #[body(objects)]
    pub acceptance_criteria: Option<Vec<EditedCriterion>>,
    /// APPROVED approves the story as it is edited.
    #[schema(nullable = false, value_type = Option<StatusOfEdit>)]
    #[body(with = ApprovalOfEdit::read)]
    pub workflow_status: Option<ApprovalOfEdit>,
    /// With `workflowStatus` only.
    #[schema(value_type = Option<ReviewComment>)]
    #[body(skip)]
    #[expect(dead_code, reason = "it is read with the approval")]
    comment: (),
    /// With `workflowStatus` only; required then if the project's `signedApprovals` is true.
    #[schema(value_type = Option<SignatureInput>)]
    #[body(skip)]
    #[expect(dead_code, reason = "it is read with the approval")]
    signature: (),
}

/// The version of an item.
struct ItemVersion(i64);

impl Field for ItemVersion {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let version = value.as_i64().filter(|version| *version >= 1);
        version.map(Self).ok_or_else(|| InvalidValue::value("This must be a version, a number from 1."))
    }
}

/// An item of a decision about many.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct BulkItem {
    pub target_type: ItemKind,
    pub id: Id<()>,
    /// The version that was seen; absent, the decision applies to the newest one.
    #[schema(minimum = 1)]
    #[body(as = ItemVersion)]
    pub version: Option<i64>,
}

/// A decision about the status of many items.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct UpdateItemsStatus {
    /// The items, each decided by itself.
    #[schema(min_items = 1, max_items = 200)]
    pub items: Vec<BulkItem>,
    pub workflow_status: WorkflowStatus,
    /// Required with REJECTED.
    pub comment: Option<ReviewComment>,
    /// With REJECTED only; OTHER if it is absent.
    pub reason_code: Option<RejectionReason>,
    /// With NEEDS_REVIEW only: the items stay to be reviewed, and are put off until this day.
    pub deferred_until: Option<DeferralDate>,
    /// With APPROVED only; required if the project's `signedApprovals` is true.
    pub signature: Option<SignatureInput>,
}

/// By hand, because all fields but the items are read and checked as a decision about one item is, even if the items are wrong.
impl Body for UpdateItemsStatus {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let items = fields.objects("items", 1..=MAX_ITEMS, BulkItem::read);
        let decision = UpdateItemStatus::read(fields);
        let (items, decision) = (items?, decision?);
        let UpdateItemStatus { workflow_status, comment, reason_code, deferred_until, signature } = decision;
        Ok(Self { items, workflow_status, comment, reason_code, deferred_until, signature })
    }
}

/// What is to be different in a story that is written anew.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct RegenerateUserStory {
    pub feedback: ReviewComment,
    /// Open comments of reviewers that the story is to heed beside `feedback`: on it, one of its criteria, or one of its
    /// requirements.
    #[schema(required = false, max_items = 50)]
    #[body(values)]
    pub feedback_ids: Vec<Id<Feedback>>,
}
