//! HTTP handlers of meetings and their lifecycle.

use super::bodies::{CreateMeeting, Filter, UpdateMeeting, Why};
use super::operations;
use crate::access::policy::{Analyst, Attendee, Host, Member};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::answer::Versioned;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::http::version::IfMatch;
use crate::meetings::MeetingSnapshot;
use crate::meetings::model::{MeetingDetails, MeetingListItem, MeetingView};
use crate::meetings::state::Meetings;
use crate::projects::model::Project;

pub async fn create(
    request: Authorized<Analyst<Project>, WithClient<ValidJson<CreateMeeting>>>,
    state: Meetings,
) -> Result<Versioned<MeetingDetails>, ApiError> {
    let id = request.new_id();
    let WithClient { input: ValidJson(body), agent } = request.input;
    let made = operations::create(&state, request.access.caller, &request.access.resource, id, body).await?;
    let details = MeetingDetails::of(&made, request.access.caller.into(), &state, &agent);
    Ok(Reply::created(details).version(made.version))
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<Listing<Filter>>>,
    state: Meetings,
) -> Result<Reply<List<MeetingListItem>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.id, listing).await.map(Reply::ok)
}

pub async fn details(
    request: Authorized<Attendee<MeetingSnapshot>, WithClient<Empty>>,
    state: Meetings,
) -> Result<Versioned<MeetingDetails>, ApiError> {
    let details =
        MeetingDetails::of(&request.access.resource.state, request.access.caller, &state, &request.input.agent);
    let version = details.version;
    Ok(Reply::ok(details).version(version))
}

pub async fn update(
    request: Authorized<Host<MeetingSnapshot>, IfMatch<ValidJson<UpdateMeeting>>>,
    state: Meetings,
) -> Result<Versioned<MeetingView>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let changed = operations::update(&state, &request.access.resource, body, version, request.request_id).await?;
    Ok(meeting(&changed, &state))
}

pub async fn cancel(
    request: Authorized<Host<MeetingSnapshot>, ValidJson<Why>>,
    state: Meetings,
) -> Result<Versioned<MeetingView>, ApiError> {
    let ValidJson(why) = request.input;
    let cancelled =
        operations::cancel(&state, &request.access.resource, request.access.caller, why.reason, request.request_id)
            .await?;
    Ok(meeting(&cancelled, &state))
}

pub async fn start(
    request: Authorized<Host<MeetingSnapshot>, Empty>,
    state: Meetings,
) -> Result<Versioned<MeetingView>, ApiError> {
    let started =
        operations::start(&state, &request.access.resource, request.access.caller, request.request_id).await?;
    Ok(meeting(&started, &state))
}

pub async fn end(
    request: Authorized<Host<MeetingSnapshot>, ValidJson<Why>>,
    state: Meetings,
) -> Result<Versioned<MeetingView>, ApiError> {
    let ValidJson(why) = request.input;
    let ended =
        operations::end(&state, &request.access.resource, request.access.caller, why.reason, request.request_id)
            .await?;
    Ok(meeting(&ended, &state))
}

fn meeting(changed: &MeetingSnapshot, state: &Meetings) -> Versioned<MeetingView> {
    Reply::ok(MeetingView::of(&changed.state, &state.url)).version(changed.state.version)
}
