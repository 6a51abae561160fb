//! The dashboard of reviewers: the results of a run without sources, files, speakers and costs.

use std::collections::{BTreeMap, HashMap};

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use pipeline::result::{
    EarsPattern, Metrics, Priority, Quality, QualityCategory, QualityIssue, RequirementType, Severity, Summary,
};
use serde::{Serialize, Serializer};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::items::model::{
    AcceptanceCriterion, ActionItem, Decision, OpenQuestion, Requirement, RevisionSource, Risk, SourceReference,
    TrackerIssue, UserStory, WorkflowStatus,
};
use crate::http::enumeration::wire_enum;
use crate::reviews::invitations::model::{ProjectReviewPermission, ReviewScope};

/// The results of a run, as a reviewer sees them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDashboard {
    pub project_name: String,
    pub permission: ProjectReviewPermission,
    /// What of the specification is shown.
    pub scope: ReviewScope,
    /// The name of the baseline that is shown; null with another scope.
    #[schema(required)]
    pub baseline_name: Option<String>,
    /// When the access to this review expires.
    pub expires_at: Time,
    #[serde(flatten)]
    #[schema(inline, value_type = ReviewContent)]
    pub content: SharedContent,
}

/// Content that all reviewers of a run share.
pub struct SharedContent(pub std::sync::Arc<ReviewContent>);

impl Serialize for SharedContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// What reviewers see of the results of a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewContent {
    pub project_id: Id<ids::Project>,
    /// Null while no run of the project has a result; all lists are empty then.
    #[schema(required)]
    pub run_id: Option<Id<Run>>,
    pub generated_at: Time,
    pub summary: Summary,
    pub requirements: Vec<ReviewRequirement>,
    pub user_stories: Vec<ReviewUserStory>,
    pub risks: Vec<ReviewRisk>,
    pub open_questions: Vec<ReviewOpenQuestion>,
    pub action_items: Vec<ReviewActionItem>,
    pub metrics: ReviewMetrics,
    /// Of the whole specification or run; zeros where only some items are shown.
    pub quality: Quality,
    pub decisions: Vec<ReviewDecision>,
}

/// What an item rests on, as it stands in its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewQuote {
    /// Verbatim.
    pub quote: String,
    /// The name of the document, or the title of the meeting; null if the source is gone.
    #[schema(required)]
    pub source_name: Option<String>,
    /// The page that the quote begins on, from 1; null for a source without pages.
    #[schema(required)]
    pub page: Option<u32>,
    /// The headings above the quote, outermost first.
    #[schema(required)]
    pub section: Option<String>,
    /// Milliseconds from the start of a recording.
    #[schema(required)]
    pub start_ms: Option<u64>,
    /// Up to 200 characters of the document's text that stand before the quote; null where they are not at hand.
    #[schema(required)]
    pub before: Option<String>,
    /// Up to 200 characters of the document's text that follow the quote; null where they are not at hand.
    #[schema(required)]
    pub after: Option<String>,
}

impl ReviewQuote {
    fn of(source: SourceReference, names: &HashMap<Uuid, String>) -> Self {
        let id = source.document_id.or(source.recording_id);
        Self {
            quote: source.quote,
            source_name: id.and_then(|id| names.get(&id).cloned()),
            page: source.page,
            section: source.section,
            start_ms: source.start_ms,
            before: None,
            after: None,
        }
    }
}

/// A requirement, as reviewers see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRequirement {
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
    /// Another requirement with nearly the same statement.
    #[schema(required)]
    pub duplicate_of: Option<Uuid>,
    /// Requirements that contradict this one.
    pub conflicts_with: Vec<Uuid>,
    pub version: i64,
    pub revision_source: RevisionSource,
    pub suspect: bool,
    pub run_id: Id<Run>,
    pub created_at: Time,
    pub updated_at: Time,
    /// The pattern of EARS that it is written in; null where it has none.
    #[schema(required)]
    pub pattern: Option<EarsPattern>,
    pub quotes: Vec<ReviewQuote>,
}

/// A user story, as reviewers see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewUserStory {
    pub id: Uuid,
    #[schema(example = "US-001")]
    pub code: String,
    pub requirement_ids: Vec<Uuid>,
    pub title: String,
    /// Null when the source names no role.
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
    pub version: i64,
    pub revision_source: RevisionSource,
    pub suspect: bool,
    #[schema(required)]
    pub tracker_issue: Option<TrackerIssue>,
    pub run_id: Id<Run>,
    pub created_at: Time,
    pub updated_at: Time,
    pub quotes: Vec<ReviewQuote>,
}

/// A risk, as reviewers see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRisk {
    pub id: Uuid,
    #[schema(example = "RISK-001")]
    pub code: String,
    pub title: String,
    pub description: String,
    pub severity: Severity,
    pub likelihood: Severity,
    #[schema(required)]
    pub mitigation: Option<String>,
}

/// Something that the sources leave open, as reviewers see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewOpenQuestion {
    pub id: Uuid,
    #[schema(example = "Q-001")]
    pub code: String,
    pub question: String,
    /// Why the question counts as open.
    pub why: String,
}

/// Something that somebody has to do, as reviewers see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewActionItem {
    pub id: Uuid,
    #[schema(example = "ACT-001")]
    pub code: String,
    pub text: String,
    /// `YYYY-MM-DD`; null unless the source gives a complete date.
    #[schema(required)]
    pub due_date: Option<String>,
}

/// Something that was decided, as reviewers see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewDecision {
    pub id: Uuid,
    #[schema(example = "DEC-001")]
    pub code: String,
    pub text: String,
}

/// Counts and totals of a result.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewMetrics {
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
    /// Number of items in each status.
    pub by_status: BTreeMap<String, u32>,
    /// Number of sources that were read.
    pub sources: u32,
    /// Number of words in the sources.
    pub words: u64,
    /// Minutes of speech, rounded up.
    pub minutes: u64,
}

impl From<Metrics> for ReviewMetrics {
    fn from(all: Metrics) -> Self {
        Self {
            requirements: all.requirements,
            user_stories: all.user_stories,
            acceptance_criteria: all.acceptance_criteria,
            risks: all.risks,
            open_questions: all.open_questions,
            action_items: all.action_items,
            decisions: all.decisions,
            by_type: all.by_type,
            by_priority: all.by_priority,
            by_status: all.by_status,
            sources: all.sources,
            words: all.words,
            minutes: all.minutes,
        }
    }
}

wire_enum! {
    /// What feedback is about: the summary as a whole, or one item.
    pub enum FeedbackTargetType {
        Summary,
        Requirement,
        UserStory,
        AcceptanceCriterion,
        Risk,
        OpenQuestion,
        ActionItem,
    }
}

/// Something in a dashboard that feedback can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewTarget {
    pub target_type: FeedbackTargetType,
    /// That of a criterion is preceded by its story's: `US-001/AC-002`.
    pub code: String,
}

impl ReviewContent {
    /// Leaves out what reviewers don't see. `names` are those of documents and meetings, by the ids of documents and
    /// recordings.
    #[must_use]
    pub fn of(dashboard: ResultsDashboard, names: &HashMap<Uuid, String>) -> Self {
        Self {
            project_id: dashboard.project_id,
            run_id: dashboard.run_id,
            generated_at: dashboard.generated_at,
            summary: dashboard.summary,
            requirements: dashboard.requirements.into_iter().map(|one| requirement(one, names)).collect(),
            user_stories: dashboard.user_stories.into_iter().map(|one| story(one, names)).collect(),
            risks: dashboard.risks.into_iter().map(risk).collect(),
            open_questions: dashboard.open_questions.into_iter().map(open_question).collect(),
            action_items: dashboard.action_items.into_iter().map(action_item).collect(),
            metrics: dashboard.metrics.into(),
            quality: dashboard.quality,
            decisions: dashboard.decisions.into_iter().map(decision).collect(),
        }
    }

    /// All that feedback can be about, by its id.
    #[must_use]
    pub fn targets(&self) -> HashMap<Uuid, ReviewTarget> {
        let target = |target_type, id: Uuid, code: &str| (id, ReviewTarget { target_type, code: code.to_owned() });
        let requirements =
            self.requirements.iter().map(|one| target(FeedbackTargetType::Requirement, one.id, &one.code));
        let stories = self.user_stories.iter().map(|one| target(FeedbackTargetType::UserStory, one.id, &one.code));
        let criteria = self.user_stories.iter().flat_map(|story| {
            story.acceptance_criteria.iter().map(move |one| {
                let code = format!("{}/{}", story.code, one.code);
                (one.id, ReviewTarget { target_type: FeedbackTargetType::AcceptanceCriterion, code })
            })
        });
        let risks = self.risks.iter().map(|one| target(FeedbackTargetType::Risk, one.id, &one.code));
        let questions =
            self.open_questions.iter().map(|one| target(FeedbackTargetType::OpenQuestion, one.id, &one.code));
        let actions = self.action_items.iter().map(|one| target(FeedbackTargetType::ActionItem, one.id, &one.code));
        requirements.chain(stories).chain(criteria).chain(risks).chain(questions).chain(actions).collect()
    }
}

fn quotes(sources: Vec<SourceReference>, names: &HashMap<Uuid, String>) -> Vec<ReviewQuote> {
    sources.into_iter().map(|source| ReviewQuote::of(source, names)).collect()
}

fn requirement(one: Requirement, names: &HashMap<Uuid, String>) -> ReviewRequirement {
    ReviewRequirement {
        id: one.id,
        code: one.code,
        kind: one.kind,
        category: one.category,
        title: one.title,
        statement: one.statement,
        priority: one.priority,
        confidence: one.confidence,
        workflow_status: one.workflow_status,
        quality_issues: one.quality_issues,
        duplicate_of: one.duplicate_of,
        conflicts_with: one.conflicts_with,
        version: one.version,
        revision_source: one.revision_source,
        suspect: one.suspect,
        run_id: one.run_id,
        created_at: one.created_at,
        updated_at: one.updated_at,
        pattern: one.pattern,
        quotes: quotes(one.sources, names),
    }
}

fn story(one: UserStory, names: &HashMap<Uuid, String>) -> ReviewUserStory {
    ReviewUserStory {
        id: one.id,
        code: one.code,
        requirement_ids: one.requirement_ids,
        title: one.title,
        role: one.role,
        goal: one.goal,
        benefit: one.benefit,
        description: one.description,
        priority: one.priority,
        acceptance_criteria: one.acceptance_criteria,
        workflow_status: one.workflow_status,
        quality_score: one.quality_score,
        quality_issues: one.quality_issues,
        version: one.version,
        revision_source: one.revision_source,
        suspect: one.suspect,
        tracker_issue: one.tracker_issue,
        run_id: one.run_id,
        created_at: one.created_at,
        updated_at: one.updated_at,
        quotes: quotes(one.sources, names),
    }
}

fn risk(one: Risk) -> ReviewRisk {
    ReviewRisk {
        id: one.id,
        code: one.code,
        title: one.title,
        description: one.description,
        severity: one.severity,
        likelihood: one.likelihood,
        mitigation: one.mitigation,
    }
}

fn open_question(one: OpenQuestion) -> ReviewOpenQuestion {
    ReviewOpenQuestion { id: one.id, code: one.code, question: one.question, why: one.why }
}

fn action_item(one: ActionItem) -> ReviewActionItem {
    ReviewActionItem { id: one.id, code: one.code, text: one.text, due_date: one.due_date }
}

fn decision(one: Decision) -> ReviewDecision {
    ReviewDecision { id: one.id, code: one.code, text: one.text }
}
