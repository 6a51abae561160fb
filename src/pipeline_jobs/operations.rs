//! The operations on jobs.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use actors::ids::{AiJob, Id};
use pipeline::remote::{JobResult, PipelineJob, PipelineProcessingStatus as Status};
use serde::Serialize;
use utoipa::ToSchema;

use super::intake::ReceivedRequest;
use super::state::PipelineJobs;
use super::table::{NotAccepted, NotCancelled};
use super::worker;
use crate::http::code::Code;
use crate::http::envelope::Prerendered;
use crate::http::error::ApiError;

/// After how long a request that found the queue full should be sent again.
const UNTIL_FREE: std::time::Duration = std::time::Duration::from_secs(5);

/// The health of the pipeline service.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PipelineHealth {
    /// The version of the service.
    version: &'static str,
    /// Jobs that wait.
    queued: usize,
    /// Jobs that are being processed.
    processing: usize,
    /// Jobs whose results are kept.
    finished: usize,
    /// The bytes of all jobs.
    stored_bytes: u64,
}

/// # Errors
/// 503 while the service stops, or when its folder can't be written.
pub async fn health(state: &PipelineJobs) -> Result<PipelineHealth, ApiError> {
    if state.tasks.stopping().is_cancelled() {
        return Err(ApiError::unavailable("the service is stopping"));
    }
    state.table.on_disk(|folder| folder.receive().map(drop)).await.map_err(ApiError::unavailable)?;
    let counts = state.table.counts().await;
    Ok(PipelineHealth {
        version: env!("CARGO_PKG_VERSION"),
        queued: counts.queued,
        processing: counts.processing,
        finished: counts.finished,
        stored_bytes: counts.bytes,
    })
}

/// Makes a request a job, unless it is one already.
///
/// # Errors
/// 409 if another request has its id; 503 if there are too many jobs, or it can't be stored.
pub async fn accept(state: &PipelineJobs, request: ReceivedRequest) -> Result<PipelineJob, ApiError> {
    let id = request.job_id;
    let accepted = state.table.accept(id, request.digest, request.folder).await;
    let (job, is_new) = accepted.map_err(|refused| match refused {
        NotAccepted::Conflict => {
            ApiError::with_message(Code::CONFLICT, "Another request was sent with this jobId before.")
        }
        NotAccepted::Full => ApiError { retry_after: Some(UNTIL_FREE), ..ApiError::unavailable("the queue is full") },
        NotAccepted::Unsaved(error) => ApiError::unavailable(error),
    })?;
    if is_new {
        worker::begin(state, id);
    }
    Ok(job)
}

/// # Errors
/// 404 if there is no such job.
pub async fn status(state: &PipelineJobs, id: Id<AiJob>) -> Result<PipelineJob, ApiError> {
    state.table.find(id).await.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// Returns the result as it is stored.
///
/// # Errors
/// 404 if there is no such job; 409 if it is unfinished or was cancelled.
pub async fn result(state: &PipelineJobs, id: Id<AiJob>, message: &str) -> Result<Prerendered<JobResult>, ApiError> {
    let job = status(state, id).await?;
    if !job.status.is_over() || job.status == Status::Cancelled {
        let message = if job.status.is_over() { "The job was cancelled." } else { "The job is not finished yet." };
        return Err(ApiError::with_message(Code::INVALID_STATE, message));
    }
    let stored = match state.table.on_disk(move |folder| folder.result(id)).await {
        // It failed without getting as far as a result.
        Err(error) if error.kind() == io::ErrorKind::NotFound && job.status == Status::Failed => {
            let none = JobResult::empty(id, pipeline::remote::PipelineResultStatus::Failed, Vec::new());
            serde_json::to_vec(&none).map_err(ApiError::internal)?
        }
        // Deleted since, because it was kept for long enough.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ApiError::of(Code::NOT_FOUND)),
        read => read.map_err(ApiError::unavailable)?,
    };
    let message = serde_json::to_string(message).map_err(ApiError::internal)?;
    let head: &[u8] = br#"{"isSuccess":true,"data":"#;
    let tail = format!(r#","message":{message},"statusCode":200,"errors":[]}}"#);
    let body: Arc<[u8]> = [head, &stored, tail.as_bytes()].concat().into();
    Ok(Prerendered { etag: format!("\"{id}\""), body, of: PhantomData })
}

/// # Errors
/// 404 if there is no such job; 409 if it ended otherwise.
pub async fn cancel(state: &PipelineJobs, id: Id<AiJob>) -> Result<PipelineJob, ApiError> {
    state.table.cancel(id).await.map_err(|refused| match refused {
        NotCancelled::Missing => ApiError::of(Code::NOT_FOUND),
        NotCancelled::Over => ApiError::with_message(Code::INVALID_STATE, "The job has ended."),
        NotCancelled::Unsaved(error) => ApiError::unavailable(error),
    })
}
