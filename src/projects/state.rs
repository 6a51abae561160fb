//! The state of the projects area.

use std::ops::Deref;
use std::sync::Arc;

use super::awake::{Awake, MeetingFiles};
use super::membership_end::MembershipHooks;
use super::roles::Roles;
use crate::accounts::state::Accounts;
use crate::clients::files::Files;
use crate::http::mounted::Mounted;

/// The state of this area, with the state of the areas it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Projects(Arc<ProjectsParts>);

pub struct ProjectsParts {
    pub accounts: Accounts,
    pub roles: Roles,
    pub files: Files,
    /// The hooks that run when a membership ends.
    pub membership_hooks: MembershipHooks,
    /// The actors in memory that belong to deleted meetings and runs.
    pub awake: Arc<dyn Awake>,
    /// The files of deleted meetings.
    pub meeting_files: Arc<dyn MeetingFiles>,
}

impl Projects {
    #[must_use]
    pub fn new(parts: ProjectsParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Projects {
    type Target = ProjectsParts;
    fn deref(&self) -> &ProjectsParts {
        &self.0
    }
}

impl Deref for ProjectsParts {
    type Target = Accounts;
    fn deref(&self) -> &Accounts {
        &self.accounts
    }
}

impl Mounted for Projects {}
