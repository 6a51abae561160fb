//! Response types of a run's findings.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::enumeration;
use crate::pipeline::SourceKind as PipelineSourceKind;
use crate::pipeline::result as found;

enumeration! {
    /// The kind of a source.
    pub enum SourceKind { Document = "DOCUMENT", Recording = "RECORDING" }
}
enumeration! {
    /// The type of a requirement.
    pub enum RequirementType {
        Functional = "FUNCTIONAL", NonFunctional = "NON_FUNCTIONAL", Business = "BUSINESS", Constraint = "CONSTRAINT",
        Unknown = "UNKNOWN",
    }
}
enumeration! {
    /// The priority, as far as the source states it.
    pub enum Priority { Low = "LOW", Medium = "MEDIUM", High = "HIGH", Critical = "CRITICAL", Unknown = "UNKNOWN" }
}
enumeration! {
    /// The severity or likelihood of a risk.
    pub enum Severity { Low = "LOW", Medium = "MEDIUM", High = "HIGH", Critical = "CRITICAL" }
}
enumeration! {
    /// The review status of an item.
    pub enum WorkflowStatus { NeedsReview = "NEEDS_REVIEW", Approved = "APPROVED", Rejected = "REJECTED" }
}
enumeration! {
    /// Who last wrote the text of an item.
    pub enum RevisionSource {
        AiGenerated = "AI_GENERATED", HumanEdited = "HUMAN_EDITED", AiRegenerated = "AI_REGENERATED",
    }
}

/// Where an item comes from. The quote occurs verbatim in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceReference {
    pub kind: SourceKind,
    #[schema(required)]
    pub document_id: Option<Uuid>,
    #[schema(required)]
    pub recording_id: Option<Uuid>,
    pub quote: String,
    #[schema(required)]
    pub page: Option<u32>,
    /// The headings above the quote, outermost first.
    #[schema(required)]
    pub section: Option<String>,
    /// In Unicode scalar values of the text that getDocumentText returns; the end is exclusive.
    pub start_offset: usize,
    pub end_offset: usize,
    #[schema(required)]
    pub start_ms: Option<u64>,
    #[schema(required)]
    pub end_ms: Option<u64>,
    #[schema(required)]
    pub speaker: Option<String>,
}

/// A property that makes an item hard to implement or to test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QualityIssue {
    #[schema(example = "VAGUE_WORD")]
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    pub id: Uuid,
    #[schema(example = "REQ-001")]
    pub code: String,
    #[serde(rename = "type")]
    pub kind: RequirementType,
    /// For NON_FUNCTIONAL requirements: a quality characteristic of ISO/IEC 25010.
    #[schema(required)]
    pub category: Option<String>,
    pub title: String,
    pub statement: String,
    pub priority: Priority,
    /// Confidence of the engine, 0–1.
    #[schema(minimum = 0, maximum = 1)]
    pub confidence: f64,
    pub workflow_status: WorkflowStatus,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<SourceReference>,
    /// Another requirement that says nearly the same.
    #[schema(required)]
    pub duplicate_of: Option<Uuid>,
    /// Requirements that contradict this one.
    pub conflicts_with: Vec<Uuid>,
    pub version: i64,
    pub revision_source: RevisionSource,
    pub suspect: bool,
    #[schema(value_type = Uuid)]
    pub run_id: Id<Run>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub updated_at: Time,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AcceptanceCriterion {
    pub id: Uuid,
    #[schema(example = "AC-001")]
    pub code: String,
    pub text: String,
    #[schema(required)]
    pub given: Option<String>,
    #[schema(required)]
    pub when: Option<String>,
    #[schema(required)]
    pub then: Option<String>,
}

/// The issue of a user story in the issue tracker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerIssue {
    pub key: String,
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserStory {
    pub id: Uuid,
    #[schema(example = "US-001")]
    pub code: String,
    pub requirement_ids: Vec<Uuid>,
    pub title: String,
    /// Null when the source names no role; roles are never invented.
    #[schema(required)]
    pub role: Option<String>,
    pub goal: String,
    #[schema(required)]
    pub benefit: Option<String>,
    pub description: String,
    pub priority: Priority,
    pub acceptance_criteria: Vec<AcceptanceCriterion>,
    pub workflow_status: WorkflowStatus,
    /// Quality score, 0–1.
    #[schema(minimum = 0, maximum = 1)]
    pub quality_score: f64,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<SourceReference>,
    pub version: i64,
    pub revision_source: RevisionSource,
    pub suspect: bool,
    #[schema(required)]
    pub tracker_issue: Option<TrackerIssue>,
    #[schema(value_type = Uuid)]
    pub run_id: Id<Run>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub updated_at: Time,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Risk {
    pub id: Uuid,
    #[schema(example = "RISK-001")]
    pub code: String,
    pub title: String,
    pub description: String,
    pub severity: Severity,
    pub likelihood: Severity,
    #[schema(required)]
    pub mitigation: Option<String>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestion {
    pub id: Uuid,
    #[schema(example = "Q-001")]
    pub code: String,
    pub question: String,
    /// Why the question counts as open.
    pub why: String,
    #[schema(required)]
    pub raised_by: Option<String>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionItem {
    pub id: Uuid,
    #[schema(example = "ACT-001")]
    pub code: String,
    pub text: String,
    #[schema(required)]
    pub assignee: Option<String>,
    /// `YYYY-MM-DD`; null unless the source gives a complete date.
    #[schema(required)]
    pub due_date: Option<String>,
    pub sources: Vec<SourceReference>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    pub id: Uuid,
    #[schema(example = "DEC-001")]
    pub code: String,
    pub text: String,
    pub sources: Vec<SourceReference>,
}

/// The serialized name of a value of a pipeline enumeration.
fn spelled(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}

impl From<found::Priority> for Priority {
    fn from(priority: found::Priority) -> Self {
        match priority {
            found::Priority::Low => Self::Low,
            found::Priority::Medium => Self::Medium,
            found::Priority::High => Self::High,
            found::Priority::Critical => Self::Critical,
            found::Priority::Unknown => Self::Unknown,
        }
    }
}

impl From<found::Severity> for Severity {
    fn from(severity: found::Severity) -> Self {
        match severity {
            found::Severity::Low => Self::Low,
            found::Severity::Medium => Self::Medium,
            found::Severity::High => Self::High,
            found::Severity::Critical => Self::Critical,
        }
    }
}

impl From<found::RequirementType> for RequirementType {
    fn from(kind: found::RequirementType) -> Self {
        match kind {
            found::RequirementType::Functional => Self::Functional,
            found::RequirementType::NonFunctional => Self::NonFunctional,
            found::RequirementType::Business => Self::Business,
            found::RequirementType::Constraint => Self::Constraint,
            found::RequirementType::Unknown => Self::Unknown,
        }
    }
}

impl From<found::QualityIssue> for QualityIssue {
    fn from(issue: found::QualityIssue) -> Self {
        Self { code: spelled(issue.code), message: issue.message }
    }
}

/// The name of a non-functional requirement's category.
pub fn category(category: Option<found::QualityCategory>) -> Option<String> {
    category.map(spelled)
}

impl From<found::SourceReference> for SourceReference {
    fn from(source: found::SourceReference) -> Self {
        let id = source.source_id.parse().ok();
        let (kind, document_id, recording_id) = match source.kind {
            PipelineSourceKind::Document => (SourceKind::Document, id, None),
            PipelineSourceKind::Recording => (SourceKind::Recording, None, id),
        };
        Self {
            kind,
            document_id,
            recording_id,
            quote: source.quote,
            page: source.page,
            section: source.section,
            start_offset: source.start_offset,
            end_offset: source.end_offset,
            start_ms: source.start_ms,
            end_ms: source.end_ms,
            speaker: source.speaker,
        }
    }
}
