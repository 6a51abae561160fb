//! One attempt of a run: passes its sources to the pipeline, its progress to the run's actor, and its results to the
//! project.

mod remote;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::Meeting;
use actors::run::{self, Command, Node, Refusal, RunWarning};
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use pipeline::glossary::GlossaryEntry;
use pipeline::process::{OutlinedSource, Ports, RequestOutline};
use pipeline::{
    self, CancelToken, CheckpointStore, EngineChoice, ModelUse, PipelineOutcome, PipelineResult, PortUnavailable,
    ProgressSink, SourceKind, StopRequested, TextStore, UnreadableSource,
};

use super::backend::AnalysisBackend;
use super::findings::draft::{self, Undrafted};
use super::store::answers;
use super::{RunSnapshot, store};
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings;
use crate::meetings::transcripts;
use crate::meetings::transcripts::sources::{RecordingSource, SourceTranscript, SpokenText};
use crate::projects::{documents, glossary};

/// How often a run looks for the transcripts that it waits for.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How much of some recordings is transcribed.
#[derive(Default)]
struct TranscribedShare {
    done_ms: u64,
    total_ms: u64,
}

impl TranscribedShare {
    fn permille(&self) -> u32 {
        let share = self.done_ms.saturating_mul(1000).checked_div(self.total_ms);
        share.and_then(|share| u32::try_from(share).ok()).unwrap_or_default()
    }
}

/// Executes one attempt and reports its progress to the run's actor.
pub(super) struct Attempt<'a> {
    state: &'a Analysis,
    run: &'a run::Run,
    request: RequestId,
    /// The node in progress, and when it started.
    since: Mutex<(Node, Time)>,
    /// What is said in the run's meeting, from when it is looked for until the pipeline takes it.
    spoken: Mutex<Option<String>>,
}

impl<'a> Attempt<'a> {
    pub fn new(state: &'a Analysis, run: &'a run::Run, request: RequestId) -> Self {
        Self { state, run, request, since: Mutex::new((Node::Queued, state.now())), spoken: Mutex::new(None) }
    }

    /// Waits until none of the recordings of the run's meeting is being transcribed any more, and reports how much of them
    /// is. Returns false when the attempt is not wanted any more.
    ///
    /// # Errors
    /// The attempt was interrupted and has to be started again.
    pub async fn await_transcripts(&self, token: &CancelToken) -> Result<bool, ApiError> {
        let Some(meeting) = self.run.meeting_id else { return Ok(true) };
        let (attempt, node) = (self.run.attempt, Node::TranscribeRecordings);
        let mut is_begun = matches!(self.run.state, run::State::Processing { .. });
        while let Some(share) = self.transcribed(meeting).await? {
            if !is_begun && self.send(Command::Begin { attempt }).await?.is_err() {
                return Ok(false);
            }
            is_begun = true;
            let message = format!("{} ({} of {} s)", node.label(), share.done_ms / 1000, share.total_ms / 1000);
            let command =
                Command::Progress { attempt, node, progress: node.progress_within(share.permille()), message };
            if self.send(command).await?.is_err() {
                return Ok(false);
            }
            tokio::select! {
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
                () = token.cancelled() => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns how much of a meeting's recordings is transcribed; `None` when none of them is being transcribed.
    async fn transcribed(&self, id: Id<Meeting>) -> Result<Option<TranscribedShare>, ApiError> {
        let mut share = TranscribedShare::default();
        let mut is_any = false;
        for recording in self.recordings(id).await?.map(|(_, recordings)| recordings).unwrap_or_default() {
            let done_ms = match recording.transcript {
                SourceTranscript::Unfinished { done_ms, .. } => {
                    is_any = true;
                    done_ms
                }
                SourceTranscript::Ready(_) => recording.duration_ms,
                SourceTranscript::Missing(_) => continue,
            };
            share.done_ms += done_ms;
            share.total_ms += recording.duration_ms.max(done_ms);
        }
        Ok(is_any.then_some(share))
    }

    /// # Errors
    /// The attempt was interrupted and has to be started again.
    pub async fn work(&self, token: &CancelToken) -> Result<(), ApiError> {
        let attempt = self.run.attempt;
        let backend = self.state.runner.backend_of(&self.run.engine);
        // The start is counted durably before any work that may bring down the server. Following a job of the pipeline
        // service is no such work.
        let is_followed = backend.is_remote() && matches!(self.run.state, run::State::Processing { .. });
        if !is_followed {
            let Ok(started) = self.send(Command::Begin { attempt }).await? else { return Ok(()) };
            if started.state.is_over() {
                tracing::error!(
                    run = %self.run.id,
                    attempt,
                    "the analysis run failed: it was started too often without finishing"
                );
                return Ok(());
            }
        }
        let outline = self.outline().await?;
        let outcome = match &backend {
            AnalysisBackend::Local(analyser) => {
                let ports = Ports { texts: self, checkpoints: self, progress_sink: self };
                analyser.analyse(&outline, ports, token).await.map_err(ApiError::unavailable)?
            }
            AnalysisBackend::Remote(service) => self.work_remotely(service, &outline, token).await?,
        };
        let command = match outcome {
            PipelineOutcome::Completed(result) => return self.complete(*result, Vec::new()).await,
            PipelineOutcome::Partial(result, warnings) => {
                return self.complete(*result, warnings.into_iter().map(source_failed).collect()).await;
            }
            PipelineOutcome::Rejected { reason, .. } => Command::Reject { attempt, reason },
            PipelineOutcome::Failed { node, message } => {
                tracing::error!(run = %self.run.id, %node, message, "the analysis run failed");
                Command::Fail { attempt, message }
            }
            // Cancelled by the run's actor, which already knows, or by the shutdown of the server.
            PipelineOutcome::Cancelled => return Ok(()),
        };
        self.end(command).await
    }

    /// Publishes the results to the project in the transaction that completes the run, unless the attempt is no longer
    /// current.
    async fn complete(&self, result: PipelineResult, warnings: Vec<RunWarning>) -> Result<(), ApiError> {
        let attempt = self.run.attempt;
        let _one_at_a_time = self.state.runner.results_lock().await;
        match draft::write(self.state, self.run, result).await {
            Ok(()) => self.end(Command::Complete { attempt, warnings }).await,
            Err(Undrafted::TooMuch) => {
                let PipelineOutcome::Failed { message, .. } = PipelineOutcome::too_much() else { return Ok(()) };
                self.end(Command::Fail { attempt, message }).await
            }
            Err(Undrafted::Unwanted) => Ok(()),
            Err(Undrafted::Failed(failure)) => Err(failure),
        }
    }

    /// Sends the final command. A refusal means that the attempt is no longer current, and is ignored.
    async fn end(&self, command: Command) -> Result<(), ApiError> {
        self.send(command).await.map(|_| ())
    }

    /// Sends a command to the run's actor. The outer error means that the command could not be delivered or saved; the
    /// inner one that the run refuses it, so the result of this work is not wanted.
    async fn send(&self, command: Command) -> Result<Result<RunSnapshot, Refusal>, ApiError> {
        match self.state.registry.ask(self.run.id, command, Arc::clone(&self.request)).await {
            Ok(run) => Ok(Ok(run)),
            Err(shell::CommandError::Refused(refusal)) => Ok(Err(refusal)),
            Err(shell::CommandError::Missing) => Err(ApiError::of(Code::NOT_FOUND)),
            Err(other) => Err(ApiError::unavailable(format!("{other:?}"))),
        }
    }

    async fn outline(&self) -> Result<RequestOutline, ApiError> {
        let run = self.run;
        let found = documents::operations::sources(&self.state.db, run.project_id, run.documents().collect()).await?;
        let mut sources = Vec::with_capacity(run.document_ids.len());
        for id in &run.document_ids {
            let (name, unreadable) = match found.iter().find(|source| source.id == *id) {
                Some(source) => (source.file_name.clone(), source.unreadable.clone().map(|why| ("Unreadable", why))),
                None => ("a document".to_owned(), Some(("Deleted", "The document was deleted.".to_owned()))),
            };
            let unreadable = unreadable.map(|(code, message)| UnreadableSource { code: code.to_owned(), message });
            sources.push(OutlinedSource { id: id.to_string(), kind: SourceKind::Document, name, unreadable });
        }
        if let Some(id) = run.meeting_id {
            self.outline_meeting(id, &mut sources).await?;
        }
        Ok(RequestOutline {
            job_id: run.ai_job_id.to_string(),
            attempt: run.attempt,
            analysis_type: run.analysis_type,
            language: run.language,
            bounds: pipeline::Bounds::default(),
            engine: self.engine()?,
            glossary: self.glossary().await?,
            sources,
        })
    }

    /// Returns the project's terms as they are now.
    async fn glossary(&self) -> Result<Vec<GlossaryEntry>, ApiError> {
        let project_id = self.run.project_id;
        let read = self.state.db.read(move |conn| Box::pin(glossary::store::of_project(conn, project_id))).await;
        read.map(|glossary| glossary.entries).map_err(ApiError::from)
    }

    /// Returns the run's engine. Whether it may ask a language model is looked up now: the operator may have changed it
    /// since the run was started.
    fn engine(&self) -> Result<EngineChoice, ApiError> {
        let kind = self.run.engine.parse().map_err(|_| ApiError::internal("the run has an unknown engine"))?;
        let llm = &self.state.config.llm;
        let model = llm.may_have(&self.run.project_id.to_string()).then(|| ModelUse {
            name: llm.model.clone(),
            chunk_characters: llm.chunk_characters,
            answer_tokens: llm.answer_tokens,
        });
        Ok(EngineChoice { kind, model })
    }

    /// Adds a meeting: what is said in it is one source, and each recording without a transcript another one, which can't
    /// be read.
    async fn outline_meeting(&self, id: Id<Meeting>, sources: &mut Vec<OutlinedSource>) -> Result<(), ApiError> {
        // A meeting that was deleted since has nothing to analyse.
        let Some((title, recordings)) = self.recordings(id).await? else { return Ok(()) };
        let spoken = transcripts::sources::spoken_in(&self.state.db, id).await.map_err(ApiError::from)?;
        let unreadable = match spoken {
            SpokenText::Text(text) => {
                let text = serde_json::to_string(&text).map_err(ApiError::internal)?;
                *self.spoken.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                Some(None)
            }
            SpokenText::TooLong(message) => Some(Some(UnreadableSource { code: "TooLarge".to_owned(), message })),
            SpokenText::Withheld | SpokenText::Missing => None,
        };
        let kind = SourceKind::Recording;
        if let Some(unreadable) = unreadable {
            sources.push(OutlinedSource { id: id.to_string(), kind, name: title, unreadable });
        }
        for RecordingSource { id, name, transcript, .. } in recordings {
            let message = match transcript {
                SourceTranscript::Ready(_) => continue,
                SourceTranscript::Unfinished { .. } => "The recording is still being transcribed.".to_owned(),
                SourceTranscript::Missing(why) => why,
            };
            let unreadable = Some(UnreadableSource { code: "NoTranscript".to_owned(), message });
            sources.push(OutlinedSource { id: id.to_string(), kind, name, unreadable });
        }
        Ok(())
    }

    /// Loads what is said in the run's meeting once more, where it is needed more often than once.
    async fn spoken_again(&self, source_id: &str) -> Result<String, PortUnavailable> {
        let missing = || PortUnavailable(format!("there is no text of the source {source_id}"));
        let id = self.run.meeting_id.filter(|id| id.to_string() == source_id).ok_or_else(missing)?;
        let spoken = transcripts::sources::spoken_in(&self.state.db, id).await;
        match spoken.map_err(|error| PortUnavailable(error.to_string()))? {
            SpokenText::Text(text) => serde_json::to_string(&text).map_err(|error| PortUnavailable(error.to_string())),
            SpokenText::TooLong(_) | SpokenText::Withheld | SpokenText::Missing => Err(missing()),
        }
    }

    /// Returns the title of a meeting and its recordings; `None` if there is no such meeting.
    async fn recordings(&self, id: Id<Meeting>) -> Result<Option<(String, Vec<RecordingSource>)>, ApiError> {
        let read = self.state.db.read(move |conn| {
            Box::pin(async move {
                let Some(meeting) = meetings::store::find(conn, id).await? else { return Ok(None) };
                let recordings = transcripts::sources::of_meeting(conn, &meeting).await?;
                Ok(Some((meeting.title, recordings)))
            })
        });
        read.await.map_err(|error: DbError| ApiError::from(error))
    }

    /// The pipeline's message with the time its node has been running, so that a long node publishes an update every
    /// second even when its share of the total is less than one percent.
    fn timed(&self, node: Node, message: &str) -> String {
        let now = self.state.now();
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.0 != node {
            *since = (node, now);
        }
        match now.since(since.1).as_secs() {
            0 => message.to_owned(),
            seconds => format!("{message} ({seconds} s)"),
        }
    }
}

/// Any warning about a source that yielded nothing gets the code `SourceFailed`, whatever the reason; the pipeline's
/// other warnings keep their codes.
fn source_failed(warning: pipeline::result::Warning) -> RunWarning {
    let failed = warning.is_of_a_failed_source();
    RunWarning {
        code: if failed { RunWarning::SOURCE_FAILED.to_owned() } else { warning.code },
        message: warning.message,
        source_id: warning.source_id.and_then(|id| id.parse().ok()),
    }
}

#[async_trait]
impl ProgressSink for Attempt<'_> {
    async fn progressed(&self, node: Node, progress: u8, message: &str) -> Result<(), StopRequested> {
        let message = self.timed(node, message);
        let command = Command::Progress { attempt: self.run.attempt, node, progress, message };
        match self.send(command).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(StopRequested),
            Err(failure) if failure.code == Code::NOT_FOUND => Err(StopRequested),
            // The database is temporarily unavailable; the work itself continues.
            Err(failure) => {
                tracing::warn!(%failure, "the run's progress could not be reported");
                Ok(())
            }
        }
    }
}

#[async_trait]
impl TextStore for Attempt<'_> {
    async fn text(&self, source_id: &str) -> Result<String, PortUnavailable> {
        let invalid = || PortUnavailable("not the id of a source".to_owned());
        let id: Id<ids::Document> = source_id.parse().map_err(|_| invalid())?;
        let Some((_, version)) = self.run.documents().find(|(document, _)| *document == id) else {
            let spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner).take();
            return match spoken {
                Some(spoken) => Ok(spoken),
                None => self.spoken_again(source_id).await,
            };
        };
        let stored = documents::operations::stored_text(&self.state.db, id, version).await;
        let stored = stored.map_err(|error| PortUnavailable(error.to_string()))?;
        stored.ok_or_else(|| PortUnavailable(format!("the document {id} has no text any more")))
    }
}

/// Stores the outputs of nodes as checkpoints.
#[async_trait]
impl CheckpointStore for Attempt<'_> {
    async fn load(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
    ) -> Result<Option<String>, PortUnavailable> {
        let (id, input_hash, engine_version) = (self.run.id, input_hash.to_owned(), engine_version.to_owned());
        let found = self.state.db.read(move |conn| {
            Box::pin(async move { store::node_output(conn, id, node, &input_hash, &engine_version).await })
        });
        found.await.map_err(|error: DbError| PortUnavailable(error.to_string()))
    }

    async fn save(
        &self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
        output: &str,
    ) -> Result<(), PortUnavailable> {
        let (id, attempt) = (self.run.id, self.run.attempt);
        let output = store::NodeOutput {
            run_id: id,
            attempt: i64::from(attempt),
            node,
            input_hash: input_hash.to_owned(),
            engine_version: engine_version.to_owned(),
            output: output.to_owned(),
            kept_at: self.state.now(),
        };
        let stored = self.state.db.write(move |conn| {
            Box::pin(async move {
                if store::is_at_work(conn, id, attempt).await? {
                    store::save_node_output(conn, output).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        stored.await.map_err(|error| PortUnavailable(error.to_string()))
    }

    async fn load_answer(&self, key: &str) -> Result<Option<String>, PortUnavailable> {
        let (id, key) = (self.run.id, key.to_owned());
        let found = self.state.db.read(move |conn| Box::pin(async move { answers::find(conn, id, &key).await }));
        found.await.map_err(|error: DbError| PortUnavailable(error.to_string()))
    }

    async fn save_answer(&self, key: &str, answer: &str) -> Result<(), PortUnavailable> {
        let (id, attempt, now) = (self.run.id, self.run.attempt, self.state.now());
        let (key, answer) = (key.to_owned(), answer.to_owned());
        let stored = self.state.db.write(move |conn| {
            Box::pin(async move {
                if store::is_at_work(conn, id, attempt).await? {
                    answers::save(conn, id, &key, &answer, now).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        stored.await.map_err(|error| PortUnavailable(error.to_string()))
    }
}
