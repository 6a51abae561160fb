//! User stories and their acceptance criteria, from requirements whose evidence holds.

use serde::{Deserialize, Serialize};

use super::super::pace::Halted;
use super::super::request::AnalysisType;
use super::super::result::{Requirement, UserStory};
use super::{Desk, Node, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToTell {
    pub analysis_type: AnalysisType,
    pub index_hash: String,
    pub requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    pub user_stories: Vec<UserStory>,
}

pub(in super::super) struct GenerateUserStories;

impl Step for GenerateUserStories {
    const NODE: Node = Node::GenerateUserStories;
    type Input = ToTell;
    type Output = Told;

    fn work(input: &ToTell, desk: &Desk) -> Result<Told, Halted> {
        if !input.analysis_type.wants_stories() {
            return Ok(Told { user_stories: Vec::new() });
        }
        Ok(Told { user_stories: desk.engine.stories(&input.requirements, &desk.pace)? })
    }
}
