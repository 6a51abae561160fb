//! Response types of a project's items and of a run's other findings.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use chrono::NaiveDate;
use pipeline::SourceKind;
use pipeline::result::{Citation, EarsPattern, Priority, QualityCategory, QualityIssue, RequirementType, Severity};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::clients::trackers::model::TrackerIssueState;
use crate::http::enumeration::{Enumeration, wire_enum};

impl Enumeration for RequirementType {}
impl Enumeration for Priority {}
impl Enumeration for QualityCategory {}

wire_enum! {
    /// The review status of an item.
    pub enum WorkflowStatus {
        NeedsReview,
        Approved,
        Rejected,
    }
}

wire_enum! {
    /// Who last wrote the text of an item.
    pub enum RevisionSource {
        AiGenerated,
        HumanEdited,
        AiRegenerated,
    }
}

/// Where an item comes from. The quote occurs verbatim in the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceReference {
    pub kind: SourceKind,
    /// The document; null for a recording.
    #[schema(required)]
    pub document_id: Option<Uuid>,
    /// The recording; null for a document.
    #[schema(required)]
    pub recording_id: Option<Uuid>,
    /// The version of the document that the quote stands in; 1 for a recording.
    #[serde(default = "first_version")]
    #[schema(required, minimum = 1)]
    pub version: i64,
    /// The words of the source, verbatim.
    pub quote: String,
    /// The page that the quote begins on, from 1; null for a source without pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// The headings above the quote, outermost first.
    #[schema(required)]
    pub section: Option<String>,
    /// In Unicode scalar values of the text that getDocumentText returns for this version; the end is exclusive.
    pub start_offset: usize,
    /// End of the quote in Unicode scalar values, exclusive; see `startOffset`.
    pub end_offset: usize,
    /// Start in milliseconds since the beginning of the recording; null for a document.
    #[schema(required)]
    pub start_ms: Option<u64>,
    /// End in milliseconds since the beginning of the recording; null for a document.
    #[schema(required)]
    pub end_ms: Option<u64>,
    /// Who says it; null for a document or an unknown speaker.
    #[schema(required)]
    pub speaker: Option<String>,
}

/// What was found before documents had versions stands in the first one.
const fn first_version() -> i64 {
    1
}

/// A requirement, with the places in the sources that it rests on.
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
    pub category: Option<QualityCategory>,
    pub title: String,
    pub statement: String,
    pub priority: Priority,
    /// 0–1, without unit. Of what the embedded engine found: the share of findings like this one that were right in the training
    /// folds (five parts of marked documents, each judged by what the others taught). Of what a language model found: how sure it
    /// says it is, .9, .7, .5 or less. 1 for what people added.
    #[schema(minimum = 0, maximum = 1)]
    pub confidence: f64,
    pub workflow_status: WorkflowStatus,
    pub quality_issues: Vec<QualityIssue>,
    pub sources: Vec<SourceReference>,
    /// An earlier requirement that this one may repeat: an open pair of strength HIGH, see `listItemPairs`.
    #[schema(required)]
    pub duplicate_of: Option<Uuid>,
    /// Requirements that this one may contradict: open pairs of strength HIGH, see `listItemPairs`.
    pub conflicts_with: Vec<Uuid>,
    pub version: i64,
    pub revision_source: RevisionSource,
    pub suspect: bool,
    pub run_id: Id<Run>,
    pub created_at: Time,
    pub updated_at: Time,
    /// The pattern of EARS that it is written in; null where it has none.
    #[serde(default)]
    #[schema(required)]
    pub pattern: Option<EarsPattern>,
    /// What the analysis wrote first, once a person or a later analysis has changed it; null before.
    #[serde(default)]
    #[schema(required)]
    pub original: Option<RequirementText>,
    /// `YYYY-MM-DD`, while its review is put off until then.
    #[serde(default)]
    #[schema(required)]
    pub deferred_until: Option<NaiveDate>,
}

/// The content of a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequirementText {
    pub title: String,
    pub statement: String,
    #[serde(rename = "type")]
    pub kind: RequirementType,
    #[schema(required)]
    pub category: Option<QualityCategory>,
    pub priority: Priority,
}

impl Requirement {
    /// What the analysis wrote first.
    #[must_use]
    pub fn first_text(&self) -> RequirementText {
        self.original.clone().unwrap_or_else(|| RequirementText {
            title: self.title.clone(),
            statement: self.statement.clone(),
            kind: self.kind,
            category: self.category,
            priority: self.priority,
        })
    }
}

/// A condition under which a user story counts as done.
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
    /// The issue's key at the tracker, such as `CLINIC-7`.
    pub key: String,
    /// The issue's page at the tracker.
    pub url: String,
    /// How far the work on it is, as the tracker said last; null if it is not known yet, or the issue is gone.
    #[serde(default)]
    #[schema(required)]
    pub state: Option<TrackerIssueState>,
}

/// A user story, with the places in the sources that it rests on.
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
    pub run_id: Id<Run>,
    pub created_at: Time,
    pub updated_at: Time,
    /// What the analysis wrote first, once a person or a later analysis has changed it; null before.
    #[serde(default)]
    #[schema(required)]
    pub original: Option<Box<UserStoryText>>,
    /// `YYYY-MM-DD`, while its review is put off until then.
    #[serde(default)]
    #[schema(required)]
    pub deferred_until: Option<NaiveDate>,
}

/// The content of a user story.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserStoryText {
    pub title: String,
    #[schema(required)]
    pub role: Option<String>,
    pub goal: String,
    #[schema(required)]
    pub benefit: Option<String>,
    pub description: String,
    pub priority: Priority,
    pub acceptance_criteria: Vec<AcceptanceCriterion>,
}

impl UserStory {
    /// What the analysis wrote first.
    #[must_use]
    pub fn first_text(&self) -> Box<UserStoryText> {
        let own = || UserStoryText {
            title: self.title.clone(),
            role: self.role.clone(),
            goal: self.goal.clone(),
            benefit: self.benefit.clone(),
            description: self.description.clone(),
            priority: self.priority,
            acceptance_criteria: self.acceptance_criteria.clone(),
        };
        self.original.clone().unwrap_or_else(|| Box::new(own()))
    }
}

/// Declares a kind of item that analyses find beside requirements and stories: its own fields, and those of its life.
macro_rules! recorded_item {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            code: $pattern:literal like $example:literal,
            $($(#[$field_about:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            pub id: Uuid,
            #[schema(pattern = $pattern, example = $example)]
            pub code: String,
            $($(#[$field_about])* pub $field: $type,)*
            pub sources: Vec<SourceReference>,
            #[serde(default = "before_lives::workflow_status")]
            #[schema(required)]
            pub workflow_status: WorkflowStatus,
            #[serde(default = "before_lives::version")]
            #[schema(required)]
            pub version: i64,
            #[serde(default = "before_lives::revision_source")]
            #[schema(required)]
            pub revision_source: RevisionSource,
            #[serde(default)]
            #[schema(required)]
            pub suspect: bool,
            /// The run that found it first.
            #[serde(default = "before_lives::run_id")]
            #[schema(required)]
            pub run_id: Id<Run>,
            #[serde(default = "before_lives::time")]
            #[schema(required)]
            pub created_at: Time,
            #[serde(default = "before_lives::time")]
            #[schema(required)]
            pub updated_at: Time,
            /// `YYYY-MM-DD`, while its review is put off until then.
            #[serde(default)]
            #[schema(required)]
            pub deferred_until: Option<NaiveDate>,
        }
    };
}

/// What is read of risks, questions, actions and decisions that were stored when they had no versions: until the server has
/// started once, see [`crate::analysis::findings::adoption`].
mod before_lives {
    use actors::ids::Id;
    use actors::run::Run;
    use actors::time::Time;
    use uuid::Uuid;

    use super::{RevisionSource, WorkflowStatus};

    pub const fn workflow_status() -> WorkflowStatus {
        WorkflowStatus::NeedsReview
    }

    pub const fn version() -> i64 {
        1
    }

    pub const fn revision_source() -> RevisionSource {
        RevisionSource::AiGenerated
    }

    pub fn run_id() -> Id<Run> {
        Id::from_uuid(Uuid::nil())
    }

    pub fn time() -> Time {
        Time::at(chrono::DateTime::UNIX_EPOCH)
    }
}

recorded_item! {
    /// Something that may go wrong.
    pub struct Risk {
        code: "^RISK-" like "RISK-001",
        title: String,
        description: String,
        severity: Severity,
        likelihood: Severity,
        #[schema(required)]
        mitigation: Option<String>,
    }
}

recorded_item! {
    /// Something that the sources leave open.
    pub struct OpenQuestion {
        code: "^Q-" like "Q-001",
        question: String,
        /// Why the question counts as open.
        why: String,
        #[schema(required)]
        raised_by: Option<String>,
    }
}

recorded_item! {
    /// Something that somebody has to do.
    pub struct ActionItem {
        code: "^ACT-" like "ACT-001",
        text: String,
        #[schema(required)]
        assignee: Option<String>,
        /// `YYYY-MM-DD`; null unless the source gives a complete date.
        #[schema(required)]
        due_date: Option<String>,
    }
}

recorded_item! {
    /// Something that was decided.
    pub struct Decision {
        code: "^DEC-" like "DEC-001",
        text: String,
    }
}

impl SourceReference {
    /// The place that a run cites, in the version of the document that the run reads.
    #[must_use]
    pub fn cited(source: Citation, run: &Run) -> Self {
        let id: Option<Uuid> = source.source_id.parse().ok();
        let (document_id, recording_id) = match source.kind {
            SourceKind::Document => (id, None),
            SourceKind::Recording => (None, id),
        };
        let read = run.documents().find(|(document, _)| Some(document.uuid()) == document_id);
        Self {
            kind: source.kind,
            document_id,
            recording_id,
            version: read.map_or(1, |(_, version)| version),
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
