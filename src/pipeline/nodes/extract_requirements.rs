//! Which sentences say something: requirements first, and risks, questions, actions and decisions on the same walk.

use serde::{Deserialize, Serialize};

use super::super::engine::Finding;
use super::super::pace::Halted;
use super::super::request::{AnalysisType, Bounds};
use super::{Desk, Node, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToRead {
    pub analysis_type: AnalysisType,
    /// The input hash of the index; the sentences themselves lie on the desk.
    pub index_hash: String,
    pub bounds: Bounds,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// In reading order.
    pub findings: Vec<Finding>,
    /// How many more there were, past the bounds.
    pub left_out: usize,
}

pub(in super::super) struct ExtractRequirements;

impl Step for ExtractRequirements {
    const NODE: Node = Node::ExtractRequirements;
    type Input = ToRead;
    type Output = Found;

    fn work(input: &ToRead, desk: &Desk) -> Result<Found, Halted> {
        let mut findings = desk.engine.find(&desk.book, &desk.pace)?;
        findings.retain(|finding| finding.kind.is_wanted(input.analysis_type));
        let left_out = findings.len().saturating_sub(input.bounds.findings());
        findings.truncate(input.bounds.findings());
        Ok(Found { findings, left_out })
    }
}
