//! AI runs: bodies in, answers out.

use std::marker::PhantomData;

use actors::ids::{Document, Id};
use actors::meeting::Meeting;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Run;
use super::audience;
use super::model::{AiAnalysisRun, AiRunStatus, AnalysisType, EMBEDDED, EngineName};
use super::operations::{self, Wanted};
use super::store::{Filter, topic};
use crate::access::guard::{Analyst, Listener, Member};
use crate::accounts::model::Language;
use crate::analysis::state::Analysis;
use crate::api::operation::Allowed;
use crate::http::answer::EventStream;
use crate::http::envelope::{List, Rendered, Reply, success};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Body, Empty, Query, Valid, query_parameter};
use crate::http::page::Page;
use crate::live::state::RealTime;
use crate::live::stream::{self, LastEventId};
use crate::projects::model::Project;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StartAiAnalysisRun {
    /// None: all documents that are READY.
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
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
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
    may: Allowed<Analyst<Project>, Valid<StartAiAnalysisRun>>,
    state: Analysis,
) -> Result<Reply<AiAnalysisRun>, Failure> {
    let id = may.drawn();
    let Valid(body) = may.input;
    let wanted = Wanted {
        document_ids: body.document_ids,
        meeting_id: body.meeting_id,
        analysis_type: body.analysis_type.unwrap_or(AnalysisType::Full),
        language: body.language.unwrap_or(may.by.thing.language),
        engine: body.engine.unwrap_or(EMBEDDED),
    };
    operations::start(&state, may.by.caller, &may.by.thing, id, wanted, may.request).await.map(Reply::accepted)
}

pub struct ListAiAnalysisRuns {
    filter: Filter,
    page: Page,
}

impl Query for ListAiAnalysisRuns {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let status = fields.optional("status");
        let page = Page::read_from(fields);
        Ok(Self { filter: Filter { status: status? }, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("status", "Only runs of this status.", AiRunStatus::schema()));
        parameters
    }
}

pub async fn list(
    may: Allowed<Member<Project>, Asked<ListAiAnalysisRuns>>,
    state: Analysis,
) -> Result<Reply<List<AiAnalysisRun>>, Failure> {
    let Asked(asked) = may.input;
    operations::list(&state, may.by.thing.id, asked.filter, asked.page).await.map(Reply::ok)
}

/// Polled by many, so it is rendered once a change and not once a request.
pub async fn status(may: Allowed<Member<Run>, Empty>, _: Analysis) -> Result<Rendered<AiAnalysisRun>, Failure> {
    let run = may.by.thing;
    let body = run.rendered(|run| success(200, may.says, &AiAnalysisRun::of(run)).unwrap_or_default());
    Ok(Rendered { etag: format!("\"{}\"", run.state.revision), body, of: PhantomData })
}

/// The run's events as they happen, until it is over.
pub async fn stream(may: Allowed<Listener<Run>, LastEventId>, state: RealTime) -> Result<EventStream, Failure> {
    let topic = topic(may.by.thing.state.id);
    stream::stream(&state, may.by.caller, topic, may.input.0, audience::ends).await.map(EventStream)
}

pub async fn cancel(may: Allowed<Analyst<Run>, Empty>, state: Analysis) -> Result<Reply<AiAnalysisRun>, Failure> {
    operations::cancel(&state, &may.by.thing, may.by.caller, may.request).await.map(Reply::ok)
}

pub async fn retry(may: Allowed<Analyst<Run>, Empty>, state: Analysis) -> Result<Reply<AiAnalysisRun>, Failure> {
    let job_id = may.drawn();
    operations::retry(&state, &may.by.thing, job_id, may.request).await.map(Reply::accepted)
}
