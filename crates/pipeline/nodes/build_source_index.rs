//! Node that collects the sentences of all sources, each with its location: block, heading, page, list lead-in, table
//! row, speaker, time.

use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::engine::{Index, Indexer};
use super::super::loop_control::Halted;
use super::super::request::Bounds;
use super::super::request::ReadySource;
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToIndex {
    pub sources: Vec<ReadySource>,
    pub bounds: Bounds,
}

pub(in super::super) struct BuildSourceIndex;

impl Step for BuildSourceIndex {
    const NODE: Node = Node::BuildSourceIndex;
    type Input = ToIndex;
    type Output = Index;

    fn work(input: &ToIndex, context: &NodeContext) -> Result<Index, Halted> {
        let texts = || input.sources.iter().filter_map(|source| Some((source.slot, context.texts.get(source.slot)?)));
        let total = texts().map(|(_, text)| text.characters()).sum();
        let mut indexer = Indexer::new(input.bounds, total, &context.control);
        for (slot, text) in texts() {
            indexer.add(slot, text)?;
        }
        Ok(indexer.finish())
    }
}
