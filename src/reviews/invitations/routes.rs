//! HTTP handlers of review invitations.

use actix_web::HttpRequest;

use super::bodies::{AcceptReviewInvitation, CreateReviewInvitation, Filter, ReviewInvitee};
use super::model::{
    InvitedReviewer, ProjectReviewAccess, ProjectReviewInvitation, ProjectReviewInvitations, ReviewInvitation,
    ReviewInvitationPreview,
};
use super::operations::{self, ReviewInvitationRequest, answering};
use super::shown::ReviewShown;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{Analyst, Public};
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Described, Empty, Input, Raw, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::http::mounted::{Mounted, Need};
use crate::meetings::invitations::model::Message;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

pub async fn create(
    request: Authorized<Analyst<Project>, ValidJson<CreateReviewInvitation>>,
    state: Reviews,
) -> Result<Reply<ProjectReviewInvitations>, ApiError> {
    let first = request.new_id();
    let ValidJson(body) = request.input;
    let CreateReviewInvitation { invitees, permission, run_id, scope, baseline_id, item_ids, message, expires_at } =
        body;
    let shown = ReviewShown::of(run_id, scope, baseline_id, item_ids)?;
    let invitees = invitees.into_iter().map(|ReviewInvitee { email, full_name, organisation }| InvitedReviewer {
        email,
        full_name,
        organisation,
    });
    let message = message.unwrap_or(Message(None));
    let input = ReviewInvitationRequest { invitees: invitees.collect(), permission, shown, message, expires_at, first };
    let (caller, project_id) = (request.access.caller, request.access.resource.id);
    let items = operations::create(&state, caller, project_id, input, request.request_id).await?;
    Ok(Reply::created(ProjectReviewInvitations { items }))
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

pub async fn accept(
    request: Authorized<Public, ByReviewLink<ValidJson<AcceptReviewInvitation>>>,
    state: Reviews,
) -> Result<NotReplayable<ProjectReviewAccess>, ApiError> {
    let ByReviewLink { token, input: ValidJson(AcceptReviewInvitation { full_name }) } = request.input;
    let accepted = answering::accept(&state, &token, full_name).await?;
    Ok(NotReplayable(Reply::ok(accepted)))
}
