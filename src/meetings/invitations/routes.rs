//! HTTP handlers of meeting invitations, with the bodies and queries they accept.

use actix_web::HttpRequest;
use actors::ids::{Id, User};
use actors::meeting::MeetingRole;
use actors::time::Time;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::InvitationWithMeeting;
use super::model::{
    AcceptedInvitation, InvitationPreview, InvitationStatus, Invitee, InviteeType, MeetingInvitation,
    MeetingInvitations, Message,
};
use super::operations::{self, InvitationRequest};
use super::store::Filter;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{Anyone, Host, Public};
use crate::accounts::model::Email;
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Described, Empty, Input, Query, Raw, ValidJson, ValidQuery, query_parameter};
use crate::http::list::{Listing, Search};
use crate::http::mounted::{Mounted, Need};
use crate::meetings::MeetingSnapshot;
use crate::meetings::participants::model::DisplayName;
use crate::meetings::state::Meetings;

/// The largest number of invitees in one request.
const MOST: usize = 100;

/// A member of the project to invite.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ParticipantInvitee {
    /// The id of a member of the project.
    user_id: Id<User>,
    /// `PARTICIPANT` by default. `CO_HOST` requires the project role `ANALYST` or above; `HOST` is refused.
    role: Option<MeetingRole>,
}

/// Members of the project to invite.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct InviteParticipants {
    /// 1–100 members of the project, each mailed a link. All or none of them are invited.
    #[schema(min_items = 1, max_items = 100)]
    invitees: Vec<ParticipantInvitee>,
    /// Plain text for the e-mail; nothing in it becomes a link.
    message: Option<Message>,
}

impl Body for InviteParticipants {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let invitees = fields.objects("invitees", 1..=MOST, |item| {
            let user_id = item.required("userId");
            let role = item.optional("role");
            Ok(ParticipantInvitee { user_id: user_id?, role: role? })
        });
        let message = fields.optional("message");
        Ok(Self { invitees: invitees?, message: message? })
    }
}

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

/// A person to invite by e-mail.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct GuestInvitee {
    email: Email,
    display_name: Option<DisplayName>,
    /// `PARTICIPANT` (the default) or `OBSERVER`.
    role: Option<MeetingRole>,
}

/// People to invite by e-mail.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct InviteGuests {
    /// 1–100 people, each mailed a link of their own. All or none of them are invited.
    #[schema(min_items = 1, max_items = 100)]
    invitees: Vec<GuestInvitee>,
    /// Plain text for the e-mail; nothing in it becomes a link.
    message: Option<Message>,
    /// Within the next 90 days. By default a week, or until the day after the meeting if that is later; the default
    /// moves with the meeting.
    expires_at: Option<Time>,
}

impl Body for InviteGuests {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let invitees = fields.objects("invitees", 1..=MOST, |item| {
            let email = item.required("email");
            let display_name = item.optional("displayName");
            let role = item.optional("role");
            Ok(GuestInvitee { email: email?, display_name: display_name?, role: role? })
        });
        let message = fields.optional("message");
        let expires_at = fields.optional("expiresAt");
        Ok(Self { invitees: invitees?, message: message?, expires_at: expires_at? })
    }
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

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "status" | "inviteeType" | "search")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let invitee_type = fields.optional("inviteeType");
        let search = fields.optional("search");
        Ok(Self { status: status?, invitee_type: invitee_type?, search: search? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![
            query_parameter("status", "Return only invitations with this status.", InvitationStatus::schema()),
            query_parameter(
                "inviteeType",
                "Return only invitations of project members, or only those of guests.",
                InviteeType::schema(),
            ),
            Search::parameter("Return only invitations whose name or e-mail address contains this text."),
        ]
    }
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

/// The name to use in the meeting. Without it, the name of the invitation or of the account is used.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AcceptInvitation {
    display_name: Option<DisplayName>,
}

impl Body for AcceptInvitation {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { display_name: fields.optional("displayName")? })
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
