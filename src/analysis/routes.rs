//! HTTP handlers of AI analysis runs.

use std::marker::PhantomData;

use super::bodies::{Filter, StartAiAnalysisRun};
use super::model::{AiAnalysisRun, AiRunEvent};
use super::store::topic;
use super::{RunSnapshot, audience, operations};
use crate::access::policy::{Analyst, Member, Subscriber};
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::EventStream;
use crate::http::envelope::{List, Prerendered, Reply, success};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::live::state::RealTime;
use crate::live::stream::{self, LastEventId};
use crate::projects::model::Project;

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
