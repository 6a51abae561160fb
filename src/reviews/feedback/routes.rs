//! HTTP handlers of feedback, with the bodies and queries they accept.

use actors::ids::Id;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::{PartialSchema, ToSchema};

use super::model::{
    Feedback, FeedbackComment, FeedbackVerdict, ResolutionNote, StakeholderFeedback, StakeholderFeedbackStatus,
};
use super::operations::{self, SentFeedback};
use super::store::Filter;
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Query, QueryFlag, ValidJson, ValidQuery, query_parameter};
use crate::http::list::{Listing, Search};
use crate::http::patch::Patch;
use crate::projects::model::Project;
use crate::reviews::access::Reviewer;
use crate::reviews::stakeholder_dashboard::model::FeedbackTargetType;
use crate::reviews::state::Reviews;

/// A reviewer's words about the results, or about one item of them.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SubmitFeedback {
    target_type: FeedbackTargetType,
    /// The id of an item of the dashboard; absent for the SUMMARY.
    target_id: Option<Id<()>>,
    comment: FeedbackComment,
    /// Of a reviewer only with the permission APPROVER.
    verdict: Option<FeedbackVerdict>,
}

impl Body for SubmitFeedback {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let target_type = fields.required("targetType");
        let target_id = fields.optional("targetId");
        let comment = fields.required("comment");
        let verdict = fields.optional("verdict");
        Ok(Self { target_type: target_type?, target_id: target_id?, comment: comment?, verdict: verdict? })
    }
}

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

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "status" | "targetType" | "targetId" | "isRead" | "verdict" | "search")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let target_type = fields.optional("targetType");
        let target_id = fields.optional::<Id<()>>("targetId");
        let is_read = fields.optional::<QueryFlag>("isRead");
        let verdict = fields.optional("verdict");
        let search = fields.optional("search");
        Ok(Self {
            status: status?,
            target_type: target_type?,
            target_id: target_id?.map(Id::uuid),
            is_read: is_read?.map(|flag| flag.0),
            verdict: verdict?,
            search: search?,
        })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid =
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
        let flag = ObjectBuilder::new().schema_type(Type::Boolean);
        let of_type = FeedbackTargetType::schema();
        vec![
            query_parameter("status", "Return only feedback with this status.", StakeholderFeedbackStatus::schema()),
            query_parameter("targetType", "Return only feedback on items of this type.", of_type),
            query_parameter("targetId", "Return only feedback on this item.", uuid),
            query_parameter("isRead", "Return only feedback that was marked as read, or only the rest.", flag),
            query_parameter("verdict", "Return only feedback with this verdict.", FeedbackVerdict::schema()),
            Search::parameter("Return only feedback whose comment, item code or author's name contains this text."),
        ]
    }
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

/// At least one of the fields.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct UpdateFeedbackStatus {
    /// OPEN and IN_PROGRESS may follow each other, and IN_PROGRESS and either RESOLVED or REJECTED.
    pub status: Option<StakeholderFeedbackStatus>,
    /// Whether it counts as read.
    pub is_read: Option<bool>,
    /// Part of the e-mail to who wrote the feedback, once it is RESOLVED or REJECTED. Null clears it.
    #[schema(value_type = Option<ResolutionNote>)]
    pub resolution_note: Patch<ResolutionNote>,
}

impl Body for UpdateFeedbackStatus {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let status = fields.replaced("status");
        let is_read = fields.replaced("isRead");
        let resolution_note = fields.patch("resolutionNote");
        if is_empty {
            return Err(fields.reject("Name at least one of status, isRead and resolutionNote."));
        }
        Ok(Self { status: status?, is_read: is_read?, resolution_note: resolution_note? })
    }
}

pub async fn update_status(
    request: Authorized<Analyst<Feedback>, ValidJson<UpdateFeedbackStatus>>,
    state: Reviews,
) -> Result<Reply<StakeholderFeedback>, ApiError> {
    let ValidJson(body) = request.input;
    let (caller, id) = (request.access.caller, request.access.resource.id);
    operations::update_status(&state, caller, id, body, request.request_id).await.map(Reply::ok)
}
