//! What a run gives: items in order, each with at least one quote that stands verbatim in its source.
//!
//! Ids and codes are the caller's. An item's `key` is the same in every run that finds the same statement, and other items point
//! at it by that key. JSON is camelCase, enumerations UPPER_SNAKE_CASE, as in the interface.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::request::SourceKind;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PipelineResult {
    pub job_id: String,
    pub status: ResultStatus,
    pub requirements: Vec<Requirement>,
    pub user_stories: Vec<UserStory>,
    pub risks: Vec<Risk>,
    pub open_questions: Vec<OpenQuestion>,
    pub action_items: Vec<ActionItem>,
    pub decisions: Vec<Decision>,
    pub summary: Summary,
    pub quality: Quality,
    pub metrics: Metrics,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResultStatus {
    Completed,
    Partial,
}

/// Where an item comes from. Offsets count Unicode scalar values of the source's text, end exclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceReference {
    pub kind: SourceKind,
    /// The id the request gave the source (documentId or recordingId for the caller).
    pub source_id: String,
    /// Verbatim in the source, line breaks included.
    pub quote: String,
    pub page: Option<u32>,
    /// Heading path, outermost first, joined by " › ".
    pub section: Option<String>,
    pub start_offset: usize,
    pub end_offset: usize,
    pub start_ms: Option<u64>,
    pub end_ms: Option<u64>,
    pub speaker: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    pub key: String,
    #[serde(rename = "type")]
    pub kind: RequirementType,
    /// Only for NON_FUNCTIONAL.
    pub category: Option<QualityCategory>,
    pub title: String,
    pub statement: String,
    pub priority: Priority,
    /// 0–1, two decimals.
    pub confidence: f64,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<SourceReference>,
    /// Key of the requirement that says nearly the same and was not merged.
    pub duplicate_of: Option<String>,
    /// Keys of requirements that can't both hold.
    pub conflicts_with: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RequirementType {
    Functional,
    NonFunctional,
    Business,
    Constraint,
    Unknown,
}

/// The characteristics of ISO/IEC 25010:2011.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum QualityCategory {
    FunctionalSuitability,
    PerformanceEfficiency,
    Compatibility,
    Usability,
    Reliability,
    Security,
    Maintainability,
    Portability,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Priority {
    Low,
    Medium,
    High,
    Critical,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

/// What makes an item hard to build or to test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QualityIssue {
    pub code: IssueCode,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IssueCode {
    VagueWord,
    PassiveWithoutActor,
    SeveralInOne,
    Unmeasurable,
    UnclearPronoun,
    OpenEnded,
    Placeholder,
    TooLong,
    MissingRole,
    MissingBenefit,
    MissingCriteria,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserStory {
    pub key: String,
    /// Keys of the requirements that it stands for.
    pub requirement_keys: Vec<String>,
    pub title: String,
    pub role: Option<String>,
    pub goal: String,
    pub benefit: Option<String>,
    /// "As a …, I want …, so that …" without the clause that the source does not name.
    pub description: String,
    pub priority: Priority,
    pub acceptance_criteria: Vec<AcceptanceCriterion>,
    /// 0–1, two decimals.
    pub quality_score: f64,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptanceCriterion {
    pub key: String,
    pub text: String,
    pub given: Option<String>,
    pub when: Option<String>,
    pub then: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Risk {
    pub key: String,
    pub title: String,
    pub description: String,
    pub severity: Severity,
    pub likelihood: Severity,
    pub mitigation: Option<String>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestion {
    pub key: String,
    pub question: String,
    /// Why it counts as open.
    pub why: String,
    pub raised_by: Option<String>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionItem {
    pub key: String,
    pub text: String,
    pub assignee: Option<String>,
    /// `YYYY-MM-DD`, only when the text gives day, month and year.
    pub due_date: Option<String>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    pub key: String,
    pub text: String,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub text: String,
    pub key_decisions: Vec<String>,
    pub scope: Vec<String>,
    pub out_of_scope: Vec<String>,
    pub assumptions: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quality {
    /// 0–1, two decimals: share of requirements without an issue, lessened by conflicts.
    pub score: f64,
    /// How many requirements have an issue of each code.
    pub issues: Vec<IssueCount>,
    /// 0–1, two decimals: share of sources from which at least one item comes.
    pub coverage: f64,
    /// Sentences that were merged into another item.
    pub duplicates: u32,
    /// Pairs of requirements that can't both hold.
    pub conflicts: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueCount {
    pub code: IssueCode,
    pub count: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    pub requirements: u32,
    pub user_stories: u32,
    pub acceptance_criteria: u32,
    pub risks: u32,
    pub open_questions: u32,
    pub action_items: u32,
    pub decisions: u32,
    pub by_type: BTreeMap<RequirementType, u32>,
    pub by_priority: BTreeMap<Priority, u32>,
    /// Every item of a run starts as NEEDS_REVIEW.
    pub by_status: BTreeMap<String, u32>,
    /// Sources that were read.
    pub sources: u32,
    pub words: u64,
    /// Of speech, rounded up.
    pub minutes: u64,
    /// Items dropped because their quote did not stand at its offsets.
    pub ungrounded: u32,
    /// Time of this attempt. The only field that differs between two runs over the same input.
    pub processing_ms: u64,
    /// Null: the embedded engine counts no tokens.
    pub tokens: Option<u64>,
}

/// Something that went wrong without ending the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// PascalCase.
    pub code: String,
    pub message: String,
    pub source_id: Option<String>,
}

impl Warning {
    /// The code of a source that goes past the run's bounds.
    pub const SOURCE_TOO_LONG: &'static str = "SourceTooLong";
    /// The code of items past the run's bounds.
    pub const TOO_MANY_ITEMS: &'static str = "TooManyItems";
    /// The code of a source in a language that the engine does not know.
    pub const LANGUAGE_NOT_COVERED: &'static str = "LanguageNotCovered";
    /// The code of items without evidence.
    pub const UNGROUNDED_ITEMS_DROPPED: &'static str = "UngroundedItemsDropped";

    /// Whether it tells of a source that gave nothing: its code is then the one that the source came with.
    #[must_use]
    pub fn is_of_a_failed_source(&self) -> bool {
        let own =
            [Self::SOURCE_TOO_LONG, Self::TOO_MANY_ITEMS, Self::LANGUAGE_NOT_COVERED, Self::UNGROUNDED_ITEMS_DROPPED];
        !own.contains(&self.code.as_str())
    }
}

/// Requirements and stories with what was found wrong with them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checked {
    pub requirements: Vec<Requirement>,
    pub user_stories: Vec<UserStory>,
    pub quality: Quality,
}
