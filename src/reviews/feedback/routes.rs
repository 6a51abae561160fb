//! HTTP handlers of feedback.

use actors::ids::Id;

use super::bodies::{Filter, SubmitFeedback, UpdateFeedbackStatus};
use super::model::{Feedback, StakeholderFeedback};
use super::operations::{self, SentFeedback};
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::projects::model::Project;
use crate::reviews::access::Reviewer;
use crate::reviews::state::Reviews;

impl SubmitFeedback {
    fn sent(self, id: Id<Feedback>) -> SentFeedback {
        let Self { target_type, target_id, comment, verdict } = self;
        SentFeedback { id, target_type, target_id: target_id.map(Id::uuid), comment, verdict }
    }
}

pub async fn submit_as_reviewer(
    request: Authorized<Reviewer, ValidJson<SubmitFeedback>>,
    state: Reviews,
) -> Result<Reply<StakeholderFeedback>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let made = operations::submit_as_reviewer(&state, request.access, body.sent(id), request.request_id).await?;
    Ok(Reply::created(made))
}

pub async fn submit_as_member(
    request: Authorized<Member<Project>, ValidJson<SubmitFeedback>>,
    state: Reviews,
) -> Result<Reply<StakeholderFeedback>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let Member { caller, resource: project, .. } = request.access;
    let made = operations::submit_as_member(&state, caller, &project, body.sent(id), request.request_id).await?;
    Ok(Reply::created(made))
}

pub async fn list_own(
    request: Authorized<Reviewer, ValidQuery<Listing<Filter>>>,
    state: Reviews,
) -> Result<Reply<List<StakeholderFeedback>>, ApiError> {
    let ValidQuery(listing) = request.input;
    let Reviewer { invitation, project } = request.access;
    operations::list(&state, project.id, Some(invitation.id), listing).await.map(Reply::ok)
}

pub async fn list(
    request: Authorized<Analyst<Project>, ValidQuery<Listing<Filter>>>,
    state: Reviews,
) -> Result<Reply<List<StakeholderFeedback>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.id, None, listing).await.map(Reply::ok)
}

pub async fn update_status(
    request: Authorized<Analyst<Feedback>, ValidJson<UpdateFeedbackStatus>>,
    state: Reviews,
) -> Result<Reply<StakeholderFeedback>, ApiError> {
    let ValidJson(body) = request.input;
    let (caller, id) = (request.access.caller, request.access.resource.id);
    operations::update_status(&state, caller, id, body, request.request_id).await.map(Reply::ok)
}
