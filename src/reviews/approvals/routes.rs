//! HTTP handlers of approval.

use super::bodies::{
    ApprovalOfEdit, EditRequirement, EditUserStory, RegenerateUserStory, UpdateItemStatus, UpdateItemsStatus,
};
use super::model::{BulkResults, StatusDecision};
use super::operations::{self, ItemEdit};
use super::regenerate::{self, RegeneratedUserStory, Wishes};
use super::{ReviewedRequirement, ReviewedStory, trail};
use crate::access::policy::{Approver, Member};
use crate::access::principal::Caller;
use crate::analysis::items::edits::{CriterionText, RequirementEdit, StoryEdit};
use crate::analysis::items::model::{Requirement, UserStory, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::trail::model::{ApprovalEvent, TrailFilter, TrailVerification};
use crate::api::operation::Authorized;
use crate::http::answer::{CountedAnswer, Versioned};
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery, WithShare};
use crate::http::list::Listing;
use crate::http::version::IfMatch;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

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
        _ => Err(ApiError::internal("a requirement became something else")),
    }
}

fn story(item: ProjectItem) -> Result<Versioned<UserStory>, ApiError> {
    match item {
        ProjectItem::UserStory(one) => {
            let version = one.version;
            Ok(Reply::ok(one).version(version))
        }
        _ => Err(ApiError::internal("a story became something else")),
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

impl ApprovalOfEdit {
    async fn verdict(self, state: &Reviews, caller: Caller) -> Result<StatusDecision, ApiError> {
        let signature = operations::sign(state, caller, self.signature).await?;
        let status = WorkflowStatus::Approved;
        Ok(StatusDecision { status, comment: self.comment, reason_code: None, deferred_until: None, signature })
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

pub async fn edit_user_story(
    request: Authorized<Approver<ReviewedStory>, IfMatch<ValidJson<EditUserStory>>>,
    state: Reviews,
) -> Result<Versioned<UserStory>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let (caller, ReviewedStory(item)) = (request.access.caller, request.access.resource);
    let EditUserStory { title, role, goal, benefit, priority, acceptance_criteria: criteria, .. } = body;
    let criteria = criteria.map(|all| all.into_iter().map(CriterionText::from).collect());
    let edit = ItemEdit::UserStory(StoryEdit { title, role, goal, benefit, priority, criteria });
    let verdict = match body.workflow_status {
        Some(approval) => Some(approval.verdict(&state, caller).await?),
        None => None,
    };
    story(operations::edit(&state, item, caller, (edit, verdict), version, request.request_id).await?)
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
