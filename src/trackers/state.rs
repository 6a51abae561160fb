//! The state of the trackers area.

use super::pacing::CreationPaces;
use super::providers::Providers;
use super::running::RunningExports;
use super::token_locks::TokenLocks;
use crate::analysis::state::Analysis;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::projects::state::Projects;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Trackers(TrackersParts) and core: Core
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

impl Mounted for Trackers {}
