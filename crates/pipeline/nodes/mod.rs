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
mod complexity_tests;

use std::sync::Arc;

use actors::run::Node;
use serde::{Serialize, de::DeserializeOwned};

use super::engine::{Corpus, Engine, Texts};
use super::loop_control::{Halted, LoopControl};

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
    pub corpus: Arc<Corpus>,
    pub engine: Arc<dyn Engine>,
    pub control: LoopControl,
}
