//! Findings become items: type, category, priority, title; the same thing said twice becomes one item with two sources.

use serde::{Deserialize, Serialize};

use super::super::engine::Items;
use super::super::pace::Halted;
use super::super::request::Bounds;
use super::super::request::ReadySource;
use super::extract_requirements::Found;
use super::{Desk, Node, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToClassify {
    pub index_hash: String,
    pub sources: Vec<ReadySource>,
    pub found: Found,
    pub bounds: Bounds,
}

pub(in super::super) struct ClassifyRequirements;

impl Step for ClassifyRequirements {
    const NODE: Node = Node::ClassifyRequirements;
    type Input = ToClassify;
    type Output = Items;

    fn work(input: &ToClassify, desk: &Desk) -> Result<Items, Halted> {
        let mut items = desk.engine.classify(&desk.book, &input.sources, &input.found.findings, &desk.pace)?;
        items.left_out = input.found.left_out + items.keep(input.bounds.items);
        Ok(items)
    }
}
