//! Meetings and Lifecycle: bodies in, answers out.

use actors::time::Time;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::model::{ConsentPolicy, Meeting, MeetingDetails, MeetingListItem, MeetingStatus, Reason, Title};
use super::operations::{self, NewMeeting, Update};
use super::store::Filter;
use crate::access::guard::{Analyst, Attendee, Host, Member};
use crate::api::operation::Allowed;
use crate::http::agent::Sent;
use crate::http::envelope::{List, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Body, Empty, Query, Valid, query_parameter};
use crate::http::page::{Page, Search};
use crate::http::version::Matching;
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
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
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
    may: Allowed<Analyst<Project>, Sent<Valid<CreateMeeting>>>,
    state: Meetings,
) -> Result<Reply<MeetingDetails>, Failure> {
    let id = may.drawn();
    let Sent { input: Valid(body), agent } = may.input;
    let new = NewMeeting {
        id,
        title: body.title,
        description: body.description.unwrap_or_default(),
        scheduled_at: body.scheduled_at,
        consent_policy: body.consent_policy.unwrap_or(ConsentPolicy::All),
    };
    let made = operations::create(&state, may.by.caller, &may.by.thing, new).await?;
    let details = MeetingDetails::of(&made, may.by.caller.into(), &state, &agent);
    Ok(Reply::created(details).version(made.version))
}

pub struct ListMeetings {
    filter: Filter,
    page: Page,
}

impl Query for ListMeetings {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let status = fields.optional("status");
        let search = fields.optional::<Search>("search");
        let page = Page::read_from(fields);
        let filter = Filter { status: status?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("status", "Only meetings of this status.", MeetingStatus::schema()));
        parameters.push(Search::parameter("Only meetings whose title has this."));
        parameters
    }
}

pub async fn list(
    may: Allowed<Member<Project>, Asked<ListMeetings>>,
    state: Meetings,
) -> Result<Reply<List<MeetingListItem>>, Failure> {
    let Asked(asked) = may.input;
    operations::list(&state, may.by.thing.id, asked.filter, asked.page).await.map(Reply::ok)
}

pub async fn details(
    may: Allowed<Attendee<super::Meeting>, Sent<Empty>>,
    state: Meetings,
) -> Result<Reply<MeetingDetails>, Failure> {
    let details = MeetingDetails::of(&may.by.thing.state, may.by.caller, &state, &may.input.agent);
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
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
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
    may: Allowed<Host<super::Meeting>, Matching<Valid<UpdateMeeting>>>,
    state: Meetings,
) -> Result<Reply<Meeting>, Failure> {
    let Matching { input: Valid(body), version } = may.input;
    let update = Update { title: body.title, description: body.description, scheduled_at: body.scheduled_at, version };
    operations::update(&state, &may.by.thing, update, may.request).await.map(|changed| meeting(&changed, &state))
}

/// The body of what ends a meeting.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Why {
    #[schema(value_type = Option<String>, min_length = 1, max_length = 1000)]
    reason: Option<Reason>,
}

impl Body for Why {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { reason: fields.optional("reason")? })
    }
}

pub async fn cancel(
    may: Allowed<Host<super::Meeting>, Valid<Why>>,
    state: Meetings,
) -> Result<Reply<Meeting>, Failure> {
    let Valid(why) = may.input;
    let cancelled = operations::cancel(&state, &may.by.thing, may.by.caller, why.reason, may.request).await?;
    Ok(meeting(&cancelled, &state))
}

pub async fn start(may: Allowed<Host<super::Meeting>, Empty>, state: Meetings) -> Result<Reply<Meeting>, Failure> {
    let started = operations::start(&state, &may.by.thing, may.by.caller, may.request).await?;
    Ok(meeting(&started, &state))
}

pub async fn end(may: Allowed<Host<super::Meeting>, Valid<Why>>, state: Meetings) -> Result<Reply<Meeting>, Failure> {
    let Valid(why) = may.input;
    let ended = operations::end(&state, &may.by.thing, may.by.caller, why.reason, may.request).await?;
    Ok(meeting(&ended, &state))
}

fn meeting(changed: &super::Meeting, state: &Meetings) -> Reply<Meeting> {
    Reply::ok(Meeting::of(&changed.state, &state.url)).version(changed.state.version)
}
