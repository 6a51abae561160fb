//! Participants: bodies in, answers out.

use actors::meeting::Meeting as State;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Someone;
use super::model::{DisplayName, ParticipantStatus, SeenParticipant, Viewer};
use super::operations::{self, Filter, Joining};
use crate::access::caller::Visitor;
use crate::access::guard::{Attendee, Host, Participant};
use crate::access::role::Standing;
use crate::api::operation::Allowed;
use crate::http::code::Code;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Body, Empty, Query, Valid, query_parameter};
use crate::http::page::{Page, Search};
use crate::meetings::state::Meetings;
use crate::meetings::{Meeting, place_of};

/// How to be called in the meeting; without it, as before, or as in the account.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct JoinMeeting {
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    display_name: Option<DisplayName>,
}

impl Body for JoinMeeting {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { display_name: fields.optional("displayName")? })
    }
}

pub async fn join(
    may: Allowed<Attendee<Meeting>, Valid<JoinMeeting>>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, Failure> {
    let place = may.drawn();
    let Valid(body) = may.input;
    let joining = Joining { place, display_name: body.display_name };
    let joined = operations::join(&state, &may.by.thing, may.by.caller, joining, may.request).await?;
    own(&joined, may.by.caller, may.by.standing).map(Reply::ok)
}

pub async fn leave(
    may: Allowed<Participant<Meeting>, Empty>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, Failure> {
    let own_id = own(&may.by.thing, may.by.caller, may.by.standing)?.participant.id;
    let left = operations::leave(&state, &may.by.thing, own_id, may.request).await?;
    own(&left, may.by.caller, may.by.standing).map(Reply::ok)
}

/// The caller's own place.
fn own(meeting: &Meeting, caller: Visitor, standing: Standing) -> Result<SeenParticipant, Failure> {
    let state: &State = &meeting.state;
    let own = place_of(state, caller).ok_or_else(|| Failure::of(Code::FORBIDDEN))?;
    Ok(SeenParticipant::of(state.id, own, Viewer { visitor: caller, standing }))
}

pub struct ListParticipants {
    filter: Filter,
    page: Page,
}

impl Query for ListParticipants {
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
        parameters.push(query_parameter("status", "Only participants of this status.", ParticipantStatus::schema()));
        parameters.push(Search::parameter("Only participants whose name has this."));
        parameters
    }
}

pub async fn list(
    may: Allowed<Attendee<Meeting>, Asked<ListParticipants>>,
    _: Meetings,
) -> Result<Reply<List<SeenParticipant>>, Failure> {
    let Asked(asked) = may.input;
    let viewer = Viewer { visitor: may.by.caller, standing: may.by.standing };
    Ok(Reply::ok(operations::list(&may.by.thing, viewer, &asked.filter, asked.page)))
}

pub async fn remove(may: Allowed<Host<Someone>, Empty>, state: Meetings) -> Result<Reply<Nothing>, Failure> {
    let Someone { meeting, id } = may.by.thing;
    operations::remove(&state, &meeting, id, may.by.caller, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}
