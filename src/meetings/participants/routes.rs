//! HTTP handlers of participants.

use actors::meeting::Meeting;

use super::bodies::{Filter, JoinMeeting};
use super::model::{ParticipantViewer, SeenParticipant};
use super::{Someone, operations};
use crate::access::policy::{Attendee, Host, Participant};
use crate::access::principal::Principal;
use crate::access::role::Relation;
use crate::api::operation::Authorized;
use crate::http::code::Code;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, participant_of};

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
