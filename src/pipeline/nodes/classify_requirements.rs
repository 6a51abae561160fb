//! Findings become items: type, category, priority, title; the same thing said twice becomes one item with two sources.

use serde::{Deserialize, Serialize};

use super::super::engine::{Finding, Items};
use super::prepare_sources::ReadySource;
use super::{Desk, Halted, Node, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToClassify {
    pub index_hash: String,
    pub sources: Vec<ReadySource>,
    pub findings: Vec<Finding>,
}

pub(in super::super) struct ClassifyRequirements;

impl Step for ClassifyRequirements {
    const NODE: Node = Node::ClassifyRequirements;
    type Input = ToClassify;
    type Output = Items;

    fn work(input: &ToClassify, desk: &Desk) -> Result<Items, Halted> {
        desk.engine.classify(&desk.book, &input.sources, &input.findings, &desk.pace)
    }
}
