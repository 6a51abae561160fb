//! Node that turns findings into items with type, category, priority and title. Findings that say the same become one
//! item with several sources.

use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::engine::Items;
use super::super::loop_control::Halted;
use super::super::request::Bounds;
use super::super::request::ReadySource;
use super::extract_requirements::ExtractedRequirements;
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToClassify {
    pub index_hash: String,
    pub sources: Vec<ReadySource>,
    pub found: ExtractedRequirements,
    pub bounds: Bounds,
}

pub(in super::super) struct ClassifyRequirements;

impl Step for ClassifyRequirements {
    const NODE: Node = Node::ClassifyRequirements;
    type Input = ToClassify;
    type Output = Items;

    fn work(input: &ToClassify, context: &NodeContext) -> Result<Items, Halted> {
        let mut items =
            context.engine.classify(&context.corpus, &input.sources, &input.found.findings, &context.control)?;
        items.left_out = input.found.left_out + items.keep(input.bounds.items);
        Ok(items)
    }
}
