//! HTTP handlers of meetings and their lifecycle, with the bodies and queries they accept.

use actors::meeting::{ConsentPolicy, MeetingStatus};
use actors::time::LocalTime;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::operations;
use super::store::Filter;
use crate::access::policy::{Analyst, Attendee, Host, Member};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::answer::Versioned;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::list::{Listing, Search};
use crate::http::version::IfMatch;
use crate::meetings::MeetingSnapshot;
use crate::meetings::model::{ClosingNote, MeetingDetails, MeetingListItem, MeetingView, Title};
use crate::meetings::state::Meetings;
use crate::projects::model::{Description, Project};

/// A meeting to schedule.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMeeting {
    pub title: Title,
    /// Default: none.
    pub description: Option<Description>,
    /// When the meeting is to take place; it may lie in the past. RFC 3339, with any offset.
    pub scheduled_at: LocalTime,
    /// Default: ALL.
    pub consent_policy: Option<ConsentPolicy>,
}

impl Body for CreateMeeting {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let title = fields.required("title");
        let description = fields.optional("description");
        let scheduled_at = fields.required("scheduledAt");
        let consent_policy = fields.optional("consentPolicy");
        Ok(Self {
            title: title?,
            description: description?,
            scheduled_at: scheduled_at?,
            consent_policy: consent_policy?,
        })
    }
}

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

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "status" | "search")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let search = fields.optional("search");
        Ok(Self { status: status?, search: search? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![
            query_parameter("status", "Return only meetings with this status.", MeetingStatus::schema()),
            Search::parameter("Return only meetings whose title contains this text."),
        ]
    }
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

/// The changes to a meeting: at least one of the three. Absent keys stay as they are.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct UpdateMeeting {
    /// The new title; absent: unchanged. It can't be null.
    #[schema(nullable = false)]
    pub title: Option<Title>,
    /// The new description; absent: unchanged; null: none.
    pub description: Option<Description>,
    /// When the meeting is to take place; it may lie in the past. RFC 3339, with any offset. Invitations expire with
    /// it.
    #[schema(nullable = false)]
    pub scheduled_at: Option<LocalTime>,
}

impl Body for UpdateMeeting {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let title = fields.replaced("title");
        let description = fields.patch("description");
        let scheduled_at = fields.replaced("scheduledAt");
        if is_empty {
            return Err(fields.reject("Name at least one field to change."));
        }
        Ok(Self { title: title?, description: description?.or_empty(), scheduled_at: scheduled_at? })
    }
}

pub async fn update(
    request: Authorized<Host<MeetingSnapshot>, IfMatch<ValidJson<UpdateMeeting>>>,
    state: Meetings,
) -> Result<Versioned<MeetingView>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let changed = operations::update(&state, &request.access.resource, body, version, request.request_id).await?;
    Ok(meeting(&changed, &state))
}

/// The reason for which a meeting is cancelled or ended.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Why {
    reason: Option<ClosingNote>,
}

impl Body for Why {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { reason: fields.optional("reason")? })
    }
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
