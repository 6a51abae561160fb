//! The HTTP endpoints of AI analysis runs.

use std::marker::PhantomData;

use actors::ids::{Document, Id};
use actors::meeting::Meeting;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Run;
use super::audience;
use super::model::{AiAnalysisRun, AiRunStatus, AnalysisType, EMBEDDED, EngineName};
use super::operations::{self, RunSelection};
use super::store::{Filter, topic};
use crate::access::policy::{Analyst, Listener, Member};
use crate::accounts::model::Language;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::EventStream;
use crate::http::envelope::{List, Prerendered, Reply, success};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::page::PageQuery;
use crate::live::state::RealTime;
use crate::live::stream::{self, LastEventId};
use crate::projects::model::Project;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StartAiAnalysisRun {
    /// Omit it to analyse all READY documents.
    #[schema(value_type = Option<Vec<uuid::Uuid>>, max_items = 100)]
    document_ids: Option<Vec<Id<Document>>>,
    #[schema(value_type = Option<uuid::Uuid>)]
    meeting_id: Option<Id<Meeting>>,
    analysis_type: Option<AnalysisType>,
    language: Option<Language>,
    #[schema(value_type = Option<String>, pattern = "^embedded$", example = "embedded")]
    engine: Option<EngineName>,
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
    let wanted = RunSelection {
        document_ids: body.document_ids,
        meeting_id: body.meeting_id,
        analysis_type: body.analysis_type.unwrap_or(AnalysisType::Full),
        language: body.language.unwrap_or(request.principal.resource.language),
        engine: body.engine.unwrap_or(EMBEDDED),
    };
    operations::start(&state, request.principal.caller, &request.principal.resource, id, wanted, request.request_id)
        .await
        .map(Reply::accepted)
}

pub struct ListAiAnalysisRuns {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListAiAnalysisRuns {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let page = PageQuery::read_from(fields);
        Ok(Self { filter: Filter { status: status? }, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.push(query_parameter("status", "Only runs of this status.", AiRunStatus::schema()));
        parameters
    }
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<ListAiAnalysisRuns>>,
    state: Analysis,
) -> Result<Reply<List<AiAnalysisRun>>, ApiError> {
    let ValidQuery(asked) = request.input;
    operations::list(&state, request.principal.resource.id, asked.filter, asked.page).await.map(Reply::ok)
}

/// Polled by many clients, so the response is rendered once per change and not once per request.
pub async fn status(
    request: Authorized<Member<Run>, Empty>,
    _: Analysis,
) -> Result<Prerendered<AiAnalysisRun>, ApiError> {
    let run = request.principal.resource;
    let body = run.rendered(|run| success(200, request.says, &AiAnalysisRun::of(run)).unwrap_or_default());
    Ok(Prerendered { etag: format!("\"{}\"", run.state.revision), body, of: PhantomData })
}

/// Streams the run's events as they happen, until the run has ended.
pub async fn stream(request: Authorized<Listener<Run>, LastEventId>, state: RealTime) -> Result<EventStream, ApiError> {
    let topic = topic(request.principal.resource.state.id);
    stream::stream(&state, request.principal.caller, topic, request.input.0, audience::ends).await.map(EventStream)
}

pub async fn cancel(
    request: Authorized<Analyst<Run>, Empty>,
    state: Analysis,
) -> Result<Reply<AiAnalysisRun>, ApiError> {
    operations::cancel(&state, &request.principal.resource, request.principal.caller, request.request_id)
        .await
        .map(Reply::ok)
}

pub async fn retry(
    request: Authorized<Analyst<Run>, Empty>,
    state: Analysis,
) -> Result<Reply<AiAnalysisRun>, ApiError> {
    let job_id = request.new_id();
    operations::retry(&state, &request.principal.resource, job_id, request.request_id).await.map(Reply::accepted)
}
