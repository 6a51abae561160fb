//! The bodies and queries of requests about invitations to meetings.

use actors::ids::{Id, User};
use actors::meeting::MeetingRole;
use actors::time::Time;
use utoipa::ToSchema;

use super::model::{InvitationStatus, InviteeType, Message};
use crate::accounts::model::Email;
use crate::http::input::{Body, Query};
use crate::http::list::Search;
use crate::meetings::participants::model::DisplayName;

/// A member of the project to invite.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ParticipantInvitee {
    /// The id of a member of the project.
    pub user_id: Id<User>,
    /// `PARTICIPANT` by default. `CO_HOST` requires the project role `ANALYST` or above; `HOST` is refused.
    pub role: Option<MeetingRole>,
}

/// Members of the project to invite.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct InviteParticipants {
    /// 1–100 members of the project, each mailed a link. All or none of them are invited.
    #[schema(min_items = 1, max_items = 100)]
    #[body(objects)]
    pub invitees: Vec<ParticipantInvitee>,
    /// Plain text for the e-mail; nothing in it becomes a link.
    pub message: Option<Message>,
}

/// A person to invite by e-mail.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct GuestInvitee {
    pub email: Email,
    pub display_name: Option<DisplayName>,
    /// `PARTICIPANT` (the default) or `OBSERVER`.
    pub role: Option<MeetingRole>,
}

/// People to invite by e-mail.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct InviteGuests {
    /// 1–100 people, each mailed a link of their own. All or none of them are invited.
    #[schema(min_items = 1, max_items = 100)]
    #[body(objects)]
    pub invitees: Vec<GuestInvitee>,
    /// Plain text for the e-mail; nothing in it becomes a link.
    pub message: Option<Message>,
    /// Within the next 90 days. By default a week, or until the day after the meeting if that is later; the default
    /// moves with the meeting.
    pub expires_at: Option<Time>,
}

/// Which invitations of a meeting are listed.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only invitations with this status.
    pub status: Option<InvitationStatus>,
    /// Return only invitations of project members, or only those of guests.
    pub invitee_type: Option<InviteeType>,
    /// Return only invitations whose name or e-mail address contains this text.
    pub search: Option<Search>,
}

/// The name to use in the meeting. Without it, the name of the invitation or of the account is used.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct AcceptInvitation {
    pub display_name: Option<DisplayName>,
}
