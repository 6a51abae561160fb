//! The result of a run: ordered items, each with at least one quote that stands verbatim in its source.
//!
//! The caller assigns ids and codes. An item's `key` is the same in every run that finds the same statement, and other
//! items refer to it by that key. JSON is camelCase and enumerations are UPPER_SNAKE_CASE, as in the HTTP API.

mod kinds;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::request::SourceKind;

pub use kinds::{
    ConfidenceLevel, EarsPattern, IssueCode, Priority, QualityCategory, QualityIssue, RequirementType, Severity,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PipelineResult {
    pub job_id: String,
    pub status: ResultStatus,
    pub requirements: Vec<RequirementDraft>,
    pub user_stories: Vec<UserStoryDraft>,
    pub risks: Vec<RiskDraft>,
    pub open_questions: Vec<OpenQuestionDraft>,
    pub action_items: Vec<ActionItemDraft>,
    pub decisions: Vec<DecisionDraft>,
    pub summary: Summary,
    pub quality: Quality,
    pub metrics: Metrics,
    pub warnings: Vec<Warning>,
}

impl PipelineResult {
    /// Returns the citations of all items.
    pub fn citations(&mut self) -> impl Iterator<Item = &mut Citation> {
        let requirements = self.requirements.iter_mut().map(|item| &mut item.sources);
        let stories = self.user_stories.iter_mut().map(|item| &mut item.sources);
        let risks = self.risks.iter_mut().map(|item| &mut item.sources);
        let questions = self.open_questions.iter_mut().map(|item| &mut item.sources);
        let actions = self.action_items.iter_mut().map(|item| &mut item.sources);
        let decisions = self.decisions.iter_mut().map(|item| &mut item.sources);
        requirements.chain(stories).chain(risks).chain(questions).chain(actions).chain(decisions).flatten()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ResultStatus {
    Completed,
    Partial,
}

/// The place in a source that an item comes from. Offsets count Unicode scalar values of the source's text, end
/// exclusive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Citation {
    pub kind: SourceKind,
    /// The source's id from the request (the caller's documentId or recordingId); of a woven text, the id that its cue
    /// names.
    pub source_id: String,
    /// Verbatim text of the source, line breaks included.
    pub quote: String,
    /// The page that the quote begins on, from 1; null for a source without pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// Heading path, outermost first, joined by " › ".
    #[schema(required)]
    pub section: Option<String>,
    pub start_offset: usize,
    pub end_offset: usize,
    /// Start in milliseconds since the beginning of the recording; null for a text.
    #[schema(required)]
    pub start_ms: Option<u64>,
    /// End in milliseconds since the beginning of the recording; null for a text.
    #[schema(required)]
    pub end_ms: Option<u64>,
    /// Who says it; null for a document or an unknown speaker.
    #[schema(required)]
    pub speaker: Option<String>,
}

/// A requirement, as an analysis found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequirementDraft {
    /// The item's key within this result. Other items refer to it.
    pub key: String,
    #[serde(rename = "type")]
    pub kind: RequirementType,
    /// Set only for NON_FUNCTIONAL.
    #[schema(required)]
    pub category: Option<QualityCategory>,
    pub title: String,
    pub statement: String,
    pub priority: Priority,
    /// 0–1, two decimals: of requirements that the embedded engine was as sure of, the share that a person had marked as such, in
    /// documents that it was not trained on. What a language model found has .9, .7 or .5, as the model says, or less.
    pub confidence: f64,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<Citation>,
    /// Key of a requirement that says nearly the same and was not merged with this one.
    #[schema(required)]
    pub duplicate_of: Option<String>,
    /// Keys of requirements that contradict this one.
    pub conflicts_with: Vec<String>,
    /// `None` where it is written in no pattern of EARS.
    #[serde(default)]
    #[schema(required)]
    pub pattern: Option<EarsPattern>,
}

/// A user story, as an analysis wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserStoryDraft {
    pub key: String,
    /// Keys of the requirements that the story covers.
    pub requirement_keys: Vec<String>,
    pub title: String,
    #[schema(required)]
    pub role: Option<String>,
    pub goal: String,
    #[schema(required)]
    pub benefit: Option<String>,
    /// "As a …, I want …, so that …", without any clause that the source does not state.
    pub description: String,
    pub priority: Priority,
    pub acceptance_criteria: Vec<CriterionDraft>,
    /// 0–1, two decimals.
    pub quality_score: f64,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<Citation>,
}

/// An acceptance criterion, as an analysis wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionDraft {
    /// The criterion's key within its story.
    pub key: String,
    pub text: String,
    #[schema(required)]
    pub given: Option<String>,
    #[schema(required)]
    pub when: Option<String>,
    #[schema(required)]
    pub then: Option<String>,
}

/// Something that may go wrong, as an analysis found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RiskDraft {
    pub key: String,
    pub title: String,
    pub description: String,
    pub severity: Severity,
    pub likelihood: Severity,
    #[schema(required)]
    pub mitigation: Option<String>,
    pub sources: Vec<Citation>,
}

/// Something that the sources leave open, as an analysis found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestionDraft {
    pub key: String,
    pub question: String,
    /// The reason why the question counts as open.
    pub why: String,
    #[schema(required)]
    pub raised_by: Option<String>,
    pub sources: Vec<Citation>,
}

/// Something that somebody has to do, as an analysis found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionItemDraft {
    pub key: String,
    pub text: String,
    #[schema(required)]
    pub assignee: Option<String>,
    /// `YYYY-MM-DD`; set only when the text gives day, month and year.
    #[schema(required)]
    pub due_date: Option<String>,
    pub sources: Vec<Citation>,
}

/// Something that was decided, as an analysis found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionDraft {
    pub key: String,
    pub text: String,
    pub sources: Vec<Citation>,
}

/// The sources in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The sources in a few sentences.
    pub text: String,
    /// What was decided, in a sentence each.
    pub key_decisions: Vec<String>,
    /// What is to be built.
    pub scope: Vec<String>,
    /// What is not to be built.
    pub out_of_scope: Vec<String>,
    /// What the sources take for granted.
    pub assumptions: Vec<String>,
}

/// Quality indicators of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quality {
    /// 0–1, two decimals: the share of requirements without an issue, reduced by conflicts.
    pub score: f64,
    /// Number of requirements for each issue code.
    pub issues: Vec<IssueCount>,
    /// 0–1, two decimals: the share of sources from which at least one item comes.
    pub coverage: f64,
    /// Number of sentences that were merged into another item.
    pub duplicates: u32,
    /// Number of pairs of requirements that contradict each other.
    pub conflicts: u32,
}

/// How often a quality issue occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueCount {
    pub code: IssueCode,
    /// How often the issue occurs.
    pub count: u32,
}

/// Counts and totals of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    pub requirements: u32,
    pub user_stories: u32,
    pub acceptance_criteria: u32,
    pub risks: u32,
    pub open_questions: u32,
    pub action_items: u32,
    pub decisions: u32,
    /// Numbers of requirements by type.
    pub by_type: BTreeMap<RequirementType, u32>,
    /// Numbers of requirements by priority.
    pub by_priority: BTreeMap<Priority, u32>,
    /// Number of items in each status. Every item of a run starts as NEEDS_REVIEW.
    pub by_status: BTreeMap<String, u32>,
    /// Number of sources that were read.
    pub sources: u32,
    /// Number of words in the sources.
    pub words: u64,
    /// Minutes of speech, rounded up.
    pub minutes: u64,
    /// Number of items dropped because their quote was not found at its offsets.
    pub ungrounded: u32,
    /// Duration of this attempt in milliseconds. The only field that differs between two runs over the same input.
    pub processing_ms: u64,
    /// Null when the engine does not count tokens.
    #[schema(required)]
    pub tokens: Option<u64>,
    /// How a language model took part; null when none did.
    #[serde(default)]
    #[schema(required)]
    pub model: Option<ModelMetrics>,
}

/// How a language model took part in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelMetrics {
    /// As the service names it.
    pub name: String,
    /// Questions that were answered.
    pub calls: u32,
    /// Those of them whose answer an earlier attempt had stored.
    pub stored_answers: u32,
    /// Questions without a usable answer.
    pub failed_calls: u32,
    /// Parts into which the sources were cut.
    pub chunks: u32,
    /// Parts that the embedded engine analysed in place of the model.
    pub fallback_chunks: u32,
    /// How the model's quotes were found in the sources.
    pub quotes: QuoteCounts,
    /// Items that were dropped because their quote does not support them.
    pub unsupported: u32,
    /// Items that say what they say in the words of the source, because the model's own words could not be relied on.
    pub in_own_words: u32,
    /// Items of the model that were in no valid form, or beyond its bounds.
    pub invalid: u32,
}

/// How the quotes of a language model were found in the sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuoteCounts {
    /// Letter by letter.
    pub exact: u32,
    /// But for case, white space and punctuation.
    pub normalised: u32,
    /// But for a few words.
    pub fuzzy: u32,
    /// Those of the above that the model had to be asked for a second time.
    pub retried: u32,
    /// Not found: their items were dropped.
    pub dropped: u32,
}

/// A problem that did not end the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// Names the problem, in PascalCase.
    pub code: String,
    /// The warning in a sentence for people.
    pub message: String,
    /// The source that the warning is about; null if it is about none.
    #[schema(required)]
    pub source_id: Option<String>,
}

impl Warning {
    /// Code for a source that exceeds the run's bounds.
    pub const SOURCE_TOO_LONG: &'static str = "SourceTooLong";
    /// Code for items beyond the run's bounds.
    pub const TOO_MANY_ITEMS: &'static str = "TooManyItems";
    /// Code for a source in a language that the engine does not cover.
    pub const LANGUAGE_NOT_COVERED: &'static str = "LanguageNotCovered";
    /// Code for items that were dropped because their quote was not found.
    pub const UNGROUNDED_ITEMS_DROPPED: &'static str = "UngroundedItemsDropped";

    /// Code for text that whoever opens the source is not shown.
    pub const HIDDEN_TEXT: &'static str = "HiddenText";
    /// Code for text that addresses a machine.
    pub const ADDRESSES_MACHINE: &'static str = "TextAddressesMachine";
    /// Code for parts of the sources that the language model did not answer for.
    pub const MODEL_UNAVAILABLE: &'static str = "ModelUnavailable";
    /// Code for answers of the language model that ended in the middle, or that quoted more than one item holds.
    pub const MODEL_ANSWER_CUT: &'static str = "ModelAnswerCut";
    /// Code for items of the language model that were dropped because the sources don't hold or support them.
    pub const MODEL_ITEMS_DROPPED: &'static str = "ModelItemsDropped";

    /// Returns whether the warning is about a source that could not be used at all; its code is then none of the
    /// constants above but the one that the source came with.
    #[must_use]
    pub fn is_of_a_failed_source(&self) -> bool {
        let own = [
            Self::SOURCE_TOO_LONG,
            Self::TOO_MANY_ITEMS,
            Self::LANGUAGE_NOT_COVERED,
            Self::UNGROUNDED_ITEMS_DROPPED,
            Self::ADDRESSES_MACHINE,
            Self::HIDDEN_TEXT,
            Self::MODEL_UNAVAILABLE,
            Self::MODEL_ANSWER_CUT,
            Self::MODEL_ITEMS_DROPPED,
        ];
        !own.contains(&self.code.as_str())
    }
}

/// Requirements and user stories with their quality issues.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CheckedItems {
    pub requirements: Vec<RequirementDraft>,
    pub user_stories: Vec<UserStoryDraft>,
    pub quality: Quality,
}
