//! What an engine found, and what it took to find it.

use serde::{Deserialize, Serialize};

use super::super::result::{ModelMetrics, Warning};
use super::Finding;

/// The findings of a run with the engine's report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// In reading order.
    pub findings: Vec<Finding>,
    pub report: EngineReport,
}

/// What is to be known of how the findings came about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineReport {
    /// Why the engine could do nothing at all, as a sentence for users: the run fails.
    pub failure: Option<String>,
    /// What was left out or done otherwise than asked; with any of them the run is PARTIAL.
    pub warnings: Vec<Warning>,
    /// Set by engines that ask a model.
    pub tokens: Option<u64>,
    pub model: Option<ModelMetrics>,
}
