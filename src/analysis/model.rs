//! Request and response types of AI analysis runs.

use actors::ids::{self, AiJob, Id};
use actors::meeting::Meeting;
use actors::run;
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::enumeration;
use crate::http::fields::{Field, InvalidValue};

enumeration! {
    /// The lifecycle status of a run.
    pub enum AiRunStatus {
        Queued = "QUEUED", Processing = "PROCESSING", Completed = "COMPLETED", Partial = "PARTIAL", Rejected = "REJECTED",
        Failed = "FAILED", Cancelled = "CANCELLED",
    }
}

enumeration! {
    /// What the analysis looks for.
    pub enum AnalysisType {
        Full = "FULL", Requirements = "REQUIREMENTS", UserStories = "USER_STORIES", MeetingMinutes = "MEETING_MINUTES",
    }
}

impl AnalysisType {
    #[must_use]
    pub const fn of_run(self) -> run::AnalysisType {
        match self {
            Self::Full => run::AnalysisType::Full,
            Self::Requirements => run::AnalysisType::Requirements,
            Self::UserStories => run::AnalysisType::UserStories,
            Self::MeetingMinutes => run::AnalysisType::MeetingMinutes,
        }
    }
}

/// The name of the analysis engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineName(pub &'static str);

/// Deterministic rules, built into the binary; works offline.
pub const EMBEDDED: EngineName = EngineName("embedded");

impl Field for EngineName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let is_embedded = value.as_str().is_some_and(|name| name.eq_ignore_ascii_case(EMBEDDED.0));
        if is_embedded { Ok(EMBEDDED) } else { Err(InvalidValue::value("The engine that there is: embedded.")) }
    }
}

/// A notice about the result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = RunWarning)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    #[schema(example = "SourceFailed")]
    pub code: String,
    pub message: String,
    /// The document or recording that the warning is about.
    #[schema(required)]
    pub source_id: Option<Uuid>,
}

/// An analysis of selected sources of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiAnalysisRun {
    #[schema(value_type = Uuid)]
    pub id: Id<run::Run>,
    #[schema(value_type = Uuid)]
    pub project_id: Id<ids::Project>,
    pub status: AiRunStatus,
    /// Progress in percent. It never decreases within an attempt, and is 100 only once the run has succeeded.
    #[schema(minimum = 0, maximum = 100)]
    pub progress: u8,
    #[schema(example = "extract_requirements")]
    pub current_node: &'static str,
    #[schema(example = "Extracting requirements")]
    pub current_node_label: &'static str,
    pub message: String,
    /// Null unless the run failed or was rejected.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Changes with each attempt.
    #[schema(value_type = Uuid)]
    pub ai_job_id: Id<AiJob>,
    #[schema(value_type = Vec<Uuid>)]
    pub document_ids: Vec<Id<ids::Document>>,
    #[schema(required, value_type = Option<Uuid>)]
    pub meeting_id: Option<Id<Meeting>>,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub started_at: Option<Time>,
    #[schema(required, value_type = Option<chrono::DateTime<chrono::Utc>>)]
    pub completed_at: Option<Time>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub updated_at: Time,
    pub analysis_type: AnalysisType,
    #[schema(example = "EN")]
    pub language: String,
    #[schema(example = "embedded")]
    pub engine: String,
    /// Number of the attempt, starting at 1.
    #[schema(minimum = 1)]
    pub attempt: u32,
    pub warnings: Vec<Warning>,
    /// URL of the event stream that reports the run's progress.
    pub events_url: String,
}

impl AiAnalysisRun {
    #[must_use]
    pub fn of(run: &run::Run) -> Self {
        Self {
            id: run.id,
            project_id: run.project_id,
            status: match run.status() {
                run::Status::Queued => AiRunStatus::Queued,
                run::Status::Processing => AiRunStatus::Processing,
                run::Status::Completed => AiRunStatus::Completed,
                run::Status::Partial => AiRunStatus::Partial,
                run::Status::Rejected => AiRunStatus::Rejected,
                run::Status::Failed => AiRunStatus::Failed,
                run::Status::Cancelled => AiRunStatus::Cancelled,
            },
            progress: run.progress,
            current_node: run.node().as_str(),
            current_node_label: run.node().label(),
            message: run.message.clone(),
            error_message: run.error_message().map(str::to_owned),
            ai_job_id: run.ai_job_id,
            document_ids: run.document_ids.clone(),
            meeting_id: run.meeting_id,
            started_at: run.started_at(),
            completed_at: run.completed_at(),
            created_at: run.created_at,
            updated_at: run.updated_at,
            analysis_type: match run.analysis_type {
                run::AnalysisType::Full => AnalysisType::Full,
                run::AnalysisType::Requirements => AnalysisType::Requirements,
                run::AnalysisType::UserStories => AnalysisType::UserStories,
                run::AnalysisType::MeetingMinutes => AnalysisType::MeetingMinutes,
            },
            language: run.language.clone(),
            engine: run.engine.clone(),
            attempt: run.attempt,
            warnings: run.warnings.iter().map(Warning::of).collect(),
            events_url: format!("/api/projects/{}/ai/runs/{}/events", run.project_id, run.id),
        }
    }
}

impl Warning {
    fn of(warning: &run::RunWarning) -> Self {
        Self { code: warning.code.clone(), message: warning.message.clone(), source_id: warning.source_id }
    }
}
