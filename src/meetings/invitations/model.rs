//! The types of meeting invitations, and the rules of their lifecycle.
//!
//! ```text
//!   PENDING --accept--> ACCEPTED --revoke--> REVOKED
//!    ^  | `--decline--> DECLINED                ^
//!    |  `-----revoke, or the meeting is cancelled
//!  resend
//!    `-- EXPIRED <--time-- PENDING
//! ```
//! Expiry is derived from the clock and never stored as a status.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, MeetingRole};
use actors::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::role::ProjectRole;
use crate::accounts::model::Email;
use crate::http::enumeration::wire_enum;
use crate::http::fields::{Field, InvalidValue, text};
use crate::meetings::participants::model::{DisplayName, SeenParticipant};

pub use crate::projects::people::model::InvitationStatus;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// An invitation is valid for this long at least, and until a day after the meeting's scheduled time if that is later.
const MIN_VALIDITY: Duration = Duration::from_secs(7 * 24 * 3600);
/// The longest validity of an invitation, however late the meeting is.
pub const MAX_VALIDITY: Duration = Duration::from_secs(90 * 24 * 3600);
/// The shortest time between two sendings of an invitation.
pub const PAUSE: Duration = Duration::from_secs(60);
/// How often an invitation may be sent: once, and five times again.
pub const SENDINGS: i64 = 6;

wire_enum! {
    /// `PARTICIPANT`: a member of the project. `GUEST`: anyone who has the link.
    pub enum InviteeType {
        Participant,
        Guest,
    }
}

wire_enum! {
    /// Delivery status of the invitation's newest e-mail.
    pub enum Delivery {
        Queued,
        Sent,
        Failed,
    }
}

/// The stored state of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Open,
    Accepted {
        at: Time,
    },
    Declined {
        at: Time,
    },
    /// `accepted_at` is set if it was accepted before.
    Revoked {
        at: Time,
        accepted_at: Option<Time>,
    },
}

/// An invitation as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub id: Id<ids::Invitation>,
    pub meeting_id: Id<Meeting>,
    pub invitee_type: InviteeType,
    pub email: String,
    pub display_name: Option<String>,
    /// The invited member; for a guest, the account that accepted the invitation, if any.
    pub user_id: Option<Id<User>>,
    pub role: MeetingRole,
    /// The participant that accepting the invitation adds to the meeting.
    pub participant_id: Id<ids::Participant>,
    pub message: Option<String>,
    pub delivery: Delivery,
    pub invited_by_id: Id<User>,
    pub send_count: i64,
    pub last_sent_at: Time,
    /// The meeting's version in the newest calendar entry that was sent.
    pub sequence: i64,
    pub expires_at: Time,
    /// Whether the inviter chose the expiry: then it does not move with the meeting.
    pub is_expiry_chosen: bool,
    pub state: State,
    pub created_at: Time,
}

impl Invitation {
    #[must_use]
    pub fn status(&self, now: Time) -> InvitationStatus {
        match self.state {
            State::Accepted { .. } => InvitationStatus::Accepted,
            State::Declined { .. } => InvitationStatus::Declined,
            State::Revoked { .. } => InvitationStatus::Revoked,
            State::Open if now < self.expires_at => InvitationStatus::Pending,
            State::Open => InvitationStatus::Expired,
        }
    }

    #[must_use]
    pub const fn accepted_at(&self) -> Option<Time> {
        match self.state {
            State::Accepted { at } => Some(at),
            State::Revoked { accepted_at, .. } => accepted_at,
            State::Open | State::Declined { .. } => None,
        }
    }
}

/// Returns when an invitation that was sent at `sent_at` expires.
#[must_use]
pub fn expiry(sent_at: Time, scheduled_at: Time) -> Time {
    (sent_at + MIN_VALIDITY).max(scheduled_at + DAY).min(sent_at + MAX_VALIDITY)
}

/// Why an invitee can't be invited in a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleNotInvitable {
    /// Nobody can be invited as the host.
    Host,
    /// Guests can't be co-hosts.
    Guest,
    /// A co-host must be an analyst of the project or above.
    TooWeak,
}

impl RoleNotInvitable {
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Host => "A meeting has one host: the user who created it.",
            Self::Guest => "Guests must be PARTICIPANT or OBSERVER.",
            Self::TooWeak => "Only an ANALYST, MANAGER or OWNER of the project can be CO_HOST.",
        }
    }
}

/// Checks whether a member, or a guest (`None`), may be invited in a role.
///
/// # Errors
/// The reason why not.
pub fn may_be(role: MeetingRole, member: Option<ProjectRole>) -> Result<(), RoleNotInvitable> {
    match (role, member) {
        (MeetingRole::Participant | MeetingRole::Observer, _) => Ok(()),
        (MeetingRole::Host, _) => Err(RoleNotInvitable::Host),
        (MeetingRole::CoHost, None) => Err(RoleNotInvitable::Guest),
        (MeetingRole::CoHost, Some(member)) if member.may_act_as(ProjectRole::Analyst) => Ok(()),
        (MeetingRole::CoHost, Some(_)) => Err(RoleNotInvitable::TooWeak),
    }
}

/// A member or guest to invite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invitee {
    Member { user_id: Id<User>, role: MeetingRole },
    Guest { email: Email, display_name: Option<DisplayName>, role: MeetingRole },
}

/// The inviter's message: plain text of at most 1,000 characters; empty text counts as none.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(as = InvitationMessage, value_type = String, max_length = 1000)]
pub struct Message(pub Option<String>);

impl Field for Message {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let text = text(value, 0, 1000)?;
        Ok(Self(Some(text).filter(|text| !text.is_empty())))
    }
}

/// An invitation to a meeting, as its hosts see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingInvitation {
    pub id: Id<ids::Invitation>,
    pub meeting_id: Id<Meeting>,
    pub invitee_type: InviteeType,
    /// The address that the invitation is mailed to.
    #[schema(format = Email)]
    pub email: String,
    /// The name that the host gave the invitee; null if none.
    #[schema(required)]
    pub display_name: Option<String>,
    /// Null for a guest, as long as no account has accepted the invitation.
    #[schema(required)]
    pub user_id: Option<Id<User>>,
    pub role: MeetingRole,
    pub status: InvitationStatus,
    pub delivery: Delivery,
    /// Id of the account that invited.
    pub invited_by_id: Id<User>,
    pub send_count: i64,
    /// When the newest e-mail was queued.
    pub last_sent_at: Time,
    /// After this time the link is refused with `Gone`. It moves with the meeting, unless the host chose it.
    pub expires_at: Time,
    #[schema(required)]
    pub accepted_at: Option<Time>,
    pub created_at: Time,
}

impl MeetingInvitation {
    #[must_use]
    pub fn of(invitation: Invitation, now: Time) -> Self {
        Self {
            status: invitation.status(now),
            accepted_at: invitation.accepted_at(),
            id: invitation.id,
            meeting_id: invitation.meeting_id,
            invitee_type: invitation.invitee_type,
            email: invitation.email,
            display_name: invitation.display_name,
            user_id: invitation.user_id,
            role: invitation.role,
            delivery: invitation.delivery,
            invited_by_id: invitation.invited_by_id,
            send_count: invitation.send_count,
            last_sent_at: invitation.last_sent_at,
            expires_at: invitation.expires_at,
            created_at: invitation.created_at,
        }
    }
}

/// The invitations that one request created.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingInvitations {
    /// The invitations in the order of the request.
    pub items: Vec<MeetingInvitation>,
}

/// The information that an invited person needs to decide whether to accept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPreview {
    /// The title of the meeting.
    pub meeting_title: String,
    pub project_name: String,
    pub inviter_name: String,
    pub scheduled_at: Time,
    /// First letter and domain of the invited address.
    #[schema(example = "a***@example.org")]
    pub invitee_email: String,
    /// The name that the inviter gave to a guest.
    #[schema(required)]
    pub display_name: Option<String>,
    pub role: MeetingRole,
    pub status: InvitationStatus,
    pub expires_at: Time,
}

/// The result of accepting an invitation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedInvitation {
    /// The participant that the invitation admitted.
    #[schema(required)]
    pub participant: Option<SeenParticipant>,
    pub meeting: crate::meetings::model::MeetingView,
    /// For a caller without an account: an access token for this meeting only. Accept again to get a new one.
    #[schema(required)]
    pub guest_token: Option<String>,
    /// Lifetime of the guest token in seconds.
    #[schema(required)]
    pub expires_in: Option<u64>,
}

/// The payload of invitation events, which hosts receive: enough to know what to read again.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationChanged {
    pub id: Id<ids::Invitation>,
    pub meeting_id: Id<Meeting>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::ids::Id;
    use actors::meeting::MeetingRole;
    use actors::time::Time;

    use super::{Delivery, Invitation, InvitationStatus, InviteeType, RoleNotInvitable, State, expiry, may_be};
    use crate::access::role::ProjectRole;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn now() -> Time {
        Time::from_millis(1_767_225_600_000).unwrap()
    }

    #[test]
    fn an_invitation_lives_a_week_or_a_day_past_the_meeting_but_never_longer_than_ninety_days() {
        assert_eq!(expiry(now(), now() - DAY * 400), now() + DAY * 7);
        assert_eq!(expiry(now(), now() + DAY * 6), now() + DAY * 7);
        assert_eq!(expiry(now(), now() + DAY * 30), now() + DAY * 31);
        assert_eq!(expiry(now(), now() + DAY * 400), now() + DAY * 90);
    }

    #[test]
    fn who_may_be_asked_as_what() {
        let guest = None;
        let members = [ProjectRole::Stakeholder, ProjectRole::Analyst, ProjectRole::Manager, ProjectRole::Owner];
        for member in members.map(Some).into_iter().chain([guest]) {
            assert_eq!(may_be(MeetingRole::Host, member), Err(RoleNotInvitable::Host));
            assert_eq!(may_be(MeetingRole::Participant, member), Ok(()));
            assert_eq!(may_be(MeetingRole::Observer, member), Ok(()));
        }
        assert_eq!(may_be(MeetingRole::CoHost, guest), Err(RoleNotInvitable::Guest));
        assert_eq!(may_be(MeetingRole::CoHost, Some(ProjectRole::Stakeholder)), Err(RoleNotInvitable::TooWeak));
        for member in &members[1..] {
            assert_eq!(may_be(MeetingRole::CoHost, Some(*member)), Ok(()));
        }
    }

    #[test]
    fn what_becomes_of_an_invitation_and_when_it_is_over() {
        let open = Invitation {
            id: Id::generate(),
            meeting_id: Id::generate(),
            invitee_type: InviteeType::Guest,
            email: "ada@example.org".to_owned(),
            display_name: None,
            user_id: None,
            role: MeetingRole::Participant,
            participant_id: Id::generate(),
            message: None,
            delivery: Delivery::Queued,
            invited_by_id: Id::generate(),
            send_count: 1,
            last_sent_at: now(),
            sequence: 1,
            expires_at: now() + DAY,
            is_expiry_chosen: false,
            state: State::Open,
            created_at: now(),
        };
        assert_eq!(open.status(now()), InvitationStatus::Pending);
        assert_eq!(open.status(now() + DAY), InvitationStatus::Expired);
        let table = [
            (State::Accepted { at: now() }, InvitationStatus::Accepted, Some(now())),
            (State::Declined { at: now() }, InvitationStatus::Declined, None),
            (State::Revoked { at: now(), accepted_at: None }, InvitationStatus::Revoked, None),
            (State::Revoked { at: now(), accepted_at: Some(now()) }, InvitationStatus::Revoked, Some(now())),
        ];
        for (state, status, accepted_at) in table {
            let one = Invitation { state, ..open.clone() };
            assert_eq!((one.status(now() + DAY), one.accepted_at()), (status, accepted_at), "{state:?}");
        }
    }
}
