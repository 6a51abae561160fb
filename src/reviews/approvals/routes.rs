//! The HTTP endpoints of approval.

use actors::ids::Id;
use pipeline::result::{Priority, QualityCategory, RequirementType};
use serde_json::Value;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use super::model::{BulkItem, BulkResults, DeferralDate, ReviewComment, SignatureInput, StatusDecision};
use super::operations::{self, ItemEdit};
use super::regenerate::{self, RegeneratedUserStory, Wishes};
use super::{ReviewedRequirement, ReviewedStory, trail};
use crate::access::policy::{Approver, Member};
use crate::access::principal::Caller;
use crate::analysis::items::edits::{
    ClauseText, CriterionText, ItemTitle, MOST_CRITERIA, RequirementEdit, StatementText, StoryEdit,
};
use crate::analysis::items::model::{ProposalTarget, Requirement, UserStory, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::trail::model::{ApprovalAction, ApprovalEvent, RejectionReason, TrailFilter, TrailVerification};
use crate::api::operation::Authorized;
use crate::http::answer::{CountedAnswer, Versioned};
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Field, Fields, InvalidValue, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, WithShare, query_parameter};
use crate::http::list::Listing;
use crate::http::patch::Patch;
use crate::http::reason::Reason;
use crate::http::version::IfMatch;
use crate::projects::model::Project;
use crate::reviews::feedback::model::Feedback;
use crate::reviews::state::Reviews;

/// The most items that one call decides about.
const MOST_ITEMS: usize = 200;
/// The most comments of reviewers that one regeneration heeds.
const MOST_COMMENTS: usize = 50;

/// A decision about the status of an item.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct UpdateItemStatus {
    pub workflow_status: WorkflowStatus,
    /// Required with REJECTED.
    pub comment: Option<ReviewComment>,
    /// With REJECTED only; OTHER if it is absent.
    pub reason_code: Option<RejectionReason>,
    /// With NEEDS_REVIEW only: the item stays to be reviewed, and is put off until this day.
    pub deferred_until: Option<DeferralDate>,
    /// With APPROVED only; required if the project's `signedApprovals` is true.
    pub signature: Option<SignatureInput>,
}

impl Body for UpdateItemStatus {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.required("workflowStatus");
        let comment = fields.optional("comment");
        let reason_code = fields.optional("reasonCode");
        let deferred_until = fields.optional("deferredUntil");
        let signature = fields.object("signature", SignatureInput::read);
        let (workflow_status, comment, reason_code, deferred_until, signature) =
            (status?, comment?, reason_code?, deferred_until?, signature?);
        let mut is_valid = true;
        let mut refuse = |is_wrong: bool, field: &str, reason: Reason, sentence: &str| {
            if is_wrong {
                fields.fault(field, reason, sentence);
                is_valid = false;
            }
        };
        let with = |status: WorkflowStatus| workflow_status == status;
        refuse(
            with(WorkflowStatus::Rejected) && comment.is_none(),
            "comment",
            Reason::Required,
            "A rejection needs a comment that says why.",
        );
        let only = "This goes with another workflowStatus only.";
        refuse(reason_code.is_some() && !with(WorkflowStatus::Rejected), "reasonCode", Reason::InvalidValue, only);
        refuse(
            deferred_until.is_some() && !with(WorkflowStatus::NeedsReview),
            "deferredUntil",
            Reason::InvalidValue,
            only,
        );
        refuse(signature.is_some() && !with(WorkflowStatus::Approved), "signature", Reason::InvalidValue, only);
        if !is_valid {
            return Err(Rejected);
        }
        Ok(Self { workflow_status, comment, reason_code, deferred_until, signature })
    }
}

async fn verdict(state: &Reviews, caller: Caller, body: UpdateItemStatus) -> Result<StatusDecision, ApiError> {
    let UpdateItemStatus { workflow_status, comment, reason_code, deferred_until, signature } = body;
    let signature = operations::sign(state, caller, signature).await?;
    Ok(StatusDecision { status: workflow_status, comment, reason_code, deferred_until, signature })
}

fn requirement(item: ProjectItem) -> Result<Versioned<Requirement>, ApiError> {
    match item {
        ProjectItem::Requirement(one) => {
            let version = one.version;
            Ok(Reply::ok(one).version(version))
        }
        ProjectItem::UserStory(_) => Err(ApiError::internal("a requirement became a story")),
    }
}

fn story(item: ProjectItem) -> Result<Versioned<UserStory>, ApiError> {
    match item {
        ProjectItem::UserStory(one) => {
            let version = one.version;
            Ok(Reply::ok(one).version(version))
        }
        ProjectItem::Requirement(_) => Err(ApiError::internal("a story became a requirement")),
    }
}

pub async fn update_requirement_status(
    request: Authorized<Approver<ReviewedRequirement>, IfMatch<ValidJson<UpdateItemStatus>>>,
    state: Reviews,
) -> Result<Versioned<Requirement>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let (caller, ReviewedRequirement(item)) = (request.access.caller, request.access.resource);
    let verdict = verdict(&state, caller, body).await?;
    requirement(operations::judge(&state, item, caller, verdict, version, request.request_id).await?)
}

pub async fn update_user_story_status(
    request: Authorized<Approver<ReviewedStory>, IfMatch<ValidJson<UpdateItemStatus>>>,
    state: Reviews,
) -> Result<Versioned<UserStory>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let (caller, ReviewedStory(item)) = (request.access.caller, request.access.resource);
    let verdict = verdict(&state, caller, body).await?;
    story(operations::judge(&state, item, caller, verdict, version, request.request_id).await?)
}

/// The status that an edit may set: it may approve what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StatusOfEdit {
    Approved,
}

/// The approval that comes with an edit.
#[derive(Debug)]
struct ApprovalOfEdit {
    comment: Option<ReviewComment>,
    signature: Option<SignatureInput>,
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

    async fn verdict(self, state: &Reviews, caller: Caller) -> Result<StatusDecision, ApiError> {
        let signature = operations::sign(state, caller, self.signature).await?;
        let status = WorkflowStatus::Approved;
        Ok(StatusDecision { status, comment: self.comment, reason_code: None, deferred_until: None, signature })
    }
}

/// An edit of a requirement; with `workflowStatus`, it is approved at once.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditRequirement {
    #[schema(nullable = false)]
    title: Option<ItemTitle>,
    #[schema(nullable = false)]
    statement: Option<StatementText>,
    #[schema(nullable = false, rename = "type")]
    kind: Option<RequirementType>,
    /// For NON_FUNCTIONAL requirements only.
    #[schema(value_type = Option<QualityCategory>)]
    category: Patch<QualityCategory>,
    #[schema(nullable = false)]
    priority: Option<Priority>,
    /// APPROVED approves the requirement as it is edited.
    #[schema(nullable = false, value_type = Option<StatusOfEdit>)]
    workflow_status: Option<ApprovalOfEdit>,
    /// With `workflowStatus` only.
    #[schema(value_type = Option<ReviewComment>)]
    #[expect(dead_code, reason = "it is read with the approval")]
    comment: (),
    /// With `workflowStatus` only; required then if the project's `signedApprovals` is true.
    #[schema(value_type = Option<SignatureInput>)]
    #[expect(dead_code, reason = "it is read with the approval")]
    signature: (),
}

impl Body for EditRequirement {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let title = fields.replaced("title");
        let statement = fields.replaced("statement");
        let kind = fields.replaced("type");
        let category = fields.patch("category");
        let priority = fields.replaced("priority");
        let approval = ApprovalOfEdit::read(fields);
        if is_empty {
            return Err(fields.reject("Name at least one field to change."));
        }
        Ok(Self {
            title: title?,
            statement: statement?,
            kind: kind?,
            category: category?,
            priority: priority?,
            workflow_status: approval?,
            comment: (),
            signature: (),
        })
    }
}

pub async fn edit_requirement(
    request: Authorized<Approver<ReviewedRequirement>, IfMatch<ValidJson<EditRequirement>>>,
    state: Reviews,
) -> Result<Versioned<Requirement>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let (caller, ReviewedRequirement(item)) = (request.access.caller, request.access.resource);
    let EditRequirement { title, statement, kind, category, priority, workflow_status: approval, .. } = body;
    let edit = ItemEdit::Requirement(RequirementEdit { title, statement, kind, category, priority });
    let verdict = match approval {
        Some(approval) => Some(approval.verdict(&state, caller).await?),
        None => None,
    };
    requirement(operations::edit(&state, item, caller, (edit, verdict), version, request.request_id).await?)
}

/// What an acceptance criterion says.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct EditedCriterion {
    pub text: ClauseText,
    pub given: Option<ClauseText>,
    pub when: Option<ClauseText>,
    pub then: Option<ClauseText>,
}

impl EditedCriterion {
    fn read(fields: &mut Fields) -> Result<CriterionText, Rejected> {
        let text = fields.required::<ClauseText>("text");
        let (given, when) = (fields.optional::<ClauseText>("given"), fields.optional::<ClauseText>("when"));
        let then = fields.optional::<ClauseText>("then");
        let clause = |clause: Option<ClauseText>| clause.map(|clause| clause.0);
        Ok(CriterionText { text: text?.0, given: clause(given?), when: clause(when?), then: clause(then?) })
    }
}

/// An edit of a user story; with `workflowStatus`, it is approved at once.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditUserStory {
    #[schema(nullable = false)]
    title: Option<ItemTitle>,
    #[schema(value_type = Option<ClauseText>)]
    role: Patch<ClauseText>,
    #[schema(nullable = false)]
    goal: Option<ClauseText>,
    #[schema(value_type = Option<ClauseText>)]
    benefit: Patch<ClauseText>,
    #[schema(nullable = false)]
    priority: Option<Priority>,
    /// All criteria: those that are not named are removed. One that says the same keeps its id.
    #[schema(nullable = false, value_type = Option<Vec<EditedCriterion>>, max_items = 50)]
    acceptance_criteria: Option<Vec<CriterionText>>,
    /// APPROVED approves the story as it is edited.
    #[schema(nullable = false, value_type = Option<StatusOfEdit>)]
    workflow_status: Option<ApprovalOfEdit>,
    /// With `workflowStatus` only.
    #[schema(value_type = Option<ReviewComment>)]
    #[expect(dead_code, reason = "it is read with the approval")]
    comment: (),
    /// With `workflowStatus` only; required then if the project's `signedApprovals` is true.
    #[schema(value_type = Option<SignatureInput>)]
    #[expect(dead_code, reason = "it is read with the approval")]
    signature: (),
}

impl Body for EditUserStory {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let title = fields.replaced("title");
        let role = fields.patch("role");
        let goal = fields.replaced("goal");
        let benefit = fields.patch("benefit");
        let priority = fields.replaced("priority");
        let criteria = fields.replaced_objects("acceptanceCriteria", 0..=MOST_CRITERIA, EditedCriterion::read);
        let approval = ApprovalOfEdit::read(fields);
        if is_empty {
            return Err(fields.reject("Name at least one field to change."));
        }
        Ok(Self {
            title: title?,
            role: role?,
            goal: goal?,
            benefit: benefit?,
            priority: priority?,
            acceptance_criteria: criteria?,
            workflow_status: approval?,
            comment: (),
            signature: (),
        })
    }
}

pub async fn edit_user_story(
    request: Authorized<Approver<ReviewedStory>, IfMatch<ValidJson<EditUserStory>>>,
    state: Reviews,
) -> Result<Versioned<UserStory>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let (caller, ReviewedStory(item)) = (request.access.caller, request.access.resource);
    let EditUserStory { title, role, goal, benefit, priority, acceptance_criteria: criteria, .. } = body;
    let edit = ItemEdit::UserStory(StoryEdit { title, role, goal, benefit, priority, criteria });
    let verdict = match body.workflow_status {
        Some(approval) => Some(approval.verdict(&state, caller).await?),
        None => None,
    };
    story(operations::edit(&state, item, caller, (edit, verdict), version, request.request_id).await?)
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

impl Body for UpdateItemsStatus {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let items = fields.objects("items", 1..=MOST_ITEMS, |item| {
            let (target_type, id) = (item.required("targetType"), item.required("id"));
            let version = item.optional::<ItemVersion>("version");
            Ok(BulkItem { target_type: target_type?, id: id?, version: version?.map(|version| version.0) })
        });
        let decision = UpdateItemStatus::read(fields);
        let (items, decision) = (items?, decision?);
        let UpdateItemStatus { workflow_status, comment, reason_code, deferred_until, signature } = decision;
        Ok(Self { items, workflow_status, comment, reason_code, deferred_until, signature })
    }
}

/// The version of an item.
struct ItemVersion(i64);

impl Field for ItemVersion {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let version = value.as_i64().filter(|version| *version >= 1);
        version.map(Self).ok_or_else(|| InvalidValue::value("This must be a version, a number from 1."))
    }
}

pub async fn update_items_status(
    request: Authorized<Approver<Project>, ValidJson<UpdateItemsStatus>>,
    state: Reviews,
) -> Result<Reply<BulkResults>, ApiError> {
    let ValidJson(body) = request.input;
    let UpdateItemsStatus { items, workflow_status, comment, reason_code, deferred_until, signature } = body;
    let decision = UpdateItemStatus { workflow_status, comment, reason_code, deferred_until, signature };
    let (caller, project_id) = (request.access.caller, request.access.resource.id);
    let verdict = verdict(&state, caller, decision).await?;
    let items = operations::judge_many(&state, project_id, caller, (items, verdict), request.request_id).await?;
    Ok(Reply::ok(BulkResults { items }))
}

/// What is to be different in a story that is written anew.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RegenerateUserStory {
    pub feedback: ReviewComment,
    /// Open comments of reviewers that the story is to heed beside `feedback`: on it, one of its criteria, or one of its
    /// requirements.
    #[schema(required = false, max_items = 50)]
    pub feedback_ids: Vec<Id<Feedback>>,
}

impl Body for RegenerateUserStory {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let feedback = fields.required("feedback");
        let feedback_ids = fields.values("feedbackIds", MOST_COMMENTS, |_| Ok(()));
        Ok(Self { feedback: feedback?, feedback_ids: feedback_ids? })
    }
}

pub async fn regenerate_user_story(
    request: Authorized<Approver<ReviewedStory>, IfMatch<ValidJson<RegenerateUserStory>>>,
    state: Reviews,
) -> Result<Versioned<RegeneratedUserStory>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let (caller, ReviewedStory(item)) = (request.access.caller, request.access.resource);
    let wishes = Wishes { feedback: body.feedback, comments: body.feedback_ids };
    let story = regenerate::regenerate(&state, item, caller, wishes, version, request.request_id).await?;
    let version = story.story.version;
    Ok(Reply::ok(story).version(version))
}

impl Query for TrailFilter {
    fn has(key: &str) -> bool {
        matches!(key, "targetType" | "targetId" | "action" | "actorId")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let target = fields.optional("targetType");
        let target_id = fields.optional("targetId");
        let action = fields.optional("action");
        let actor_id = fields.optional("actorId");
        Ok(Self { target: target?, target_id: target_id?, action: action?, actor_id: actor_id? })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid = || {
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
        };
        vec![
            query_parameter("targetType", "Return only events about this kind of items.", ProposalTarget::schema()),
            query_parameter("targetId", "Return only events about this item.", uuid()),
            query_parameter("action", "Return only events of this action.", ApprovalAction::schema()),
            query_parameter("actorId", "Return only events of this account.", uuid()),
        ]
    }
}

pub async fn events(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<TrailFilter>>>>,
    state: Reviews,
) -> Result<CountedAnswer<List<ApprovalEvent>>, ApiError> {
    let WithShare { input: ValidQuery(listing), share } = request.input;
    trail::list(&state, request.access.resource.id, listing, share).await
}

pub async fn verification(
    request: Authorized<Member<Project>, Empty>,
    state: Reviews,
) -> Result<Reply<TrailVerification>, ApiError> {
    trail::verify(&state, request.access.resource.id).await.map(Reply::ok)
}
