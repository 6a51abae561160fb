//! The sentences of all sources, each with its place: block, heading, page, list lead-in, table row, speaker, time.

use serde::{Deserialize, Serialize};

use super::super::engine::{Index, Indexer};
use super::super::pace::Halted;
use super::super::request::Bounds;
use super::super::request::ReadySource;
use super::{Desk, Node, Step};

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

    fn work(input: &ToIndex, desk: &Desk) -> Result<Index, Halted> {
        let texts = || input.sources.iter().filter_map(|source| Some((source.slot, desk.texts.get(source.slot)?)));
        let total = texts().map(|(_, text)| text.characters()).sum();
        let mut indexer = Indexer::new(input.bounds, total, &desk.pace);
        for (slot, text) in texts() {
            indexer.add(slot, text)?;
        }
        Ok(indexer.finish())
    }
}
