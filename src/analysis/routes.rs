//! The HTTP endpoints of AI analysis runs.

use std::marker::PhantomData;

use actors::ids::{Document, Id};
use actors::language::Language;
use actors::meeting::Meeting;
use actors::run::{AiRunStatus, AnalysisType};
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::RunSnapshot;
use super::audience;
use super::model::{AiAnalysisRun, AiRunEvent, EngineName};
use super::operations;
use super::store::{Filter, topic};
use crate::access::policy::{Analyst, Member, Subscriber};
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::EventStream;
use crate::http::envelope::{List, Prerendered, Reply, success};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::list::Listing;
use crate::live::state::RealTime;
use crate::live::stream::{self, LastEventId};
use crate::projects::model::Project;

/// What to analyse, and how. Without a body: all READY documents of the project.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StartAiAnalysisRun {
    /// Omit it to analyse all READY documents; with `meetingId`, to analyse the meeting alone.
    #[schema(max_items = 100)]
    pub document_ids: Option<Vec<Id<Document>>>,
    /// The meeting whose transcribed recordings are analysed.
    pub meeting_id: Option<Id<Meeting>>,
    /// What is produced. Default: FULL.
    pub analysis_type: Option<AnalysisType>,
    /// The language of the results. Default: the project's; AUTO is the language of the sources.
    pub language: Option<Language>,
    /// One of the project's `analysisEngines`. Default: the first of them. With llm and fallback, texts of the sources are sent
    /// to the language model that the operator chose.
    pub engine: Option<EngineName>,
}

impl Body for StartAiAnalysisRun {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let document_ids = fields.optional("documentIds");
        let meeting_id = fields.optional("meetingId");
        let analysis_type = fields.optional("analysisType");
        let language = fields.optional("language");
        let engine = fields.optional("engine");
        Ok(Self {
            document_ids: document_ids?,
            meeting_id: meeting_id?,
            analysis_type: analysis_type?,
            language: language?,
            engine: engine?,
        })
    }
}

pub async fn start(
    request: Authorized<Analyst<Project>, ValidJson<StartAiAnalysisRun>>,
    state: Analysis,
) -> Result<Reply<AiAnalysisRun>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    operations::start(&state, request.access.caller, &request.access.resource, id, body, request.request_id)
        .await
        .map(Reply::accepted)
}

impl Query for Filter {
    fn has(key: &str) -> bool {
        key == "status"
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { status: fields.optional("status")? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![query_parameter("status", "Return only runs with this status.", AiRunStatus::schema())]
    }
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<Listing<Filter>>>,
    state: Analysis,
) -> Result<Reply<List<AiAnalysisRun>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.id, listing).await.map(Reply::ok)
}

/// Polled by many clients, so the response is rendered once per change and not once per request.
pub async fn status(
    request: Authorized<Member<RunSnapshot>, Empty>,
    _: Analysis,
) -> Result<Prerendered<AiAnalysisRun>, ApiError> {
    let run = request.access.resource;
    let body = run.rendered(|run| success(200, request.message, &AiAnalysisRun::of(run)).unwrap_or_default());
    Ok(Prerendered { etag: format!("\"{}\"", run.state.revision), body, of: PhantomData })
}

/// Streams the run's events as they happen, until the run has ended.
pub async fn stream(
    request: Authorized<Subscriber<RunSnapshot>, LastEventId>,
    state: RealTime,
) -> Result<EventStream<AiRunEvent>, ApiError> {
    let topic = topic(request.access.resource.state.id);
    let response = stream::stream(&state, request.access.caller, topic, request.input.0, audience::ends).await?;
    Ok(EventStream { response, of: PhantomData })
}

pub async fn cancel(
    request: Authorized<Analyst<RunSnapshot>, Empty>,
    state: Analysis,
) -> Result<Reply<AiAnalysisRun>, ApiError> {
    operations::cancel(&state, &request.access.resource, request.access.caller, request.request_id).await.map(Reply::ok)
}

pub async fn retry(
    request: Authorized<Analyst<RunSnapshot>, Empty>,
    state: Analysis,
) -> Result<Reply<AiAnalysisRun>, ApiError> {
    let job_id = request.new_id();
    operations::retry(&state, &request.access.resource, job_id, request.request_id).await.map(Reply::accepted)
}
