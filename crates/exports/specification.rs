//! What a file is made of: the requirements and stories of a project with all that was found beside them.
//!
//! Texts are those of people and documents: nothing in them may become markup, a formula or a link. Enumerations are the words of the
//! interface, such as `NON_FUNCTIONAL`; ids are UUIDs in their canonical form; times are RFC 3339 in UTC.

use serde::{Deserialize, Serialize};

/// The content of a file, in the order in which it is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Specification {
    pub project: ProjectHead,
    /// When the newest of what is shown was written: it stands in place of the time of the export, so that the same data gives the same
    /// bytes.
    pub as_of: String,
    /// The name of the person who exports it, for the cover.
    pub exported_by: String,
    pub selection: SelectionHead,
    pub run_id: Option<String>,
    pub summary: SpecificationSummary,
    pub requirements: Vec<RequirementEntry>,
    pub user_stories: Vec<UserStoryEntry>,
    pub risks: Vec<RiskEntry>,
    pub open_questions: Vec<OpenQuestionEntry>,
    pub action_items: Vec<ActionItemEntry>,
    pub decisions: Vec<DecisionEntry>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectHead {
    pub id: String,
    pub name: String,
    pub description: String,
    /// `EN`, `AR`, …; `AUTO` where the project names none. It decides the words of headings and the direction of the pages; the direction
    /// of each text is its own.
    pub language: String,
}

/// Which items of the project these are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SelectionHead {
    /// By their status: `ALL`, `APPROVED`, `NOT_REJECTED`, `NEEDS_REVIEW` or `REJECTED`.
    pub items: String,
    /// Whether filters left out others beside that.
    pub is_filtered: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SpecificationSummary {
    pub text: String,
    pub key_decisions: Vec<String>,
    pub scope: Vec<String>,
    pub out_of_scope: Vec<String>,
    pub assumptions: Vec<String>,
}

/// Where an item comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceEntry {
    /// `DOCUMENT` or `RECORDING`.
    pub kind: String,
    /// The id of the document or the recording.
    pub id: String,
    /// The name of the file, or the title of the meeting.
    pub name: String,
    /// Verbatim.
    pub quote: String,
    pub page: Option<u32>,
    /// The headings above the quote, outermost first.
    pub section: Option<String>,
    /// In Unicode scalar values of the text of the source; the end is exclusive.
    pub start_offset: usize,
    pub end_offset: usize,
    pub start_ms: Option<u64>,
    pub end_ms: Option<u64>,
    pub speaker: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequirementEntry {
    pub id: String,
    /// `REQ-001`; it never changes.
    pub code: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub category: Option<String>,
    pub title: String,
    pub statement: String,
    pub priority: String,
    /// 0–1: the share of findings like this one that were right, as in the interface.
    pub confidence: f64,
    pub workflow_status: String,
    pub suspect: bool,
    pub quality_issues: Vec<QualityNote>,
    /// Ids of requirements.
    pub duplicate_of: Option<String>,
    pub conflicts_with: Vec<String>,
    pub version: i64,
    pub revision_source: String,
    pub sources: Vec<SourceEntry>,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QualityNote {
    pub code: String,
    pub message: String,
    pub severity: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserStoryEntry {
    pub id: String,
    /// `US-001`; it never changes.
    pub code: String,
    /// Ids of requirements.
    pub requirement_ids: Vec<String>,
    pub title: String,
    pub role: Option<String>,
    pub goal: String,
    pub benefit: Option<String>,
    /// The story in one sentence.
    pub description: String,
    pub priority: String,
    pub acceptance_criteria: Vec<CriterionEntry>,
    pub workflow_status: String,
    pub suspect: bool,
    /// 0–1.
    pub quality_score: f64,
    pub quality_issues: Vec<QualityNote>,
    pub version: i64,
    pub revision_source: String,
    /// The issue in the tracker.
    pub tracker_key: Option<String>,
    pub tracker_url: Option<String>,
    pub sources: Vec<SourceEntry>,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionEntry {
    pub id: String,
    /// `AC-001`
    pub code: String,
    pub text: String,
    pub given: Option<String>,
    pub when: Option<String>,
    pub then: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RiskEntry {
    pub id: String,
    pub code: String,
    pub title: String,
    pub description: String,
    pub severity: String,
    pub likelihood: String,
    pub mitigation: Option<String>,
    pub sources: Vec<SourceEntry>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestionEntry {
    pub id: String,
    pub code: String,
    pub question: String,
    pub why: String,
    pub raised_by: Option<String>,
    pub sources: Vec<SourceEntry>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionItemEntry {
    pub id: String,
    pub code: String,
    pub text: String,
    pub assignee: Option<String>,
    /// `YYYY-MM-DD`
    pub due_date: Option<String>,
    pub sources: Vec<SourceEntry>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionEntry {
    pub id: String,
    pub code: String,
    pub text: String,
    pub sources: Vec<SourceEntry>,
}
