//! The roles in a project and what each permits.

use crate::http::enumeration::wire_enum;

wire_enum! {
    /// The role of a project member. Each role includes the permissions of the one before it.
    pub enum ProjectRole {
        Stakeholder,
        Analyst,
        Manager,
        Owner,
    }
}

impl ProjectRole {
    /// Whether this role includes the permissions of `needed`. The variants are ordered by power.
    #[must_use]
    pub fn may_act_as(self, needed: Self) -> bool {
        self >= needed
    }
}

/// The relation of a principal to a resource, as its feature determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Relation {
    /// The role in the resource's project; `None` for a non-member.
    pub role: Option<ProjectRole>,
    /// Is HOST or CO_HOST of the meeting.
    pub hosts: bool,
    /// Has accepted an invitation to the meeting.
    pub invited: bool,
    /// Owns the resource.
    pub own: bool,
    /// Was removed from the meeting and not invited again.
    pub removed: bool,
    /// Is or was a participant of the meeting.
    pub took_part: bool,
    /// Operates the whole installation.
    pub operates: bool,
}

impl Relation {
    #[must_use]
    pub fn is(self, needed: ProjectRole) -> bool {
        self.role.is_some_and(|role| role.may_act_as(needed))
    }

    /// Whether the principal is the meeting's host or co-host, or at least MANAGER of its project.
    #[must_use]
    pub fn may_host(self) -> bool {
        self.hosts || self.is(ProjectRole::Manager)
    }

    /// Whether the principal may hear the meeting's recordings: never a guest.
    #[must_use]
    pub fn may_listen(self) -> bool {
        self.may_host() || self.is(ProjectRole::Analyst) || (self.role.is_some() && self.took_part && !self.removed)
    }

    /// Whether the principal may attend the meeting: a member of its project or a principal that accepted an invitation
    /// to it, unless removed; and always those who may host it.
    #[must_use]
    pub fn may_attend(self) -> bool {
        self.may_host() || (!self.removed && (self.role.is_some() || self.invited))
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::{ProjectRole, Relation};

    #[test]
    fn who_may_what_in_a_project_and_in_a_meeting() {
        let table = [
            (None, false, [false, false, false, false], false, false),
            (Some(ProjectRole::Stakeholder), false, [true, false, false, false], false, true),
            (Some(ProjectRole::Analyst), false, [true, true, false, false], false, true),
            (Some(ProjectRole::Manager), false, [true, true, true, false], true, true),
            (Some(ProjectRole::Owner), false, [true, true, true, true], true, true),
            (Some(ProjectRole::Analyst), true, [true, true, false, false], true, true),
        ];
        for (role, hosts, acts, may_host, may_attend) in table {
            let relation = Relation { role, hosts, ..Relation::default() };
            for (needed, expected) in ProjectRole::VARIANTS.iter().zip(acts) {
                assert_eq!(relation.is(*needed), expected, "{role:?} as {needed:?}");
            }
            assert_eq!((relation.may_host(), relation.may_attend()), (may_host, may_attend), "{role:?} hosts {hosts}");
        }
    }

    #[test]
    fn who_was_removed_attends_no_longer_unless_they_lead_the_project() {
        let removed = Relation { removed: true, ..Relation::default() };
        let table = [
            (Relation { invited: true, ..Relation::default() }, true),
            (Relation { invited: true, ..removed }, false),
            (Relation { role: Some(ProjectRole::Analyst), ..removed }, false),
            (Relation { role: Some(ProjectRole::Manager), ..removed }, true),
        ];
        for (relation, may_attend) in table {
            assert_eq!(relation.may_attend(), may_attend, "{relation:?}");
        }
    }
}
