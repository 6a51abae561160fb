//! Works on the jobs: each in a confined child process, a limited number at once, in the order in which they came.

use std::io;
use std::time::Duration;

use actors::ids::{AiJob, Id};
use actors::run::Node;
use async_trait::async_trait;
use pipeline::process::{OutlinedSource, Ports, RequestOutline};
use pipeline::remote::{JobResult, PipelineProcessingStatus as Status, PipelineResultStatus};
use pipeline::{
    Bounds, CancelToken, CheckpointStore, EngineChoice, PipelineOutcome, PortUnavailable, ProgressSink, StopRequested,
    TextStore, UnreadableSource,
};
use readers::{Format, UnreadableReason};
use serde::{Deserialize, Serialize};

use super::folder::read_text;
use super::model::{JobRequest, SourceContent};
use super::state::PipelineJobs;

/// How long a job whose work was interrupted pauses before it is begun again; each further time twice as long, up to
/// the longest.
const PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// The largest text of a source, in bytes; readers bound theirs to less.
const TEXT_BYTES: u64 = 512 * 1024 * 1024;
/// How often finished jobs are looked at.
const SWEEP: Duration = Duration::from_millis(500);

/// Starts the work on a job.
pub fn begin(state: &PipelineJobs, id: Id<AiJob>) {
    let state = state.clone();
    let tasks = state.tasks.clone();
    tasks.spawn(async move {
        let stopping = state.tasks.stopping();
        tokio::select! {
            () = work(&state, id) => {}
            () = stopping.cancelled() => {}
        }
    });
}

/// Deletes finished jobs that were kept for long enough, periodically until the service stops.
pub async fn sweep(state: PipelineJobs) {
    let stopping = state.tasks.stopping();
    while stopping.run_until_cancelled(tokio::time::sleep(SWEEP)).await.is_some() {
        state.table.expire().await;
    }
}

async fn work(state: &PipelineJobs, id: Id<AiJob>) {
    let Some(token) = state.table.token(id).await else { return };
    let permit = tokio::select! {
        biased;
        () = token.cancelled() => None,
        permit = state.permits.acquire() => permit.ok(),
    };
    let mut pause = PAUSE;
    while permit.is_some() {
        let Err(why) = attempt(state, id, &token).await else { break };
        tracing::warn!(why, job = %id, "work on the job was interrupted");
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(MAX_PAUSE),
            () = token.cancelled() => break,
        }
    }
    state.table.tidy(id).await;
}

/// Works on a job once. An error means that it has to be begun again.
async fn attempt(state: &PipelineJobs, id: Id<AiJob>, token: &CancelToken) -> Result<(), String> {
    let unsaved = |error: io::Error| error.to_string();
    let Some(record) = state.table.begin(id).await.map_err(unsaved)? else { return Ok(()) };
    let request = state.table.on_disk(move |folder| folder.request(id)).await.map_err(unsaved)?;
    let Some(read) = token.run_until_cancelled(read_documents(state, id, request)).await else { return Ok(()) };
    let request = read?;
    let outline = RequestOutline {
        job_id: id.to_string(),
        attempt: record.attempt,
        analysis_type: request.analysis_type,
        language: request.language,
        bounds: Bounds::default(),
        // The service asks no language model: a server keeps runs that want one to itself.
        engine: EngineChoice::default(),
        glossary: request.glossary.clone(),
        sources: request
            .sources
            .iter()
            .map(|source| OutlinedSource {
                id: source.id.clone(),
                kind: source.kind,
                name: source.name.clone(),
                unreadable: match &source.content {
                    SourceContent::Unreadable(why) => Some(why.clone()),
                    SourceContent::Text | SourceContent::Document { .. } => None,
                },
            })
            .collect(),
    };
    let job = JobPorts { state, id, request: &request };
    let ports = Ports { texts: &job, checkpoints: &job, progress_sink: &job };
    let outcome = state.analyser.analyse(&outline, ports, token).await.map_err(|lost| lost.to_string())?;
    let nothing = |status, warnings| JobResult::empty(id, status, warnings);
    let (status, why, result) = match outcome {
        PipelineOutcome::Completed(found) => (Status::Completed, None, JobResult::of(id, *found)),
        PipelineOutcome::Partial(found, _) => (Status::Partial, None, JobResult::of(id, *found)),
        PipelineOutcome::Rejected { reason, warnings } => {
            (Status::Rejected, Some(reason), nothing(PipelineResultStatus::Rejected, warnings))
        }
        PipelineOutcome::Failed { node, message } => {
            tracing::error!(job = %id, %node, message, "the job failed");
            (Status::Failed, Some(message), nothing(PipelineResultStatus::Failed, Vec::new()))
        }
        // By its caller, which knows, or because the service stops.
        PipelineOutcome::Cancelled => return Ok(()),
    };
    state.table.on_disk(move |folder| folder.save_result(id, &result)).await.map_err(unsaved)?;
    state.table.end(id, status, why).await.map_err(unsaved)?;
    metrics::counter!("colloquy_pipeline_jobs_total", "status" => status.into_str()).increment(1);
    Ok(())
}

/// Reads the documents of a request that were not read yet, and stores their texts.
async fn read_documents(state: &PipelineJobs, id: Id<AiJob>, mut request: JobRequest) -> Result<JobRequest, String> {
    let mut is_changed = false;
    for (place, source) in request.sources.iter_mut().enumerate() {
        let SourceContent::Document { format } = &source.content else { continue };
        let format = Format::named(format).ok_or("the format of a document is unknown")?;
        let file = state.table.on_disk(move |folder| folder.open_source(id, place)).await;
        let file = file.map_err(|error| error.to_string())?;
        source.content = match state.reader.read(format, file).await {
            Ok(read) => {
                let saved = state.table.on_disk(move |folder| folder.save_text(id, place, &read.json)).await;
                saved.map_err(|error| error.to_string())?;
                SourceContent::Text
            }
            Err(unreadable) if unreadable.reason == UnreadableReason::Interrupted => return Err(unreadable.message),
            Err(unreadable) => SourceContent::Unreadable(UnreadableSource {
                code: "Unreadable".to_owned(),
                message: unreadable.message,
            }),
        };
        is_changed = true;
    }
    if is_changed {
        let saved = request.clone();
        let saved = state.table.on_disk(move |folder| folder.save_request(id, &saved)).await;
        saved.map_err(|error| error.to_string())?;
        state.table.measure(id).await;
    }
    Ok(request)
}

/// What the pipeline needs of a job.
struct JobPorts<'a> {
    state: &'a PipelineJobs,
    id: Id<AiJob>,
    request: &'a JobRequest,
}

#[async_trait]
impl TextStore for JobPorts<'_> {
    async fn text(&self, source_id: &str) -> Result<String, PortUnavailable> {
        let place = self.request.sources.iter().position(|source| source.id == source_id);
        let place = place.ok_or_else(|| PortUnavailable("there is no such source".to_owned()))?;
        let id = self.id;
        let read = self.state.table.on_disk(move |folder| read_text(folder.open_text(id, place)?, TEXT_BYTES)).await;
        read.map_err(|error| PortUnavailable(error.to_string()))
    }
}

#[async_trait]
impl ProgressSink for JobPorts<'_> {
    async fn progressed(&self, node: Node, progress: u8, _: &str) -> Result<(), StopRequested> {
        if self.state.table.progressed(self.id, node, progress).await { Ok(()) } else { Err(StopRequested) }
    }
}

/// The output of a node, as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredOutput {
    input_hash: String,
    engine_version: String,
    output: String,
}

#[async_trait]
impl CheckpointStore for JobPorts<'_> {
    async fn load(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
    ) -> Result<Option<String>, PortUnavailable> {
        let id = self.id;
        let found =
            self.state.table.on_disk(move |folder| folder.checkpoint::<StoredOutput>(id, node.into_str())).await;
        let found = found.map_err(|error| PortUnavailable(error.to_string()))?;
        let is_of = |stored: &StoredOutput| stored.input_hash == input_hash && stored.engine_version == engine_version;
        Ok(found.filter(is_of).map(|stored| stored.output))
    }

    async fn save(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
        output: &str,
    ) -> Result<(), PortUnavailable> {
        let stored = StoredOutput {
            input_hash: input_hash.to_owned(),
            engine_version: engine_version.to_owned(),
            output: output.to_owned(),
        };
        let id = self.id;
        let saved = self.state.table.on_disk(move |folder| folder.save_checkpoint(id, node.into_str(), &stored)).await;
        saved.map_err(|error| PortUnavailable(error.to_string()))?;
        self.state.table.measure(id).await;
        Ok(())
    }
}
