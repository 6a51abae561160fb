//! The pipeline on another machine: the JSON that both sides exchange, and the check of what comes back.
//!
//! ```text
//! server ── sources ──> the pipeline service ── PipelineJob, JobResult ──> server: `ResultVerification` ──> PipelineResult
//! ```

mod verification;

use actors::ids::{AiJob, Id};
use actors::run::Node;
use actors::wire_enum;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use verification::{ResultVerification, UnacceptableResult};

use super::request::SourceKind;
use super::result::{
    ActionItemDraft, DecisionDraft, Metrics, OpenQuestionDraft, PipelineResult, Quality, RequirementDraft,
    ResultStatus, RiskDraft, Summary, UserStoryDraft, Warning,
};

/// The largest result that is sent, in bytes: what a child process may send, and the envelope around it.
pub const RESULT_BYTES: usize = super::process::RESULT_BYTES + 64 * 1024;

wire_enum! {
    /// How far the pipeline is with a job.
    pub enum PipelineProcessingStatus {
        Queued,
        Processing,
        Completed,
        Partial,
        NeedsReview,
        Rejected,
        Failed,
        Cancelled,
    }
}

impl PipelineProcessingStatus {
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Processing)
    }
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PipelineResultStatus {
    Completed,
    /// Some input was left out, as the warnings say.
    Partial,
    Failed,
    /// There was nothing to analyse.
    Rejected,
}

/// One analysis of some sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineJob {
    #[schema(value_type = String, format = Uuid)]
    pub job_id: Id<AiJob>,
    pub status: PipelineProcessingStatus,
    /// In percent. 100 only for COMPLETED and PARTIAL.
    #[schema(minimum = 0, maximum = 100)]
    pub progress: u8,
    #[schema(example = "extract_requirements")]
    pub current_node: Node,
    /// The step in words.
    #[schema(example = "Extracting requirements")]
    pub current_node_label: String,
    /// What the job is doing, or how it ended, in a sentence for people.
    pub message: String,
    /// Null unless the job failed or was rejected.
    #[schema(required)]
    pub error_message: Option<String>,
    /// How often its work was begun; a job whose work was interrupted is begun again.
    pub attempt: u32,
}

/// What a job found. All lists are empty if it FAILED or was REJECTED.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PipelineResult)]
pub struct JobResult {
    #[schema(value_type = String, format = Uuid)]
    pub job_id: Id<AiJob>,
    pub status: PipelineResultStatus,
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

impl JobResult {
    /// The result of a job that found something, or might have.
    #[must_use]
    pub fn of(job_id: Id<AiJob>, found: PipelineResult) -> Self {
        let status = match found.status {
            ResultStatus::Completed => PipelineResultStatus::Completed,
            ResultStatus::Partial => PipelineResultStatus::Partial,
        };
        Self {
            job_id,
            status,
            requirements: found.requirements,
            user_stories: found.user_stories,
            risks: found.risks,
            open_questions: found.open_questions,
            action_items: found.action_items,
            decisions: found.decisions,
            summary: found.summary,
            quality: found.quality,
            metrics: found.metrics,
            warnings: found.warnings,
        }
    }

    /// The result of a job that found nothing.
    #[must_use]
    pub fn empty(job_id: Id<AiJob>, status: PipelineResultStatus, warnings: Vec<Warning>) -> Self {
        Self {
            job_id,
            status,
            requirements: Vec::new(),
            user_stories: Vec::new(),
            risks: Vec::new(),
            open_questions: Vec::new(),
            action_items: Vec::new(),
            decisions: Vec::new(),
            summary: Summary::default(),
            quality: Quality::default(),
            metrics: Metrics::default(),
            warnings,
        }
    }

    /// The result as the pipeline gave it; `None` of a job that found nothing.
    #[must_use]
    pub fn into_result(self) -> Option<PipelineResult> {
        let status = match self.status {
            PipelineResultStatus::Completed => ResultStatus::Completed,
            PipelineResultStatus::Partial => ResultStatus::Partial,
            PipelineResultStatus::Failed | PipelineResultStatus::Rejected => return None,
        };
        Some(PipelineResult {
            job_id: self.job_id.to_string(),
            status,
            requirements: self.requirements,
            user_stories: self.user_stories,
            risks: self.risks,
            open_questions: self.open_questions,
            action_items: self.action_items,
            decisions: self.decisions,
            summary: self.summary,
            quality: self.quality,
            metrics: self.metrics,
            warnings: self.warnings,
        })
    }
}

/// The sources of a request, without their texts.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceHead<'a> {
    pub id: &'a str,
    pub kind: SourceKind,
    pub name: &'a str,
}
