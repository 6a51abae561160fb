//! Node that finds the relevant sentences: requirements, and in the same pass risks, questions, actions and decisions.

use actors::run::{AnalysisType, Node};
use serde::{Deserialize, Serialize};

use super::super::engine::{EngineReport, Extraction, Finding};
use super::super::loop_control::Halted;
use super::super::request::Bounds;
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToExtract {
    pub analysis_type: AnalysisType,
    /// The input hash of the index; the sentences themselves are in the [`NodeContext`].
    pub index_hash: String,
    pub bounds: Bounds,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExtractedRequirements {
    /// Ordered as in the sources.
    pub findings: Vec<Finding>,
    /// Number of findings beyond the bounds, which were left out.
    pub left_out: usize,
    pub report: EngineReport,
}

pub(in super::super) struct ExtractRequirements;

impl Step for ExtractRequirements {
    const NODE: Node = Node::ExtractRequirements;
    type Input = ToExtract;
    type Output = ExtractedRequirements;

    fn work(input: &ToExtract, context: &NodeContext) -> Result<ExtractedRequirements, Halted> {
        let Extraction { mut findings, report } =
            context.engine.extract(&context.corpus, input.analysis_type, &context.control)?;
        findings.retain(|finding| finding.kind.is_wanted(input.analysis_type));
        let left_out = findings.len().saturating_sub(input.bounds.findings());
        findings.truncate(input.bounds.findings());
        Ok(ExtractedRequirements { findings, left_out, report })
    }
}
