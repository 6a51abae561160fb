//! HTTP handlers of participants, with the bodies and queries they accept.

use actors::meeting::Meeting as State;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Someone;
use super::model::{DisplayName, ParticipantStatus, SeenParticipant, Viewer};
use super::operations::{self, Filter, Joining};
use crate::access::policy::{Attendee, Host, Participant};
use crate::access::principal::Principal;
use crate::access::role::Relation;
use crate::api::operation::Authorized;
use crate::http::code::Code;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::page::{PageQuery, Search};
use crate::meetings::state::Meetings;
use crate::meetings::{Meeting, place_of};

/// The name to use in the meeting. Without it, the caller's former name in the meeting is used, else that of their
/// account.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct JoinMeeting {
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    display_name: Option<DisplayName>,
}

impl Body for JoinMeeting {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { display_name: fields.optional("displayName")? })
    }
}

pub async fn join(
    request: Authorized<Attendee<Meeting>, ValidJson<JoinMeeting>>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, ApiError> {
    let place = request.new_id();
    let ValidJson(body) = request.input;
    let joining = Joining { place, display_name: body.display_name };
    let joined =
        operations::join(&state, &request.principal.resource, request.principal.caller, joining, request.request_id)
            .await?;
    own(&joined, request.principal.caller, request.principal.relation).map(Reply::ok)
}

pub async fn leave(
    request: Authorized<Participant<Meeting>, Empty>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, ApiError> {
    let own_id = own(&request.principal.resource, request.principal.caller, request.principal.relation)?.participant.id;
    let left = operations::leave(&state, &request.principal.resource, own_id, request.request_id).await?;
    own(&left, request.principal.caller, request.principal.relation).map(Reply::ok)
}

/// Returns the caller's own participant.
fn own(meeting: &Meeting, caller: Principal, relation: Relation) -> Result<SeenParticipant, ApiError> {
    let state: &State = &meeting.state;
    let own = place_of(state, caller).ok_or_else(|| ApiError::of(Code::FORBIDDEN))?;
    Ok(SeenParticipant::of(state.id, own, Viewer { principal: caller, relation }))
}

pub struct ListParticipants {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListParticipants {
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
        parameters.push(query_parameter("status", "Only participants of this status.", ParticipantStatus::schema()));
        parameters.push(Search::parameter("Only participants whose name has this."));
        parameters
    }
}

pub async fn list(
    request: Authorized<Attendee<Meeting>, ValidQuery<ListParticipants>>,
    _: Meetings,
) -> Result<Reply<List<SeenParticipant>>, ApiError> {
    let ValidQuery(asked) = request.input;
    let viewer = Viewer { principal: request.principal.caller, relation: request.principal.relation };
    Ok(Reply::ok(operations::list(&request.principal.resource, viewer, &asked.filter, asked.page)))
}

pub async fn remove(request: Authorized<Host<Someone>, Empty>, state: Meetings) -> Result<Reply<Nothing>, ApiError> {
    let Someone { meeting, id } = request.principal.resource;
    operations::remove(&state, &meeting, id, request.principal.caller, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
