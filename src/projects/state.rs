//! The state of the projects area.

use std::sync::Arc;

use super::awake::{Awake, MeetingFiles};
use super::membership_end::MembershipHooks;
use super::roles::Roles;
use crate::accounts::state::Accounts;
use crate::clients::files::Files;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Projects(ProjectsParts) and core: Core
}

pub struct ProjectsParts {
    pub core: Core,
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

impl Mounted for Projects {}
