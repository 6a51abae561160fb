//! Invitations to meetings: bodies in, answers out.

use actix_web::HttpRequest;
use actors::ids::{Id, User};
use actors::time::Time;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Invitation;
use super::model::{
    AcceptedInvitation, InvitationPreview, InvitationStatus, Invitee, InviteeType, MeetingInvitation,
    MeetingInvitations, Message,
};
use super::operations::{self, Asked as Asking};
use super::store::Filter;
use crate::access::guard::{Anyone, Host, Public};
use crate::access::one_time::OneTimeToken;
use crate::accounts::model::Email;
use crate::api::operation::Allowed;
use crate::http::answer::Unkept;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Body, Described, Empty, Input, Query, Raw, Valid, query_parameter};
use crate::http::mounted::{Mounted, Need};
use crate::http::page::{Page, Search};
use crate::meetings::Meeting;
use crate::meetings::model::MeetingRole;
use crate::meetings::participants::model::DisplayName;
use crate::meetings::state::Meetings;

/// How many are asked by one call.
const MOST: usize = 100;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ParticipantInvitee {
    /// Of a member of the project.
    #[schema(value_type = uuid::Uuid)]
    user_id: Id<User>,
    /// PARTICIPANT unless said; CO_HOST for an ANALYST and above, HOST for nobody.
    role: Option<MeetingRole>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct InviteParticipants {
    #[schema(min_items = 1, max_items = 100)]
    invitees: Vec<ParticipantInvitee>,
    /// Plain text for the mail; nothing in it becomes a link.
    #[schema(value_type = Option<String>, max_length = 1000)]
    message: Option<Message>,
}

impl Body for InviteParticipants {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let invitees = fields.objects("invitees", MOST, |item| {
            let user_id = item.required("userId");
            let role = item.optional("role");
            Ok(ParticipantInvitee { user_id: user_id?, role: role? })
        });
        let message = fields.optional("message");
        Ok(Self { invitees: invitees?, message: message? })
    }
}

pub async fn invite_participants(
    may: Allowed<Host<Meeting>, Valid<InviteParticipants>>,
    state: Meetings,
) -> Result<Reply<MeetingInvitations>, Failure> {
    let first = may.drawn();
    let Valid(InviteParticipants { invitees, message }) = may.input;
    let invitees = invitees.into_iter().map(|ParticipantInvitee { user_id, role }| Invitee::Member {
        user_id,
        role: role.unwrap_or(MeetingRole::Participant).into(),
    });
    let asked =
        Asking { invitees: invitees.collect(), message: message.unwrap_or(Message(None)), expires_at: None, first };
    let items = operations::invite(&state, may.by.caller, &may.by.thing, asked, may.request).await?;
    Ok(Reply::created(MeetingInvitations { items }))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct GuestInvitee {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    display_name: Option<DisplayName>,
    /// PARTICIPANT unless said, or OBSERVER.
    role: Option<MeetingRole>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct InviteGuests {
    #[schema(min_items = 1, max_items = 100)]
    invitees: Vec<GuestInvitee>,
    /// Plain text for the mail; nothing in it becomes a link.
    #[schema(value_type = Option<String>, max_length = 1000)]
    message: Option<Message>,
    /// In the next 90 days. Without it: a week, or until the day after the meeting, and moving with it.
    #[schema(value_type = Option<chrono::DateTime<chrono::Utc>>)]
    expires_at: Option<Time>,
}

impl Body for InviteGuests {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let invitees = fields.objects("invitees", MOST, |item| {
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
    may: Allowed<Host<Meeting>, Valid<InviteGuests>>,
    state: Meetings,
) -> Result<Reply<MeetingInvitations>, Failure> {
    let first = may.drawn();
    let Valid(InviteGuests { invitees, message, expires_at }) = may.input;
    let invitees = invitees.into_iter().map(|GuestInvitee { email, display_name, role }| Invitee::Guest {
        email,
        display_name,
        role: role.unwrap_or(MeetingRole::Participant).into(),
    });
    let asked = Asking { invitees: invitees.collect(), message: message.unwrap_or(Message(None)), expires_at, first };
    let items = operations::invite(&state, may.by.caller, &may.by.thing, asked, may.request).await?;
    Ok(Reply::created(MeetingInvitations { items }))
}

pub struct ListInvitations {
    filter: Filter,
    page: Page,
}

impl Query for ListInvitations {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status", "inviteeType", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let status = fields.optional("status");
        let invitee_type = fields.optional("inviteeType");
        let search = fields.optional::<Search>("search");
        let page = Page::read_from(fields);
        let filter = Filter { status: status?, invitee_type: invitee_type?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("status", "Only invitations of this status.", InvitationStatus::schema()));
        parameters.push(query_parameter("inviteeType", "Only members, or only guests.", InviteeType::schema()));
        parameters.push(Search::parameter("Only those whose name or address has this."));
        parameters
    }
}

pub async fn list(
    may: Allowed<Host<Meeting>, Asked<ListInvitations>>,
    state: Meetings,
) -> Result<Reply<List<MeetingInvitation>>, Failure> {
    let Asked(asked) = may.input;
    operations::list(&state, may.by.thing.state.id, asked.filter, asked.page).await.map(Reply::ok)
}

pub async fn preview(may: Allowed<Public, OneTimeToken>, state: Meetings) -> Result<Reply<InvitationPreview>, Failure> {
    operations::preview(&state, &may.input).await.map(Reply::ok)
}

/// The `{token}` of the path, with what else comes.
pub struct ByLink<I> {
    token: OneTimeToken,
    input: I,
}

impl<I: Input> Input for ByLink<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        let token = OneTimeToken::take(request, Raw::Bytes(bytes::Bytes::new())).await?;
        // Whether the link leads anywhere is told before the body is looked at.
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

/// How to be called in the meeting; without it, as the invitation or the account has it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AcceptInvitation {
    #[schema(value_type = Option<String>, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    display_name: Option<DisplayName>,
}

impl Body for AcceptInvitation {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { display_name: fields.optional("displayName")? })
    }
}

pub async fn accept(
    may: Allowed<Anyone, ByLink<Valid<AcceptInvitation>>>,
    state: Meetings,
) -> Result<Unkept<AcceptedInvitation>, Failure> {
    let ByLink { token, input: Valid(AcceptInvitation { display_name }) } = may.input;
    let accepted = operations::accept(&state, &token, may.by.caller, display_name, may.request).await?;
    Ok(Unkept(Reply::ok(accepted)))
}

pub async fn decline(may: Allowed<Anyone, OneTimeToken>, state: Meetings) -> Result<Reply<Nothing>, Failure> {
    operations::decline(&state, &may.input, may.by.caller, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn resend(
    may: Allowed<Host<Invitation>, Empty>,
    state: Meetings,
) -> Result<Reply<MeetingInvitation>, Failure> {
    let id = may.by.thing.invitation.id;
    let sent = operations::resend(&state, may.by.caller, id, may.request).await?;
    Ok(Reply::ok(sent))
}

pub async fn revoke(may: Allowed<Host<Invitation>, Empty>, state: Meetings) -> Result<Reply<Nothing>, Failure> {
    let Invitation { meeting, invitation } = may.by.thing;
    operations::revoke(&state, &meeting, &invitation, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}
