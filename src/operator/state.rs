//! The state of the operations for operators.

use std::ops::Deref;
use std::sync::Arc;

use actors::time::Time;
use tokio::sync::Mutex;

use super::model::InstallationFigures;
use crate::analysis::state::Analysis;
use crate::http::mounted::Mounted;
use crate::http::state::Http;
use crate::live::state::RealTime;

/// The state of this area, with the state of the areas it depends on. Clones share the same state.
#[derive(Clone)]
pub struct Operators(Arc<OperatorsParts>);

pub struct OperatorsParts {
    pub analysis: Analysis,
    pub real_time: RealTime,
    pub http: Http,
    /// When this process started.
    pub started_at: Time,
    pub figures: FiguresCache,
}

/// The latest figures. Whoever comes while they are computed waits for them here.
#[derive(Default)]
pub struct FiguresCache(pub(super) Mutex<Option<InstallationFigures>>);

impl Operators {
    #[must_use]
    pub fn new(parts: OperatorsParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl Deref for Operators {
    type Target = OperatorsParts;
    fn deref(&self) -> &OperatorsParts {
        &self.0
    }
}

impl Deref for OperatorsParts {
    type Target = Analysis;
    fn deref(&self) -> &Analysis {
        &self.analysis
    }
}

impl Mounted for Operators {}
