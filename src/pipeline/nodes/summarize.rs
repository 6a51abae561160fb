//! The summary: what was read and found, the key decisions, what is in and out of scope, and what is assumed.

use serde::{Deserialize, Serialize};

use super::super::engine::Items;
use super::super::pace::Halted;
use super::super::request::ReadySource;
use super::super::result::{Summary, UserStory};
use super::{Desk, Node, Step};

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

    fn work(input: &ToSummarize, desk: &Desk) -> Result<Summary, Halted> {
        desk.engine.summarize(&desk.book, &input.sources, &input.items, input.user_stories.len(), &desk.pace)
    }
}
