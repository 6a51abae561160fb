//! Writing one user story anew: what is given, and what comes of it. Nothing is kept between two calls.

use actors::language::Language;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::result::{Priority, QualityIssue, RequirementType};

/// A story as it is, and what it is to be written from.
#[derive(Debug, Clone)]
pub struct StoryRequest {
    pub story: StoryContent,
    /// At least one.
    pub requirements: Vec<StatedRequirement>,
    /// What the sources say, verbatim.
    pub quotes: Vec<String>,
    pub feedback: String,
    pub language: Language,
}

/// The parts of a story that are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoryContent {
    pub role: Option<String>,
    pub goal: String,
    pub benefit: Option<String>,
    /// The texts of its criteria.
    pub criteria: Vec<String>,
}

/// A requirement that the story covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedRequirement {
    pub title: String,
    pub statement: String,
    pub kind: RequirementType,
    pub priority: Priority,
}

/// A user story that was written anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegeneratedStory {
    pub title: String,
    /// Null where neither a requirement nor a source names who wants it.
    #[schema(required)]
    pub role: Option<String>,
    pub goal: String,
    /// Null where neither a requirement nor a source says what for.
    #[schema(required)]
    pub benefit: Option<String>,
    pub description: String,
    pub priority: Priority,
    pub acceptance_criteria: Vec<RegeneratedCriterion>,
    /// 0–1, two decimals.
    pub quality_score: f64,
    pub quality_issues: Vec<QualityIssue>,
    /// What was asked for and could not be done, and what is missing in the sources.
    pub notes: Vec<String>,
}

/// An acceptance criterion of a story that was written anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegeneratedCriterion {
    pub text: String,
    #[schema(required)]
    pub given: Option<String>,
    #[schema(required)]
    pub when: Option<String>,
    #[schema(required)]
    pub then: Option<String>,
}
