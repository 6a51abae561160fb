//! The nodes of a run, in order; each is a small file with typed input and output.
//!
//! A node is CPU work: it gets its typed input and a [`NodeContext`], and returns a typed output that is stored as a
//! checkpoint. It uses no clock and no randomness, so the same input gives the same output, byte for byte.

pub mod build_source_index;
pub mod classify_requirements;
pub mod evidence_grounding;
pub mod extract_requirements;
pub mod finalize;
pub mod generate_user_stories;
pub mod prepare_sources;
pub mod quality_checks;
pub mod summarize;
pub mod transcribe_recordings;

#[cfg(test)]
mod ladder_tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::engine::{Book, Engine, Texts};
use super::loop_control::{Halted, LoopControl};

/// A position in the run, with the name used in the HTTP API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    Queued,
    PrepareSources,
    TranscribeRecordings,
    BuildSourceIndex,
    ExtractRequirements,
    ClassifyRequirements,
    EvidenceGrounding,
    GenerateUserStories,
    QualityChecks,
    Summarize,
    Finalize,
    Done,
}

impl Node {
    /// All positions, in the order in which a run passes through them.
    pub const ALL: [Self; 12] = [
        Self::Queued,
        Self::PrepareSources,
        Self::TranscribeRecordings,
        Self::BuildSourceIndex,
        Self::ExtractRequirements,
        Self::ClassifyRequirements,
        Self::EvidenceGrounding,
        Self::GenerateUserStories,
        Self::QualityChecks,
        Self::Summarize,
        Self::Finalize,
        Self::Done,
    ];

    /// Returns the name used in the HTTP API and in the store, for example `build_source_index`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::PrepareSources => "prepare_sources",
            Self::TranscribeRecordings => "transcribe_recordings",
            Self::BuildSourceIndex => "build_source_index",
            Self::ExtractRequirements => "extract_requirements",
            Self::ClassifyRequirements => "classify_requirements",
            Self::EvidenceGrounding => "evidence_grounding",
            Self::GenerateUserStories => "generate_user_stories",
            Self::QualityChecks => "quality_checks",
            Self::Summarize => "summarize",
            Self::Finalize => "finalize",
            Self::Done => "done",
        }
    }

    /// Returns the name shown to users. It is defined only once, in `actors::run::Node`.
    pub fn label(self) -> &'static str {
        self.name().parse().map_or(self.name(), actors::run::Node::label)
    }

    /// Returns the progress at the node's start, in percent.
    pub fn progress(self) -> u8 {
        match self {
            Self::Queued => 0,
            Self::PrepareSources => 5,
            Self::TranscribeRecordings => 10,
            Self::BuildSourceIndex => 25,
            Self::ExtractRequirements => 35,
            Self::ClassifyRequirements => 50,
            Self::EvidenceGrounding => 60,
            Self::GenerateUserStories => 70,
            Self::QualityChecks => 85,
            Self::Summarize => 92,
            Self::Finalize => 97,
            Self::Done => 100,
        }
    }

    /// Returns the progress in percent when `permille` of the node's work is done; it stays below the next node's
    /// start.
    pub fn progress_within(self, permille: u32) -> u8 {
        let start = u32::from(self.progress());
        let next = Self::ALL.iter().map(|node| u32::from(node.progress())).find(|&at| at > start).unwrap_or(start);
        let last = next.saturating_sub(1).max(start);
        let now = start + (next - start) * permille.min(1000) / 1000;
        u8::try_from(now.min(last)).unwrap_or(99)
    }
}

/// The work of one node.
pub(super) trait Step: Send + Sync + 'static {
    const NODE: Node;
    type Input: Serialize + Send + Sync + 'static;
    type Output: Serialize + DeserializeOwned + Send + 'static;

    fn work(input: &Self::Input, context: &NodeContext) -> Result<Self::Output, Halted>;
}

/// What every node has access to: the texts, the sentences (empty until they are indexed), the engine, and the loop
/// control.
#[derive(Clone)]
pub struct NodeContext {
    pub texts: Arc<Texts>,
    pub book: Arc<Book>,
    pub engine: Arc<dyn Engine>,
    pub pace: LoopControl,
}
