//! The state of the trackers area.

use super::pacing::CreationPaces;
use super::providers::Providers;
use super::running::RunningExports;
use super::token_locks::TokenLocks;
use crate::analysis::state::Analysis;
use crate::core::{Core, shared_state};
use crate::projects::state::Projects;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Trackers(TrackersParts) and core
}

pub struct TrackersParts {
    pub core: Core,
    pub projects: Projects,
    pub analysis: Analysis,
    pub providers: Providers,
    pub token_locks: TokenLocks,
    pub running_exports: RunningExports,
    pub creation_paces: CreationPaces,
}
