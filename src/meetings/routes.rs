//! HTTP handlers of meetings and their lifecycle, with the bodies and queries they accept.

use actors::time::Time;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::model::{ClosingNote, ConsentPolicy, Meeting, MeetingDetails, MeetingListItem, MeetingStatus, Title};
use super::operations::{self, NewMeeting, Update};
use super::store::Filter;
use crate::access::policy::{Analyst, Attendee, Host, Member};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::page::{PageQuery, Search};
use crate::http::version::IfMatch;
use crate::meetings::state::Meetings;
use crate::projects::model::{Description, Project};

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMeeting {
    #[schema(value_type = String, min_length = 1, max_length = 200, example = "Discovery with the clinic", pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    title: Title,
    #[schema(value_type = Option<String>, max_length = 5000)]
    description: Option<Description>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    scheduled_at: Time,
    consent_policy: Option<ConsentPolicy>,
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
) -> Result<Reply<MeetingDetails>, ApiError> {
    let id = request.new_id();
    let WithClient { input: ValidJson(body), agent } = request.input;
    let new = NewMeeting {
        id,
        title: body.title,
        description: body.description.unwrap_or_default(),
        scheduled_at: body.scheduled_at,
        consent_policy: body.consent_policy.unwrap_or(ConsentPolicy::All),
    };
    let made = operations::create(&state, request.principal.caller, &request.principal.resource, new).await?;
    let details = MeetingDetails::of(&made, request.principal.caller.into(), &state, &agent);
    Ok(Reply::created(details).version(made.version))
}

pub struct ListMeetings {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListMeetings {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let search = fields.optional::<Search>("search");
        let page = PageQuery::read_from(fields);
        let filter = Filter { status: status?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.push(query_parameter("status", "Only meetings of this status.", MeetingStatus::schema()));
        parameters.push(Search::parameter("Only meetings whose title has this."));
        parameters
    }
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<ListMeetings>>,
    state: Meetings,
) -> Result<Reply<List<MeetingListItem>>, ApiError> {
    let ValidQuery(asked) = request.input;
    operations::list(&state, request.principal.resource.id, asked.filter, asked.page).await.map(Reply::ok)
}

pub async fn details(
    request: Authorized<Attendee<super::Meeting>, WithClient<Empty>>,
    state: Meetings,
) -> Result<Reply<MeetingDetails>, ApiError> {
    let details =
        MeetingDetails::of(&request.principal.resource.state, request.principal.caller, &state, &request.input.agent);
    let version = details.version;
    Ok(Reply::ok(details).version(version))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct UpdateMeeting {
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 200, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    title: Option<Title>,
    #[schema(value_type = Option<String>, max_length = 5000)]
    description: Option<Description>,
    #[schema(value_type = Option<chrono::DateTime<chrono::Utc>>, nullable = false)]
    scheduled_at: Option<Time>,
}

impl Body for UpdateMeeting {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let title = fields.replaced("title");
        let description = fields.patch("description");
        let scheduled_at = fields.replaced("scheduledAt");
        if is_empty {
            return Err(fields.wrong("Name at least one field to change."));
        }
        Ok(Self { title: title?, description: description?.or_empty(), scheduled_at: scheduled_at? })
    }
}

pub async fn update(
    request: Authorized<Host<super::Meeting>, IfMatch<ValidJson<UpdateMeeting>>>,
    state: Meetings,
) -> Result<Reply<Meeting>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let update = Update { title: body.title, description: body.description, scheduled_at: body.scheduled_at, version };
    operations::update(&state, &request.principal.resource, update, request.request_id)
        .await
        .map(|changed| meeting(&changed, &state))
}

/// The reason for which a meeting is cancelled or ended.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Why {
    #[schema(value_type = Option<String>, min_length = 1, max_length = 1000)]
    reason: Option<ClosingNote>,
}

impl Body for Why {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { reason: fields.optional("reason")? })
    }
}

pub async fn cancel(
    request: Authorized<Host<super::Meeting>, ValidJson<Why>>,
    state: Meetings,
) -> Result<Reply<Meeting>, ApiError> {
    let ValidJson(why) = request.input;
    let cancelled = operations::cancel(
        &state,
        &request.principal.resource,
        request.principal.caller,
        why.reason,
        request.request_id,
    )
    .await?;
    Ok(meeting(&cancelled, &state))
}

pub async fn start(
    request: Authorized<Host<super::Meeting>, Empty>,
    state: Meetings,
) -> Result<Reply<Meeting>, ApiError> {
    let started =
        operations::start(&state, &request.principal.resource, request.principal.caller, request.request_id).await?;
    Ok(meeting(&started, &state))
}

pub async fn end(
    request: Authorized<Host<super::Meeting>, ValidJson<Why>>,
    state: Meetings,
) -> Result<Reply<Meeting>, ApiError> {
    let ValidJson(why) = request.input;
    let ended =
        operations::end(&state, &request.principal.resource, request.principal.caller, why.reason, request.request_id)
            .await?;
    Ok(meeting(&ended, &state))
}

fn meeting(changed: &super::Meeting, state: &Meetings) -> Reply<Meeting> {
    Reply::ok(Meeting::of(&changed.state, &state.url)).version(changed.state.version)
}
