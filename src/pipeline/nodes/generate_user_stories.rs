//! Node that derives user stories and their acceptance criteria from requirements with verified evidence.

use serde::{Deserialize, Serialize};

use super::super::loop_control::Halted;
use super::super::request::AnalysisType;
use super::super::result::{Requirement, UserStory};
use super::{Node, NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToTell {
    pub analysis_type: AnalysisType,
    pub index_hash: String,
    pub requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GeneratedStories {
    pub user_stories: Vec<UserStory>,
}

pub(in super::super) struct GenerateUserStories;

impl Step for GenerateUserStories {
    const NODE: Node = Node::GenerateUserStories;
    type Input = ToTell;
    type Output = GeneratedStories;

    fn work(input: &ToTell, context: &NodeContext) -> Result<GeneratedStories, Halted> {
        if !input.analysis_type.wants_stories() {
            return Ok(GeneratedStories { user_stories: Vec::new() });
        }
        Ok(GeneratedStories { user_stories: context.engine.stories(&input.requirements, &context.pace)? })
    }
}
