//! What projects own.

use std::ops::Deref;
use std::sync::Arc;

use super::deletion::awake::Awake;
use super::people::membership_end::MembershipHooks;
use super::roles::Roles;
use crate::accounts::state::Accounts;
use crate::http::mounted::Mounted;
use crate::outside::files::Files;

/// The state of this area, and what it rests on. Clones are the same one.
#[derive(Clone)]
pub struct Projects(Arc<ProjectsParts>);

pub struct ProjectsParts {
    pub accounts: Accounts,
    pub roles: Roles,
    pub files: Files,
    /// What else ends with a membership.
    pub membership_hooks: MembershipHooks,
    /// What is served from memory of what a deleted project had.
    pub awake: Arc<dyn Awake>,
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
