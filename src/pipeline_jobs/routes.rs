//! HTTP handlers of the pipeline service.

use actix_web::HttpRequest;
use actors::ids::{AiJob, Id};
use pipeline::regeneration::RegeneratedStory;
use pipeline::remote::{JobResult, PipelineJob};

use super::intake::{ProcessFiles, ProcessJson};
use super::operations::{self, PipelineHealth};
use super::regeneration::{self, PipelineRegenerateStory};
use super::state::PipelineJobs;
use crate::access::policy::{KeyHolder, PathIds};
use crate::api::operation::Authorized;
use crate::http::envelope::{Prerendered, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, Input, Raw, ValidJson};

/// The id in the path.
pub struct JobPath(Id<AiJob>);

impl Input for JobPath {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        PathIds::of(request).id("jobId").map(Self)
    }
}

pub async fn health(_: Authorized<KeyHolder, Empty>, state: PipelineJobs) -> Result<Reply<PipelineHealth>, ApiError> {
    operations::health(&state).await.map(Reply::ok)
}

pub async fn process_json(
    request: Authorized<KeyHolder, ProcessJson>,
    state: PipelineJobs,
) -> Result<Reply<PipelineJob>, ApiError> {
    operations::accept(&state, request.input.0).await.map(Reply::accepted)
}

pub async fn process_files(
    request: Authorized<KeyHolder, ProcessFiles>,
    state: PipelineJobs,
) -> Result<Reply<PipelineJob>, ApiError> {
    operations::accept(&state, request.input.0).await.map(Reply::accepted)
}

pub async fn status(
    request: Authorized<KeyHolder, JobPath>,
    state: PipelineJobs,
) -> Result<Reply<PipelineJob>, ApiError> {
    operations::status(&state, request.input.0).await.map(Reply::ok)
}

pub async fn result(
    request: Authorized<KeyHolder, JobPath>,
    state: PipelineJobs,
) -> Result<Prerendered<JobResult>, ApiError> {
    operations::result(&state, request.input.0, request.message).await
}

pub async fn cancel(
    request: Authorized<KeyHolder, JobPath>,
    state: PipelineJobs,
) -> Result<Reply<PipelineJob>, ApiError> {
    operations::cancel(&state, request.input.0).await.map(Reply::ok)
}

pub async fn regenerate_story(
    request: Authorized<KeyHolder, ValidJson<PipelineRegenerateStory>>,
    state: PipelineJobs,
) -> Result<Reply<RegeneratedStory>, ApiError> {
    regeneration::regenerate(&state, request.input.0).await.map(Reply::ok)
}
