//! The sentences of all sources, each with its place: block, heading, page, list lead-in, table row, speaker, time.

use serde::{Deserialize, Serialize};

use super::super::engine::Index;
use super::prepare_sources::ReadySource;
use super::{Desk, Halted, Node, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToIndex {
    pub sources: Vec<ReadySource>,
}

pub(in super::super) struct BuildSourceIndex;

impl Step for BuildSourceIndex {
    const NODE: Node = Node::BuildSourceIndex;
    type Input = ToIndex;
    type Output = Index;

    fn work(input: &ToIndex, desk: &Desk) -> Result<Index, Halted> {
        let mut index = Index::default();
        for (done, source) in input.sources.iter().enumerate() {
            desk.pace.mark(done, input.sources.len())?;
            if let Some(text) = desk.texts.get(source.slot) {
                index.add(source.slot, text, &desk.pace)?;
            }
        }
        Ok(index)
    }
}
