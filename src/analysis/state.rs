//! What the analysis owns.

use std::ops::Deref;
use std::sync::Arc;

use actors::keeper::Keeper;
use actors::run::Run;

use super::runner::Runner;
use crate::http::mounted::Mounted;
use crate::meetings::state::Meetings;

/// The state of this area, and what it rests on. Clones are the same one.
#[derive(Clone)]
pub struct Analysis(Arc<AnalysisParts>);

pub struct AnalysisParts {
    pub meetings: Meetings,
    pub registry: Keeper<Run>,
    pub runner: Runner,
}

impl Analysis {
    #[must_use]
    pub fn new(parts: AnalysisParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Analysis {
    type Target = AnalysisParts;
    fn deref(&self) -> &AnalysisParts {
        &self.0
    }
}

impl Deref for AnalysisParts {
    type Target = Meetings;
    fn deref(&self) -> &Meetings {
        &self.meetings
    }
}

impl Mounted for Analysis {}
