//! Roles in a project, and what each may do: a pure table.

use crate::enumeration;

enumeration! {
    /// A member's role. Each may do what the one before may.
    pub enum ProjectRole {
        Stakeholder = "STAKEHOLDER",
        Analyst = "ANALYST",
        Manager = "MANAGER",
        Owner = "OWNER",
    }
}

impl ProjectRole {
    /// The order of the enumeration is the order of power.
    #[must_use]
    pub fn may_act_as(self, needed: Self) -> bool {
        self >= needed
    }
}

/// What a caller is to a thing, as its feature finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// In the project that the thing belongs to.
    pub role: Option<ProjectRole>,
    /// HOST or CO_HOST of the meeting.
    pub hosts: bool,
    /// Has accepted an invitation to the meeting.
    pub invited: bool,
    /// Was put out of the meeting, and not invited again.
    pub removed: bool,
    /// Is or was in the meeting.
    pub took_part: bool,
    /// The thing is their own.
    pub own: bool,
}

impl Standing {
    #[must_use]
    pub fn is(self, needed: ProjectRole) -> bool {
        self.role.is_some_and(|role| role.may_act_as(needed))
    }

    /// The meeting's host or co-host, or a manager of its project.
    #[must_use]
    pub fn may_host(self) -> bool {
        self.hosts || self.is(ProjectRole::Manager)
    }

    /// A member of the meeting's project, or whoever accepted an invitation to it, until removed.
    #[must_use]
    pub fn may_attend(self) -> bool {
        self.may_host() || (!self.removed && (self.role.is_some() || self.invited))
    }
}

#[cfg(test)]
mod tests {
    use super::{ProjectRole, Standing};

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
            let standing = Standing { role, hosts, ..Standing::default() };
            for (needed, expected) in ProjectRole::ALL.iter().zip(acts) {
                assert_eq!(standing.is(*needed), expected, "{role:?} as {needed:?}");
            }
            assert_eq!((standing.may_host(), standing.may_attend()), (may_host, may_attend), "{role:?} hosts {hosts}");
        }
    }

    #[test]
    fn who_was_removed_attends_no_longer_unless_they_lead_the_project() {
        let removed = Standing { removed: true, ..Standing::default() };
        let table = [
            (Standing { invited: true, ..Standing::default() }, true),
            (Standing { invited: true, ..removed }, false),
            (Standing { role: Some(ProjectRole::Analyst), ..removed }, false),
            (Standing { role: Some(ProjectRole::Manager), ..removed }, true),
        ];
        for (standing, may_attend) in table {
            assert_eq!(standing.may_attend(), may_attend, "{standing:?}");
        }
    }
}
