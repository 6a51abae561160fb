//! The state of the operations for operators.

use actors::time::Time;
use tokio::sync::Mutex;

use super::model::InstallationFigures;
use crate::analysis::state::Analysis;
use crate::core::Core;
use crate::http::mounted::Mounted;
use crate::http::state::Http;
use crate::live::state::RealTime;
use crate::shared_state::shared_state;

shared_state! {
    /// The state of this area, with the state of the areas it depends on.
    Operators(OperatorsParts) and core: Core
}

pub struct OperatorsParts {
    pub core: Core,
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

impl Mounted for Operators {}
