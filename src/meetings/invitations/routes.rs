//! HTTP handlers of meeting invitations.

use actix_web::HttpRequest;
use actors::meeting::MeetingRole;

use super::InvitationWithMeeting;
use super::bodies::{AcceptInvitation, Filter, GuestInvitee, InviteGuests, InviteParticipants, ParticipantInvitee};
use super::model::{AcceptedInvitation, InvitationPreview, Invitee, MeetingInvitation, MeetingInvitations, Message};
use super::operations::{self, InvitationRequest};
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{Anyone, Host, Public};
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Described, Empty, Input, Raw, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::http::mounted::{Mounted, Need};
use crate::meetings::MeetingSnapshot;
use crate::meetings::state::Meetings;

pub async fn invite_participants(
    request: Authorized<Host<MeetingSnapshot>, ValidJson<InviteParticipants>>,
    state: Meetings,
) -> Result<Reply<MeetingInvitations>, ApiError> {
    let first = request.new_id();
    let ValidJson(InviteParticipants { invitees, message }) = request.input;
    let invitees = invitees.into_iter().map(|ParticipantInvitee { user_id, role }| Invitee::Member {
        user_id,
        role: role.unwrap_or(MeetingRole::Participant),
    });
    let input = InvitationRequest {
        invitees: invitees.collect(),
        message: message.unwrap_or(Message(None)),
        expires_at: None,
        first,
    };
    let items =
        operations::invite(&state, request.access.caller, &request.access.resource, input, request.request_id).await?;
    Ok(Reply::created(MeetingInvitations { items }))
}

pub async fn invite_guests(
    request: Authorized<Host<MeetingSnapshot>, ValidJson<InviteGuests>>,
    state: Meetings,
) -> Result<Reply<MeetingInvitations>, ApiError> {
    let first = request.new_id();
    let ValidJson(InviteGuests { invitees, message, expires_at }) = request.input;
    let invitees = invitees.into_iter().map(|GuestInvitee { email, display_name, role }| Invitee::Guest {
        email,
        display_name,
        role: role.unwrap_or(MeetingRole::Participant),
    });
    let input = InvitationRequest {
        invitees: invitees.collect(),
        message: message.unwrap_or(Message(None)),
        expires_at,
        first,
    };
    let items =
        operations::invite(&state, request.access.caller, &request.access.resource, input, request.request_id).await?;
    Ok(Reply::created(MeetingInvitations { items }))
}

pub async fn list(
    request: Authorized<Host<MeetingSnapshot>, ValidQuery<Listing<Filter>>>,
    state: Meetings,
) -> Result<Reply<List<MeetingInvitation>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.state.id, listing).await.map(Reply::ok)
}

pub async fn preview(
    request: Authorized<Public, OneTimeToken>,
    state: Meetings,
) -> Result<Reply<InvitationPreview>, ApiError> {
    operations::preview(&state, &request.input).await.map(Reply::ok)
}

/// The `{token}` of the path, together with the input `I`.
pub struct ByLink<I> {
    token: OneTimeToken,
    input: I,
}

impl<I: Input> Input for ByLink<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let token = OneTimeToken::take(request, Raw::Bytes(bytes::Bytes::new())).await?;
        // An invalid link is reported before the body is read.
        operations::must_lead(&Meetings::of(request)?, &token).await?;
        Ok(Self { token, input: I::take(request, body).await? })
    }
    fn needs() -> Vec<Need> {
        vec![Need::of::<Meetings>()]
    }
    fn describe() -> Described {
        I::describe()
    }
}

pub async fn accept(
    request: Authorized<Anyone, ByLink<ValidJson<AcceptInvitation>>>,
    state: Meetings,
) -> Result<NotReplayable<AcceptedInvitation>, ApiError> {
    let ByLink { token, input: ValidJson(AcceptInvitation { display_name }) } = request.input;
    let accepted = operations::accept(&state, &token, request.access.caller, display_name, request.request_id).await?;
    Ok(NotReplayable(Reply::ok(accepted)))
}

pub async fn decline(request: Authorized<Anyone, OneTimeToken>, state: Meetings) -> Result<Reply<Nothing>, ApiError> {
    operations::decline(&state, &request.input, request.access.caller, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn resend(
    request: Authorized<Host<InvitationWithMeeting>, Empty>,
    state: Meetings,
) -> Result<Reply<MeetingInvitation>, ApiError> {
    let id = request.access.resource.invitation.id;
    let sent = operations::resend(&state, request.access.caller, id, request.request_id).await?;
    Ok(Reply::ok(sent))
}

pub async fn revoke(
    request: Authorized<Host<InvitationWithMeeting>, Empty>,
    state: Meetings,
) -> Result<Reply<Nothing>, ApiError> {
    let InvitationWithMeeting { meeting, invitation } = request.access.resource;
    operations::revoke(&state, &meeting, &invitation, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
