//! HTTP handlers of participants, with the bodies and queries they accept.

use actors::meeting::Meeting;
use actors::meeting::ParticipantStatus;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Someone;
use super::model::{DisplayName, ParticipantViewer, SeenParticipant};
use super::operations::{self, Filter};
use crate::access::policy::{Attendee, Host, Participant};
use crate::access::principal::Principal;
use crate::access::role::Relation;
use crate::api::operation::Authorized;
use crate::http::code::Code;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::list::{Listing, Search};
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, participant_of};

/// The name to use in the meeting. Without it, the caller's former name in the meeting is used, else that of their
/// account.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct JoinMeeting {
    display_name: Option<DisplayName>,
}

impl Body for JoinMeeting {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { display_name: fields.optional("displayName")? })
    }
}

pub async fn join(
    request: Authorized<Attendee<MeetingSnapshot>, ValidJson<JoinMeeting>>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, ApiError> {
    let participant_id = request.new_id();
    let ValidJson(body) = request.input;
    let (meeting, caller) = (&request.access.resource, request.access.caller);
    let joined =
        operations::join(&state, meeting, caller, participant_id, body.display_name, request.request_id).await?;
    own(&joined, caller, request.access.relation).map(Reply::ok)
}

pub async fn leave(
    request: Authorized<Participant<MeetingSnapshot>, Empty>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, ApiError> {
    let own_id = own(&request.access.resource, request.access.caller, request.access.relation)?.participant.id;
    let left = operations::leave(&state, &request.access.resource, own_id, request.request_id).await?;
    own(&left, request.access.caller, request.access.relation).map(Reply::ok)
}

/// Returns the caller's own participant.
fn own(meeting: &MeetingSnapshot, caller: Principal, relation: Relation) -> Result<SeenParticipant, ApiError> {
    let state: &Meeting = &meeting.state;
    let own = participant_of(state, caller).ok_or_else(|| ApiError::of(Code::FORBIDDEN))?;
    Ok(SeenParticipant::of(state.id, own, ParticipantViewer { principal: caller, relation }))
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
            query_parameter("status", "Return only participants with this status.", ParticipantStatus::schema()),
            Search::parameter("Return only participants whose name contains this text."),
        ]
    }
}

pub async fn list(
    request: Authorized<Attendee<MeetingSnapshot>, ValidQuery<Listing<Filter>>>,
    _: Meetings,
) -> Result<Reply<List<SeenParticipant>>, ApiError> {
    let ValidQuery(listing) = request.input;
    let viewer = ParticipantViewer { principal: request.access.caller, relation: request.access.relation };
    Ok(Reply::ok(operations::list(&request.access.resource, viewer, &listing)))
}

pub async fn remove(request: Authorized<Host<Someone>, Empty>, state: Meetings) -> Result<Reply<Nothing>, ApiError> {
    let Someone { meeting, id } = request.access.resource;
    operations::remove(&state, &meeting, id, request.access.caller, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
