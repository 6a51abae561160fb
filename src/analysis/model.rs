//! Request and response types of AI analysis runs.

use actors::ids::{self, AiJob, Id};
use actors::language::Language;
use actors::meeting::Meeting;
use actors::run::{AiRunStatus, AnalysisType, Run, RunWarning};
use actors::time::Time;
use pipeline::EngineKind;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::enumeration::Enumeration;
use crate::http::fields::{Field, InvalidValue};

impl Enumeration for AiRunStatus {}
impl Enumeration for AnalysisType {}

/// The name of the analysis engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, pattern = "^(embedded|llm|fallback)$", example = "embedded")]
pub struct EngineName(pub EngineKind);

impl Field for EngineName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let kind = value.as_str().and_then(|name| name.parse().ok());
        kind.map(Self).ok_or_else(|| InvalidValue::value("The engines that there are: embedded, llm, fallback."))
    }
}

/// An analysis of selected sources of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AiAnalysisRun {
    pub id: Id<Run>,
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
    pub ai_job_id: Id<AiJob>,
    pub document_ids: Vec<Id<ids::Document>>,
    #[schema(required)]
    pub meeting_id: Option<Id<Meeting>>,
    #[schema(required)]
    pub started_at: Option<Time>,
    #[schema(required)]
    pub completed_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    pub analysis_type: AnalysisType,
    #[schema(example = "EN")]
    pub language: Language,
    #[schema(example = "embedded")]
    pub engine: String,
    /// Number of the attempt, starting at 1.
    #[schema(minimum = 1)]
    pub attempt: u32,
    pub warnings: Vec<RunWarning>,
    /// URL of the event stream that reports the run's progress.
    pub events_url: String,
}

impl AiAnalysisRun {
    #[must_use]
    pub fn of(run: &Run) -> Self {
        Self {
            id: run.id,
            project_id: run.project_id,
            status: run.status(),
            progress: run.progress,
            current_node: run.node().into_str(),
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
            analysis_type: run.analysis_type,
            language: run.language,
            engine: run.engine.clone(),
            attempt: run.attempt,
            warnings: run.warnings.clone(),
            events_url: format!("/api/projects/{}/ai/runs/{}/events", run.project_id, run.id),
        }
    }
}
