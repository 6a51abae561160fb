//! HTTP handlers of review invitations, with the bodies and queries they accept.

use actix_web::HttpRequest;
use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::model::{
    InvitedReviewer, Organisation, ProjectReviewAccess, ProjectReviewInvitation, ProjectReviewInvitationStatus,
    ProjectReviewInvitations, ProjectReviewPermission, ReviewInvitation, ReviewInvitationPreview,
};
use super::operations::{self, ReviewInvitationRequest, answering};
use super::store::Filter;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{Analyst, Public};
use crate::accounts::model::{Email, FullName};
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Described, Empty, Input, Query, Raw, ValidJson, ValidQuery, query_parameter};
use crate::http::list::{Listing, Search};
use crate::http::mounted::{Mounted, Need};
use crate::meetings::invitations::model::Message;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

/// The largest number of invitees in one request.
const MOST: usize = 100;

/// A person to invite to a review.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ReviewInvitee {
    email: Email,
    full_name: Option<FullName>,
    organisation: Option<Organisation>,
}

/// Whom to invite to a review, and what they may do.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateReviewInvitation {
    /// 1–100 people, each mailed a link of their own.
    #[schema(min_items = 1, max_items = 100)]
    invitees: Vec<ReviewInvitee>,
    permission: ProjectReviewPermission,
    /// A run of the project with a result, which is shown to the invitees; without it, the newest one at any time.
    run_id: Option<Id<Run>>,
    /// Plain text for the e-mail; nothing in it becomes a link.
    message: Option<Message>,
    /// Within the next 90 days: when the links and the accesses that they give expire. By default in 30 days.
    expires_at: Option<Time>,
}

impl Body for CreateReviewInvitation {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let invitees = fields.objects("invitees", 1..=MOST, |item| {
            let email = item.required("email");
            let full_name = item.optional("fullName");
            let organisation = item.optional("organisation");
            Ok(ReviewInvitee { email: email?, full_name: full_name?, organisation: organisation? })
        });
        let permission = fields.required("permission");
        let run_id = fields.optional("runId");
        let message = fields.optional("message");
        let expires_at = fields.optional("expiresAt");
        Ok(Self {
            invitees: invitees?,
            permission: permission?,
            run_id: run_id?,
            message: message?,
            expires_at: expires_at?,
        })
    }
}

pub async fn create(
    request: Authorized<Analyst<Project>, ValidJson<CreateReviewInvitation>>,
    state: Reviews,
) -> Result<Reply<ProjectReviewInvitations>, ApiError> {
    let first = request.new_id();
    let ValidJson(CreateReviewInvitation { invitees, permission, run_id, message, expires_at }) = request.input;
    let invitees = invitees.into_iter().map(|ReviewInvitee { email, full_name, organisation }| InvitedReviewer {
        email,
        full_name,
        organisation,
    });
    let message = message.unwrap_or(Message(None));
    let input =
        ReviewInvitationRequest { invitees: invitees.collect(), permission, run_id, message, expires_at, first };
    let (caller, project_id) = (request.access.caller, request.access.resource.id);
    let items = operations::create(&state, caller, project_id, input, request.request_id).await?;
    Ok(Reply::created(ProjectReviewInvitations { items }))
}

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "status" | "permission" | "search")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let permission = fields.optional("permission");
        let search = fields.optional("search");
        Ok(Self { status: status?, permission: permission?, search: search? })
    }
    fn parameters() -> Vec<Parameter> {
        let status = ProjectReviewInvitationStatus::schema();
        let permission = ProjectReviewPermission::schema();
        vec![
            query_parameter("status", "Return only invitations with this status.", status),
            query_parameter("permission", "Return only invitations that give this permission.", permission),
            Search::parameter("Return only invitations whose name, e-mail address or organisation contains this text."),
        ]
    }
}

pub async fn list(
    request: Authorized<Analyst<Project>, ValidQuery<Listing<Filter>>>,
    state: Reviews,
) -> Result<Reply<List<ProjectReviewInvitation>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.id, listing).await.map(Reply::ok)
}

pub async fn resend(
    request: Authorized<Analyst<ReviewInvitation>, Empty>,
    state: Reviews,
) -> Result<Reply<ProjectReviewInvitation>, ApiError> {
    let id = request.access.resource.id;
    operations::resend(&state, request.access.caller, id, request.request_id).await.map(Reply::ok)
}

pub async fn revoke(
    request: Authorized<Analyst<ReviewInvitation>, Empty>,
    state: Reviews,
) -> Result<Reply<Nothing>, ApiError> {
    operations::revoke(&state, &request.access.resource).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn preview(
    request: Authorized<Public, OneTimeToken>,
    state: Reviews,
) -> Result<Reply<ReviewInvitationPreview>, ApiError> {
    answering::preview(&state, &request.input).await.map(Reply::ok)
}

/// The `{token}` of the path, together with the input `I`.
pub struct ByReviewLink<I> {
    token: OneTimeToken,
    input: I,
}

impl<I: Input> Input for ByReviewLink<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let token = OneTimeToken::take(request, Raw::Bytes(bytes::Bytes::new())).await?;
        // An invalid link is reported before the body is read.
        answering::must_lead(&Reviews::of(request)?, &token).await?;
        Ok(Self { token, input: I::take(request, body).await? })
    }
    fn needs() -> Vec<Need> {
        vec![Need::of::<Reviews>()]
    }
    fn describe() -> Described {
        I::describe()
    }
}

/// The name to show to the project's analysts. Without it, the name in the invitation is used.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AcceptReviewInvitation {
    full_name: Option<FullName>,
}

impl Body for AcceptReviewInvitation {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { full_name: fields.optional("fullName")? })
    }
}

pub async fn accept(
    request: Authorized<Public, ByReviewLink<ValidJson<AcceptReviewInvitation>>>,
    state: Reviews,
) -> Result<NotReplayable<ProjectReviewAccess>, ApiError> {
    let ByReviewLink { token, input: ValidJson(AcceptReviewInvitation { full_name }) } = request.input;
    let accepted = answering::accept(&state, &token, full_name).await?;
    Ok(NotReplayable(Reply::ok(accepted)))
}
