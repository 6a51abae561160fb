//! Node that writes the summary: what was read and found, the key decisions, what is in and out of scope, and
//! assumptions.

use serde::{Deserialize, Serialize};

use super::super::engine::Items;
use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::super::result::{Summary, UserStory};
use super::{Node, NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToSummarize {
    pub index_hash: String,
    pub sources: Vec<ReadySource>,
    pub items: Items,
    pub user_stories: Vec<UserStory>,
}

pub(in super::super) struct Summarize;

impl Step for Summarize {
    const NODE: Node = Node::Summarize;
    type Input = ToSummarize;
    type Output = Summary;

    fn work(input: &ToSummarize, context: &NodeContext) -> Result<Summary, Halted> {
        context.engine.summarize(&context.book, &input.sources, &input.items, input.user_stories.len(), &context.pace)
    }
}
