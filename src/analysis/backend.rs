//! What does the work of runs.

use std::sync::Arc;

use pipeline::process::Analyser;

use crate::clients::pipeline::PipelineService;

/// Where runs are analysed. Clones share it.
#[derive(Clone)]
pub enum AnalysisBackend {
    /// In child processes of this server.
    Local(Analyser),
    Remote(Arc<PipelineService>),
}

impl AnalysisBackend {
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }
}
