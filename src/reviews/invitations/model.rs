//! The types of invitations to review a project's results, and the rules of their lifecycle.
//!
//! ```text
//!   PENDING --accept--> ACCEPTED (an access: ACTIVE --time--> EXPIRED) --revoke--> REVOKED, the access too
//!    ^  |                   ^ `-- accept again: another review token; resend: another link
//!    |  `--revoke--> REVOKED
//!  resend
//!    `-- EXPIRED <--time-- PENDING
//! ```
//! Expiry is derived from the clock and never stored as a status.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::run::Run;
use actors::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::accounts::model::{Email, FullName};
use crate::http::enumeration::wire_enum;
use crate::http::fields::{Field, InvalidValue, line};
use crate::http::reason::Reason;
use crate::reviews::baselines::model::Baseline;

/// How long an invitation and its access are valid, unless the inviter chose something else.
pub const USUAL: Duration = Duration::from_secs(30 * 24 * 3600);
/// How many items the scope SELECTED may have.
pub const MAX_SELECTED: usize = 500;
/// How often an invitation may be sent: once, and five times again.
pub const SENDINGS: i64 = 6;

/// Separates review tokens from other tokens.
pub const ACCESS_PURPOSE: &str = "review access";

wire_enum! {
    /// What a reviewer may do. Each permission includes the one before it: VIEWER reads, COMMENTER also leaves feedback,
    /// APPROVER also gives a verdict.
    pub enum ProjectReviewPermission {
        Viewer,
        Commenter,
        Approver,
    }
}

wire_enum! {
    /// What of the specification a reviewer sees; never what was rejected. ALL: as it stands. APPROVED: what is approved at that
    /// time. BASELINE: requirements and user stories as they stood in a baseline. SELECTED: chosen items, as they stand.
    pub enum ReviewScope {
        All,
        Approved,
        Baseline,
        Selected,
    }
}

wire_enum! {
    /// The state of an invitation to a review.
    pub enum ProjectReviewInvitationStatus {
        Pending,
        Accepted,
        Expired,
        Revoked,
    }
}

/// Whether a reviewer's access is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProjectReviewAccessStatus {
    Active,
    Expired,
    Revoked,
}

/// The organisation of a stakeholder: up to 120 characters on one line; an empty or blank text means none.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
pub struct Organisation(pub Option<String>);

impl Field for Organisation {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let name = line(value, 0, 120)?;
        Ok(Self(Some(name).filter(|name| !name.is_empty())))
    }
}

/// 1–500 ids of items, sorted, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = Vec<Uuid>, min_items = 1, max_items = 500)]
pub struct SelectedItems(pub Vec<Uuid>);

impl Field for SelectedItems {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::Array(values) = value else { return Err(InvalidValue::value("This must be a list of UUIDs.")) };
        if values.is_empty() {
            return Err(InvalidValue::of(Reason::TooShort, "At least one item is required."));
        }
        if values.len() > MAX_SELECTED {
            return Err(InvalidValue::of(Reason::TooLong, format!("At most {MAX_SELECTED} items are allowed.")));
        }
        let mut ids = values.iter().map(|id| Id::<()>::parse(id).map(Id::uuid)).collect::<Result<Vec<Uuid>, _>>()?;
        ids.sort_unstable();
        ids.dedup();
        Ok(Self(ids))
    }
}

/// A person to invite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitedReviewer {
    pub email: Email,
    pub full_name: Option<FullName>,
    pub organisation: Option<Organisation>,
}

/// The stored state of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Open,
    Accepted {
        at: Time,
    },
    /// `accepted_at` is set if it was accepted before.
    Revoked {
        at: Time,
        accepted_at: Option<Time>,
    },
}

/// An invitation as it is stored, with the access that it gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewInvitation {
    pub id: Id<ReviewInvitation>,
    pub project_id: Id<ids::Project>,
    pub email: String,
    pub full_name: Option<String>,
    pub organisation: Option<String>,
    pub permission: ProjectReviewPermission,
    /// The run whose findings are shown; `None`: the specification.
    pub run_id: Option<Id<Run>>,
    /// What is shown of the specification.
    pub scope: ReviewScope,
    /// Of the scope BASELINE.
    pub baseline_id: Option<Id<Baseline>>,
    /// How many items are chosen, of the scope SELECTED. Which ones is read by `store::selected_items`.
    pub selected_count: Option<i64>,
    pub message: Option<String>,
    pub invited_by_id: Id<User>,
    pub send_count: i64,
    pub last_sent_at: Time,
    /// Of the link, and of the access.
    pub expires_at: Time,
    pub state: State,
    /// When its access was last used.
    pub last_seen_at: Option<Time>,
    pub created_at: Time,
}

impl ReviewInvitation {
    #[must_use]
    pub fn status(&self, now: Time) -> ProjectReviewInvitationStatus {
        match self.state {
            State::Accepted { .. } => ProjectReviewInvitationStatus::Accepted,
            State::Revoked { .. } => ProjectReviewInvitationStatus::Revoked,
            State::Open if now < self.expires_at => ProjectReviewInvitationStatus::Pending,
            State::Open => ProjectReviewInvitationStatus::Expired,
        }
    }

    /// The status of its access; `None` until somebody has accepted.
    #[must_use]
    pub fn access_status(&self, now: Time) -> Option<ProjectReviewAccessStatus> {
        match self.state {
            State::Accepted { .. } if now < self.expires_at => Some(ProjectReviewAccessStatus::Active),
            State::Accepted { .. } => Some(ProjectReviewAccessStatus::Expired),
            State::Revoked { accepted_at: Some(_), .. } => Some(ProjectReviewAccessStatus::Revoked),
            State::Open | State::Revoked { accepted_at: None, .. } => None,
        }
    }

    /// Whether its link can be followed: it is neither revoked nor past its time.
    #[must_use]
    pub fn can_be_accepted(&self, now: Time) -> bool {
        !matches!(self.state, State::Revoked { .. }) && now < self.expires_at
    }

    #[must_use]
    pub const fn accepted_at(&self) -> Option<Time> {
        match self.state {
            State::Accepted { at } => Some(at),
            State::Revoked { accepted_at, .. } => accepted_at,
            State::Open => None,
        }
    }

    #[must_use]
    pub const fn revoked_at(&self) -> Option<Time> {
        match self.state {
            State::Revoked { at, .. } => Some(at),
            State::Open | State::Accepted { .. } => None,
        }
    }

    /// The name that the reviewer is shown under.
    #[must_use]
    pub fn name(&self) -> &str {
        let known = || self.email.split('@').next().unwrap_or_default();
        self.full_name.as_deref().unwrap_or_else(known)
    }
}

/// An invitation to review a project's results, as the project's analysts see it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectReviewInvitation {
    pub id: Id<ReviewInvitation>,
    pub project_id: Id<ids::Project>,
    #[schema(format = Email)]
    pub email: String,
    /// The name that the inviter gave; null if none.
    #[schema(required)]
    pub full_name: Option<String>,
    /// The organisation that the inviter gave; null if none.
    #[schema(required)]
    pub organisation: Option<String>,
    pub permission: ProjectReviewPermission,
    pub status: ProjectReviewInvitationStatus,
    /// The run whose findings are shown; null: the specification, as `scope` says.
    #[schema(required)]
    pub run_id: Option<Id<Run>>,
    pub scope: ReviewScope,
    /// The baseline of the scope BASELINE; null otherwise.
    #[schema(required)]
    pub baseline_id: Option<Id<Baseline>>,
    /// How many items are chosen, of the scope SELECTED; null otherwise.
    #[schema(required, minimum = 1, maximum = 500)]
    pub selected_count: Option<i64>,
    /// The inviter's words in the e-mail; null if none.
    #[schema(required)]
    pub message: Option<String>,
    /// When the link and the access that it gives expire.
    pub expires_at: Time,
    #[schema(required)]
    pub accepted_at: Option<Time>,
    /// When it was revoked; null unless it is REVOKED.
    #[schema(required)]
    pub revoked_at: Option<Time>,
    pub send_count: i64,
    pub created_at: Time,
    /// The link that was mailed, to be passed on in another way. Only in the answer to the request that made it; null otherwise.
    #[schema(required)]
    pub link: Option<String>,
}

impl ProjectReviewInvitation {
    #[must_use]
    pub fn of(invitation: ReviewInvitation, now: Time) -> Self {
        Self {
            status: invitation.status(now),
            accepted_at: invitation.accepted_at(),
            revoked_at: invitation.revoked_at(),
            id: invitation.id,
            project_id: invitation.project_id,
            email: invitation.email,
            full_name: invitation.full_name,
            organisation: invitation.organisation,
            permission: invitation.permission,
            run_id: invitation.run_id,
            scope: invitation.scope,
            baseline_id: invitation.baseline_id,
            selected_count: invitation.selected_count,
            message: invitation.message,
            expires_at: invitation.expires_at,
            send_count: invitation.send_count,
            created_at: invitation.created_at,
            link: None,
        }
    }
}

/// The invitations that one request created.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectReviewInvitations {
    /// The invitations in the order of the request.
    pub items: Vec<ProjectReviewInvitation>,
}

/// What an invited person needs to know to decide whether to accept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewInvitationPreview {
    pub project_name: String,
    pub inviter_name: String,
    pub permission: ProjectReviewPermission,
    pub status: ProjectReviewInvitationStatus,
    pub expires_at: Time,
}

/// The access to a project's results that accepting an invitation gives.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectReviewAccess {
    /// For the header `X-Review-Token`. Shown once: accept again to get another one, which replaces this one.
    pub review_token: String,
    pub permission: ProjectReviewPermission,
    pub status: ProjectReviewAccessStatus,
    pub project_name: String,
    pub expires_at: Time,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::ids::Id;
    use actors::time::Time;

    use super::{
        ProjectReviewAccessStatus as Access, ProjectReviewInvitationStatus as Status, ProjectReviewPermission,
        ReviewInvitation, ReviewScope, State,
    };

    fn now() -> Time {
        Time::from_millis(1_767_225_600_000).unwrap()
    }

    #[test]
    fn what_becomes_of_an_invitation_and_of_its_access() {
        let open = ReviewInvitation {
            id: Id::generate(),
            project_id: Id::generate(),
            email: "ada@example.org".to_owned(),
            full_name: None,
            organisation: None,
            permission: ProjectReviewPermission::Viewer,
            run_id: None,
            scope: ReviewScope::All,
            baseline_id: None,
            selected_count: None,
            message: None,
            invited_by_id: Id::generate(),
            send_count: 1,
            last_sent_at: now(),
            expires_at: now() + Duration::from_secs(1),
            state: State::Open,
            last_seen_at: None,
            created_at: now(),
        };
        let (in_time, late) = (now(), now() + Duration::from_secs(1));
        let accepted = State::Accepted { at: now() };
        let revoked = |accepted_at| State::Revoked { at: now(), accepted_at };
        let table = [
            (State::Open, in_time, Status::Pending, None, true),
            (State::Open, late, Status::Expired, None, false),
            (accepted, in_time, Status::Accepted, Some(Access::Active), true),
            (accepted, late, Status::Accepted, Some(Access::Expired), false),
            (revoked(None), in_time, Status::Revoked, None, false),
            (revoked(Some(now())), late, Status::Revoked, Some(Access::Revoked), false),
        ];
        for (state, at, status, access, can_be_accepted) in table {
            let one = ReviewInvitation { state, ..open.clone() };
            assert_eq!((one.status(at), one.access_status(at)), (status, access), "{state:?} at {at:?}");
            assert_eq!(one.can_be_accepted(at), can_be_accepted, "{state:?} at {at:?}");
        }
        assert_eq!(open.name(), "ada", "what stands before the @, where nobody gave a name");
    }
}
