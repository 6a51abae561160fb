//! The state of the trackers area.

use std::ops::Deref;
use std::sync::Arc;

use super::pacing::CreationPaces;
use super::providers::Providers;
use super::running::RunningExports;
use super::token_locks::TokenLocks;
use crate::analysis::state::Analysis;
use crate::http::mounted::Mounted;

/// The state of this area, with the state of the areas it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Trackers(Arc<TrackersParts>);

pub struct TrackersParts {
    pub analysis: Analysis,
    pub providers: Providers,
    pub token_locks: TokenLocks,
    pub running_exports: RunningExports,
    pub creation_paces: CreationPaces,
}

impl Trackers {
    #[must_use]
    pub fn new(parts: TrackersParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Trackers {
    type Target = TrackersParts;
    fn deref(&self) -> &TrackersParts {
        &self.0
    }
}

impl Deref for TrackersParts {
    type Target = Analysis;
    fn deref(&self) -> &Analysis {
        &self.analysis
    }
}

impl Mounted for Trackers {}
