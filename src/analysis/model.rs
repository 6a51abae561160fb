//! Request and response types of AI analysis runs.

use actors::event_kind::EventKind;
use actors::ids::{self, AiJob, Id};
use actors::language::Language;
use actors::live::TopicKind;
use actors::meeting::Meeting;
use actors::run::{AiRunStatus, AnalysisType, Run, RunWarning};
use actors::time::Time;
use pipeline::EngineKind;
use serde::Serialize;
use serde_json::Value;
use strum::VariantArray;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

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
    /// The step that the run is at: queued, prepare_sources, transcribe_recordings, build_source_index,
    /// extract_requirements, classify_requirements, evidence_grounding, generate_user_stories, quality_checks,
    /// summarize, finalize or done. Never null; a run that ended keeps its last one.
    #[schema(example = "extract_requirements")]
    pub current_node: &'static str,
    /// The step in words. Never null.
    #[schema(example = "Extracting requirements")]
    pub current_node_label: &'static str,
    /// What the run is doing, or how it ended, in a sentence for people. Never null.
    pub message: String,
    /// Null unless the run failed or was rejected.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Changes with each attempt.
    pub ai_job_id: Id<AiJob>,
    /// The documents that the run reads, in the order of the request.
    pub document_ids: Vec<Id<ids::Document>>,
    /// The versions of these documents that the run reads, in their order: those that were present when it was started.
    pub document_versions: Vec<i64>,
    /// The meeting whose transcribed recordings the run reads; null if it reads none.
    #[schema(required)]
    pub meeting_id: Option<Id<Meeting>>,
    /// When this attempt began to be processed; null while it is QUEUED.
    #[schema(required)]
    pub started_at: Option<Time>,
    /// When this attempt ended, in whatever way; null while it is QUEUED or PROCESSING.
    #[schema(required)]
    pub completed_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    pub analysis_type: AnalysisType,
    /// The language that the results are written in; AUTO until the run has found out.
    #[schema(example = "EN")]
    pub language: Language,
    /// The engine that does the analysis: embedded, llm or fallback.
    #[schema(example = "embedded")]
    pub engine: String,
    /// Number of the attempt, starting at 1.
    #[schema(minimum = 1)]
    pub attempt: u32,
    /// What the run could not use, or is unsure of. A run with a failed source ends as PARTIAL.
    pub warnings: Vec<RunWarning>,
    /// URL of the event stream that reports the run's progress.
    pub events_url: String,
}

/// An event of a run's stream: the three fields of a server-sent event, with `data` parsed.
pub struct AiRunEvent;

impl PartialSchema for AiRunEvent {
    fn schema() -> RefOr<Schema> {
        let id = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).description(Some(
            "The place of the event among those of the run. Send the last one as `Last-Event-ID` to resume after it.",
        ));
        ObjectBuilder::new()
            .description(Some(
                "An event of a run's stream: its `id`, `event` and `data`, the last one parsed as JSON. The stream ends after \
                 run.completed, run.partial, run.rejected, run.failed or run.cancelled.",
            ))
            .property("id", id)
            .property("event", Ref::from_schema_name(AiRunEventName::name()))
            .property("data", Ref::from_schema_name(AiAnalysisRun::name()))
            .required("id")
            .required("event")
            .required("data")
            .into()
    }
}

impl ToSchema for AiRunEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((AiRunEventName::name().into_owned(), AiRunEventName::schema()));
        schemas.push((AiAnalysisRun::name().into_owned(), AiAnalysisRun::schema()));
        AiAnalysisRun::schemas(schemas);
    }
}

/// The names of a run's events.
struct AiRunEventName;

impl PartialSchema for AiRunEventName {
    fn schema() -> RefOr<Schema> {
        let names = EventKind::VARIANTS
            .iter()
            .filter(|kind| kind.topics().contains(&TopicKind::Run))
            .map(|kind| kind.into_str());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(names))
            .description(Some("What happened to the run."))
            .into()
    }
}

impl ToSchema for AiRunEventName {}

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
            document_versions: run.documents().map(|(_, version)| version).collect(),
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
