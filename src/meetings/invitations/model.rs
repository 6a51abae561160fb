//! Invitations to meetings as types, and the rules of their life.
//!
//! ```text
//!   PENDING --accept--> ACCEPTED --revoke--> REVOKED
//!    ^  | `--decline--> DECLINED                ^
//!    |  `-----revoke, or the meeting is cancelled
//!  resend
//!    `-- EXPIRED <--time-- PENDING
//! ```
//! Expiry is read from the clock, never stored.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, Role};
use actors::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::role::ProjectRole;
use crate::accounts::model::Email;
use crate::enumeration;
use crate::http::fields::{Field, Wrong, text};
use crate::meetings::model::MeetingRole;
use crate::meetings::participants::model::{DisplayName, SeenParticipant};
pub use crate::projects::people::model::InvitationStatus;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The least that an invitation lives, beside a day after the meeting's time.
const SHORTEST: Duration = Duration::from_secs(7 * 24 * 3600);
/// No invitation lives longer, however late the meeting is.
pub const LONGEST: Duration = Duration::from_secs(90 * 24 * 3600);
/// Between two sendings of one invitation.
pub const PAUSE: Duration = Duration::from_secs(60);
/// How often one invitation is sent: once, and five times again.
pub const SENDINGS: i64 = 6;

enumeration! {
    /// PARTICIPANT: a member of the project. GUEST: whoever has the link.
    pub enum InviteeType { Participant = "PARTICIPANT", Guest = "GUEST" }
}

enumeration! {
    /// What became of its newest letter.
    pub enum Delivery { Queued = "QUEUED", Sent = "SENT", Failed = "FAILED" }
}

/// What was done with an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Open,
    Accepted {
        at: Time,
    },
    Declined {
        at: Time,
    },
    /// Perhaps after it was accepted.
    Revoked {
        at: Time,
        accepted_at: Option<Time>,
    },
}

/// An invitation as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub id: Id<ids::Invitation>,
    pub meeting_id: Id<Meeting>,
    pub invitee_type: InviteeType,
    pub email: String,
    pub display_name: Option<String>,
    /// The member; or the account that a guest turned out to be.
    pub user_id: Option<Id<User>>,
    pub role: Role,
    /// Of the place that comes of it.
    pub participant_id: Id<ids::Participant>,
    pub message: Option<String>,
    pub delivery: Delivery,
    pub invited_by_id: Id<User>,
    pub send_count: i64,
    pub last_sent_at: Time,
    /// The meeting's version in the newest calendar entry that was sent.
    pub sequence: i64,
    pub expires_at: Time,
    /// By who invited: then it does not move with the meeting.
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

/// Until when an invitation can be accepted that was sent at that time.
#[must_use]
pub fn expiry(sent_at: Time, scheduled_at: Time) -> Time {
    (sent_at + SHORTEST).max(scheduled_at + DAY).min(sent_at + LONGEST)
}

/// Why somebody can't be asked in a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// Nobody is asked to be the host.
    Host,
    /// Guests lead nothing.
    Guest,
    /// A co-host is an analyst of the project at least.
    TooWeak,
}

impl Unfit {
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Host => "A meeting has one host, who made it.",
            Self::Guest => "Guests are PARTICIPANT or OBSERVER.",
            Self::TooWeak => "Only an ANALYST, MANAGER or OWNER of the project can be CO_HOST.",
        }
    }
}

/// Whether a member, or a guest (`None`), may be asked in a role.
///
/// # Errors
/// Why not.
pub fn may_be(role: Role, member: Option<ProjectRole>) -> Result<(), Unfit> {
    match (role, member) {
        (Role::Participant | Role::Observer, _) => Ok(()),
        (Role::Host, _) => Err(Unfit::Host),
        (Role::CoHost, None) => Err(Unfit::Guest),
        (Role::CoHost, Some(member)) if member.may_act_as(ProjectRole::Analyst) => Ok(()),
        (Role::CoHost, Some(_)) => Err(Unfit::TooWeak),
    }
}

/// Somebody who is to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invitee {
    Member { user_id: Id<User>, role: Role },
    Guest { email: Email, display_name: Option<DisplayName>, role: Role },
}

/// Plain text of at most 1,000 characters, from who invites; empty: nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message(pub Option<String>);

impl Field for Message {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let text = text(value, 0, 1000)?;
        Ok(Self(Some(text).filter(|text| !text.is_empty())))
    }
}

/// An invitation as those see it who host the meeting.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingInvitation {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<ids::Invitation>,
    #[schema(value_type = uuid::Uuid)]
    pub meeting_id: Id<Meeting>,
    pub invitee_type: InviteeType,
    #[schema(format = Email)]
    pub email: String,
    #[schema(required)]
    pub display_name: Option<String>,
    /// Null: a guest, as far as is known.
    #[schema(required, value_type = Option<uuid::Uuid>)]
    pub user_id: Option<Id<User>>,
    pub role: MeetingRole,
    pub status: InvitationStatus,
    pub delivery: Delivery,
    #[schema(value_type = uuid::Uuid)]
    pub invited_by_id: Id<User>,
    pub send_count: i64,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub last_sent_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub expires_at: Time,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub accepted_at: Option<Time>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
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
            role: invitation.role.into(),
            delivery: invitation.delivery,
            invited_by_id: invitation.invited_by_id,
            send_count: invitation.send_count,
            last_sent_at: invitation.last_sent_at,
            expires_at: invitation.expires_at,
            created_at: invitation.created_at,
        }
    }
}

/// All that one call asked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MeetingInvitations {
    pub items: Vec<MeetingInvitation>,
}

/// The least that lets somebody decide whether to accept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationPreview {
    pub meeting_title: String,
    pub project_name: String,
    pub inviter_name: String,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub scheduled_at: Time,
    /// Its first letter and its host.
    #[schema(example = "a***@example.org")]
    pub invitee_email: String,
    pub role: MeetingRole,
    pub status: InvitationStatus,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub expires_at: Time,
}

/// What comes of accepting.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedInvitation {
    /// The place that it gave.
    #[schema(required)]
    pub participant: Option<SeenParticipant>,
    pub meeting: crate::meetings::model::Meeting,
    /// For somebody without an account: an access token for this meeting alone. Accept again for a new one.
    #[schema(required)]
    pub guest_token: Option<String>,
    /// Seconds.
    #[schema(required)]
    pub expires_in: Option<u64>,
}

/// What hosts are told of an invitation: enough to know what to GET again.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InvitationChanged {
    pub id: Id<ids::Invitation>,
    pub meeting_id: Id<Meeting>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::ids::Id;
    use actors::meeting::Role;
    use actors::time::Time;

    use super::{Delivery, Invitation, InvitationStatus, InviteeType, State, Unfit, expiry, may_be};
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
            assert_eq!(may_be(Role::Host, member), Err(Unfit::Host));
            assert_eq!(may_be(Role::Participant, member), Ok(()));
            assert_eq!(may_be(Role::Observer, member), Ok(()));
        }
        assert_eq!(may_be(Role::CoHost, guest), Err(Unfit::Guest));
        assert_eq!(may_be(Role::CoHost, Some(ProjectRole::Stakeholder)), Err(Unfit::TooWeak));
        for member in &members[1..] {
            assert_eq!(may_be(Role::CoHost, Some(*member)), Ok(()));
        }
    }

    #[test]
    fn what_becomes_of_an_invitation_and_when_it_is_over() {
        let open = Invitation {
            id: Id::draw(),
            meeting_id: Id::draw(),
            invitee_type: InviteeType::Guest,
            email: "ada@example.org".to_owned(),
            display_name: None,
            user_id: None,
            role: Role::Participant,
            participant_id: Id::draw(),
            message: None,
            delivery: Delivery::Queued,
            invited_by_id: Id::draw(),
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
