//! Types of members, invitations and stakeholders, and the pure functions that decide which role may change which.

use actors::ids::{self, Id, User};
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::role::ProjectRole;
use crate::accounts::model::avatar_url;
use crate::http::enumeration::wire_enum;

/// A stored membership, with the account fields that are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub id: Id<ids::Member>,
    pub user_id: Id<User>,
    pub full_name: String,
    pub email: String,
    /// The hash of the stored avatar.
    pub avatar: Option<String>,
    pub role: ProjectRole,
    pub joined_at: Time,
}

/// A member of a project, with the account fields that are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectMember {
    pub id: Id<ids::Member>,
    pub user_id: Id<User>,
    pub full_name: String,
    /// Visible to the member themself and to roles from ANALYST upwards; null for all others.
    #[schema(required, format = Email)]
    pub email: Option<String>,
    #[schema(required)]
    pub avatar_url: Option<String>,
    pub role: ProjectRole,
    /// When the person became a member.
    pub joined_at: Time,
}

/// The member who reads the list of members.
#[derive(Debug, Clone, Copy)]
pub struct MemberViewer {
    pub user_id: Id<User>,
    pub role: ProjectRole,
}

impl MemberViewer {
    /// Whether the viewer sees e-mail addresses other than their own.
    #[must_use]
    pub fn sees_emails(self) -> bool {
        self.role.may_act_as(ProjectRole::Analyst)
    }
}

impl ProjectMember {
    #[must_use]
    pub fn of(member: Member, viewer: MemberViewer) -> Self {
        let seen = viewer.sees_emails() || viewer.user_id == member.user_id;
        Self {
            id: member.id,
            user_id: member.user_id,
            full_name: member.full_name,
            email: Some(member.email).filter(|_| seen),
            avatar_url: avatar_url(member.user_id, member.avatar.as_deref()),
            role: member.role,
            joined_at: member.joined_at,
        }
    }
}

/// The event about a changed membership, which all members receive: enough to know what to read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberChanged {
    pub id: Id<ids::Member>,
    pub user_id: Id<User>,
    /// Null if the membership has ended.
    #[schema(required)]
    pub role: Option<ProjectRole>,
}

impl MemberChanged {
    #[must_use]
    pub const fn to(member: &Member) -> Self {
        Self { id: member.id, user_id: member.user_id, role: Some(member.role) }
    }

    #[must_use]
    pub const fn removed(member: &Member) -> Self {
        Self { id: member.id, user_id: member.user_id, role: None }
    }
}

/// Whether `actor` may give a role, or take it from a member who has it.
#[must_use]
pub fn may_handle(actor: ProjectRole, role: ProjectRole) -> bool {
    match actor {
        ProjectRole::Owner => true,
        ProjectRole::Manager => role < ProjectRole::Manager,
        ProjectRole::Analyst | ProjectRole::Stakeholder => false,
    }
}

/// Why a change of members is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NotAllowed,
    LastOwner,
}

/// The member that a change applies to.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    pub role: ProjectRole,
    /// Whether it is the caller's own membership.
    pub own: bool,
    /// Whether no other member is OWNER.
    pub last_owner: bool,
}

/// Decides whether a member's role may be changed to `to`.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn change(actor: ProjectRole, target: Target, to: ProjectRole) -> Result<(), Refusal> {
    if !may_handle(actor, target.role) || !may_handle(actor, to) {
        return Err(Refusal::NotAllowed);
    }
    if target.last_owner && to != ProjectRole::Owner { Err(Refusal::LastOwner) } else { Ok(()) }
}

/// Decides whether a member may be removed. Any member may leave, except the last OWNER.
///
/// # Errors
/// Returns the reason for the refusal.
pub fn removal(actor: ProjectRole, target: Target) -> Result<(), Refusal> {
    if !target.own && !may_handle(actor, target.role) {
        return Err(Refusal::NotAllowed);
    }
    if target.last_owner { Err(Refusal::LastOwner) } else { Ok(()) }
}

wire_enum! {
    /// The status of an invitation.
    pub enum InvitationStatus {
        Pending,
        Accepted,
        Declined,
        Expired,
        Revoked,
    }
}

/// A stored invitation. Expiry is derived from the clock and not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationToProject {
    pub id: Id<InvitationToProject>,
    pub project_id: Id<ids::Project>,
    pub email: String,
    pub role: ProjectRole,
    pub invited_by_id: Id<User>,
    pub created_at: Time,
    pub expires_at: Time,
    pub state: State,
}

/// The stored state of an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Open,
    Accepted { at: Time },
    Revoked { at: Time },
}

impl InvitationToProject {
    /// The status at `now`. `inviter` is the inviter's present role in the project: an invitation is revoked once its
    /// inviter may no longer give its role.
    #[must_use]
    pub fn status(&self, inviter: Option<ProjectRole>, now: Time) -> InvitationStatus {
        let may_still = inviter.is_some_and(|inviter| may_handle(inviter, self.role));
        match self.state {
            State::Accepted { .. } => InvitationStatus::Accepted,
            State::Open if may_still && now < self.expires_at => InvitationStatus::Pending,
            State::Open if may_still => InvitationStatus::Expired,
            State::Open | State::Revoked { .. } => InvitationStatus::Revoked,
        }
    }
}

/// An invitation to a project. The response is the same whether or not the invited address has an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectInvitation {
    pub id: Id<InvitationToProject>,
    #[schema(format = Email)]
    pub email: String,
    pub role: ProjectRole,
    pub status: InvitationStatus,
    /// Null once the account was deleted.
    #[schema(required)]
    pub invited_by_name: Option<String>,
    pub created_at: Time,
    pub expires_at: Time,
    /// The link that was mailed, to be passed on in another way. Only in the answer to the request that made it; null otherwise.
    #[schema(required)]
    pub link: Option<String>,
}

impl ProjectInvitation {
    #[must_use]
    pub fn of(invitation: InvitationToProject, status: InvitationStatus, invited_by_name: Option<String>) -> Self {
        Self {
            id: invitation.id,
            email: invitation.email,
            role: invitation.role,
            status,
            invited_by_name,
            created_at: invitation.created_at,
            expires_at: invitation.expires_at,
            link: None,
        }
    }
}

/// What an invited person needs to know to decide whether to accept.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectInvitationPreview {
    pub project_name: String,
    pub inviter_name: String,
    /// First letter and domain of the invited address.
    #[schema(example = "a***@example.org")]
    pub invitee_email: String,
    pub role: ProjectRole,
    pub status: InvitationStatus,
    pub expires_at: Time,
}

/// Masks an address to its first letter and its domain, which is enough for a reader who knows it already.
#[must_use]
pub fn masked(email: &str) -> String {
    let (local, host) = email.rsplit_once('@').unwrap_or((email, ""));
    let first: String = local.chars().take(1).collect();
    format!("{first}***@{host}")
}

/// A membership created or raised by accepting an invitation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinedProject {
    #[serde(flatten)]
    #[schema(inline)]
    pub member: ProjectMember,
    pub project_id: Id<ids::Project>,
}

wire_enum! {
    /// How a person became a stakeholder of the project.
    pub enum StakeholderOrigin {
        Member,
        ReviewInvitation,
        MeetingGuest,
    }
}

/// A stakeholder of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stakeholder {
    /// Id of the membership, of the first review invitation that was accepted, or of the first participation as a guest.
    pub id: Id<Stakeholder>,
    /// Null if unknown.
    pub full_name: String,
    /// Null unless the caller is that person or an analyst.
    #[schema(required, format = Email)]
    pub email: Option<String>,
    /// Null if unknown.
    #[schema(required)]
    pub organisation: Option<String>,
    /// Null for a person without an account.
    #[schema(required)]
    pub user_id: Option<Id<User>>,
    pub origin: StakeholderOrigin,
    /// When the person was last seen; null for never.
    #[schema(required)]
    pub last_seen_at: Option<Time>,
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use std::time::Duration;

    use actors::ids::Id;
    use actors::time::Time;

    use super::{InvitationStatus, InvitationToProject, Refusal, State, Target, change, masked, may_handle, removal};
    use crate::access::role::ProjectRole::{self, Analyst, Manager, Owner, Stakeholder};

    /// The allowed changes of an actor, from (rows) and to (columns) the roles STAKEHOLDER, ANALYST, MANAGER, OWNER.
    fn may_change(actor: ProjectRole) -> [&'static str; 4] {
        match actor {
            Stakeholder | Analyst => ["----", "----", "----", "----"],
            Manager => ["yy--", "yy--", "----", "----"],
            Owner => ["yyyy", "yyyy", "yyyy", "yyyy"],
        }
    }

    #[test]
    fn who_may_make_whom_what() {
        for actor in ProjectRole::VARIANTS.iter().copied() {
            for (from, row) in ProjectRole::VARIANTS.iter().copied().zip(may_change(actor)) {
                for (to, cell) in ProjectRole::VARIANTS.iter().copied().zip(row.chars()) {
                    for own in [false, true] {
                        for last_owner in [false, from == Owner] {
                            let expected = match cell {
                                'y' if last_owner && to != Owner => Err(Refusal::LastOwner),
                                'y' => Ok(()),
                                _ => Err(Refusal::NotAllowed),
                            };
                            let target = Target { role: from, own, last_owner };
                            assert_eq!(change(actor, target, to), expected, "{actor}: {from} to {to}, {target:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn who_may_take_whom_out_and_that_anybody_may_leave() {
        let others = [(Stakeholder, "----"), (Analyst, "----"), (Manager, "yy--"), (Owner, "yyyy")];
        for (actor, row) in others {
            for (role, cell) in ProjectRole::VARIANTS.iter().copied().zip(row.chars()) {
                let expected = if cell == 'y' { Ok(()) } else { Err(Refusal::NotAllowed) };
                assert_eq!(removal(actor, Target { role, own: false, last_owner: false }), expected, "{actor}, {role}");
            }
            let own = Target { role: actor, own: true, last_owner: false };
            assert_eq!(removal(actor, own), Ok(()), "{actor} leaves");
        }
        for own in [false, true] {
            let last = Target { role: Owner, own, last_owner: true };
            assert_eq!(removal(Owner, last), Err(Refusal::LastOwner));
        }
        let last = Target { role: Owner, own: false, last_owner: true };
        assert_eq!(removal(Manager, last), Err(Refusal::NotAllowed), "who may not is not told more");
    }

    #[test]
    fn an_invitation_is_as_good_as_its_inviter_and_its_time() {
        let now = Time::from_millis(1_767_225_600_000).unwrap();
        let hour = Duration::from_secs(3600);
        let open = |role| InvitationToProject {
            id: Id::generate(),
            project_id: Id::generate(),
            email: "ada@example.org".to_owned(),
            role,
            invited_by_id: Id::generate(),
            created_at: now - hour,
            expires_at: now + hour,
            state: State::Open,
        };
        for role in ProjectRole::VARIANTS.iter().copied() {
            assert_eq!(open(role).status(None, now), InvitationStatus::Revoked, "the inviter is gone");
            for inviter in ProjectRole::VARIANTS.iter().copied() {
                let valid = may_handle(inviter, role);
                let expected = if valid { InvitationStatus::Pending } else { InvitationStatus::Revoked };
                assert_eq!(open(role).status(Some(inviter), now), expected, "{role} by {inviter}");
            }
            let one = open(role);
            assert_eq!(one.status(Some(Owner), one.expires_at), InvitationStatus::Expired);
            let accepted = InvitationToProject { state: State::Accepted { at: now }, ..open(role) };
            assert_eq!(accepted.status(None, now + hour + hour), InvitationStatus::Accepted);
            let revoked = InvitationToProject { state: State::Revoked { at: now }, ..open(role) };
            assert_eq!(revoked.status(Some(Owner), now), InvitationStatus::Revoked);
        }
    }

    #[test]
    fn a_masked_address_shows_its_first_letter_and_its_host() {
        assert_eq!(masked("ada.lovelace@example.org"), "a***@example.org");
        assert_eq!(masked("a@b.example"), "a***@b.example");
    }
}
