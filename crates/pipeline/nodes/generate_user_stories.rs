//! Node that derives user stories and their acceptance criteria from requirements with verified evidence.

use actors::run::{AnalysisType, Node};
use serde::{Deserialize, Serialize};

use super::super::loop_control::Halted;
use super::super::result::{RequirementDraft, UserStoryDraft};
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToGenerate {
    pub analysis_type: AnalysisType,
    pub index_hash: String,
    pub requirements: Vec<RequirementDraft>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GeneratedStories {
    pub user_stories: Vec<UserStoryDraft>,
}

pub(in super::super) struct GenerateUserStories;

impl Step for GenerateUserStories {
    const NODE: Node = Node::GenerateUserStories;
    type Input = ToGenerate;
    type Output = GeneratedStories;

    fn work(input: &ToGenerate, context: &NodeContext) -> Result<GeneratedStories, Halted> {
        if !input.analysis_type.wants_stories() {
            return Ok(GeneratedStories { user_stories: Vec::new() });
        }
        Ok(GeneratedStories { user_stories: context.engine.stories(&input.requirements, &context.control)? })
    }
}
