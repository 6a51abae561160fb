//! Node that writes the summary: what was read and found, the key decisions, what is in and out of scope, and
//! assumptions.

use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::engine::Items;
use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::super::result::{Summary, UserStoryDraft};
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToSummarize {
    pub index_hash: String,
    pub sources: Vec<ReadySource>,
    pub items: Items,
    pub user_stories: Vec<UserStoryDraft>,
}

pub(in super::super) struct Summarize;

impl Step for Summarize {
    const NODE: Node = Node::Summarize;
    type Input = ToSummarize;
    type Output = Summary;

    fn work(input: &ToSummarize, context: &NodeContext) -> Result<Summary, Halted> {
        context.engine.summarize(
            &context.corpus,
            &input.sources,
            &input.items,
            input.user_stories.len(),
            &context.control,
        )
    }
}
