//! Work at one attempt of a run: its sources into the pipeline, its progress to the run's actor, what it found into the project.

use std::sync::{Arc, Mutex, PoisonError};

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::run::{self, Command, Refusal, Warning};
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use serde_json::Value;

use super::results::draft::{self, Undrafted};
use super::{Run, store};
use crate::analysis::state::Analysis;
use crate::db::{At, Failed, Key};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::pipeline::process::{Outline, OutlinedSource, Ports};
use crate::pipeline::{
    self, AnalysisType, CancelToken, Checkpoints, Node, Outcome, PipelineResult, SourceKind, Stop, TextStore,
    Unavailable, Unreadable, Watcher,
};
use crate::projects::documents;

/// Works at an attempt, and tells the run's actor how far it is.
pub(super) struct Attempt<'a> {
    state: &'a Analysis,
    run: &'a run::Run,
    request: RequestId,
    /// The node under way, and since when.
    since: Mutex<(Node, Time)>,
}

impl<'a> Attempt<'a> {
    pub fn new(state: &'a Analysis, run: &'a run::Run, request: RequestId) -> Self {
        Self { state, run, request, since: Mutex::new((Node::Queued, state.now())) }
    }

    /// # Errors
    /// It broke off, and is to be taken up again.
    pub async fn work(&self, token: &CancelToken) -> Result<(), Failure> {
        let attempt = self.run.attempt;
        // Counted, durably, before anything that may take the server along.
        let Ok(begun) = self.tell(Command::Begin { attempt }).await? else { return Ok(()) };
        if begun.state.is_over() {
            tracing::error!(run = %self.run.id, attempt, "a run is given up: it never came to an end");
            return Ok(());
        }
        let outline = self.outline().await?;
        let ports = Ports { texts: self, checkpoints: self, watcher: self };
        let outcome = self.state.runner.analyser.analyse(&outline, ports, token).await.map_err(Failure::unavailable)?;
        let command = match outcome {
            Outcome::Completed(result) => return self.complete(*result, Vec::new()).await,
            Outcome::Partial(result, warnings) => {
                return self.complete(*result, warnings.into_iter().map(source_failed).collect()).await;
            }
            Outcome::Rejected { reason, .. } => Command::Reject { attempt, reason },
            Outcome::Failed { node, message } => {
                tracing::error!(run = %self.run.id, node = node.name(), message, "an analysis failed");
                Command::Fail { attempt, message }
            }
            // By the run's actor, which knows it already, or by the end of the server.
            Outcome::Cancelled => return Ok(()),
        };
        self.end(command).await
    }

    /// What was found becomes the project's in the transaction that completes the run, where that is still wanted.
    async fn complete(&self, result: PipelineResult, warnings: Vec<Warning>) -> Result<(), Failure> {
        let attempt = self.run.attempt;
        let _one_at_a_time = self.state.runner.keeping().await;
        match draft::write(self.state, self.run, result).await {
            Ok(()) => self.end(Command::Complete { attempt, warnings }).await,
            Err(Undrafted::TooMuch) => {
                let Outcome::Failed { message, .. } = Outcome::too_much() else { return Ok(()) };
                self.end(Command::Fail { attempt, message }).await
            }
            Err(Undrafted::Unwanted) => Ok(()),
            Err(Undrafted::Failed(failure)) => Err(failure),
        }
    }

    /// A refusal says that the attempt is no longer wanted.
    async fn end(&self, command: Command) -> Result<(), Failure> {
        self.tell(command).await.map(|_| ())
    }

    /// Outer error: it could not be told. Inner: the run refuses, its work is not wanted.
    async fn tell(&self, command: Command) -> Result<Result<Run, Refusal>, Failure> {
        match self.state.registry.ask(self.run.id, command, Arc::clone(&self.request)).await {
            Ok(run) => Ok(Ok(run)),
            Err(shell::Failure::Refused(refusal)) => Ok(Err(refusal)),
            Err(shell::Failure::Missing) => Err(Failure::of(Code::NOT_FOUND)),
            Err(other) => Err(Failure::unavailable(format!("{other:?}"))),
        }
    }

    async fn outline(&self) -> Result<Outline, Failure> {
        let run = self.run;
        let found = documents::operations::sources(&self.state.db, run.project_id, run.document_ids.clone()).await?;
        let mut sources = Vec::with_capacity(run.document_ids.len());
        for id in &run.document_ids {
            let (name, unreadable) = match found.iter().find(|source| source.id == *id) {
                Some(source) => (source.file_name.clone(), source.unreadable.clone().map(|why| ("Unreadable", why))),
                None => ("a document".to_owned(), Some(("Deleted", "The document was deleted.".to_owned()))),
            };
            let unreadable = unreadable.map(|(code, message)| Unreadable { code: code.to_owned(), message });
            sources.push(OutlinedSource { id: id.to_string(), kind: SourceKind::Document, name, unreadable });
        }
        Ok(Outline {
            job_id: run.ai_job_id.to_string(),
            attempt: run.attempt,
            analysis_type: match run.analysis_type {
                run::AnalysisType::Full => AnalysisType::Full,
                run::AnalysisType::Requirements => AnalysisType::Requirements,
                run::AnalysisType::UserStories => AnalysisType::UserStories,
                run::AnalysisType::MeetingMinutes => AnalysisType::MeetingMinutes,
            },
            language: serde_json::from_value(Value::String(run.language.clone())).unwrap_or(pipeline::Language::Auto),
            bounds: pipeline::Bounds::default(),
            sources,
        })
    }

    /// The pipeline's message, and how long its node has been at work: so that a long node is told of every second even
    /// where its share of the whole is less than a hundredth.
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

/// A source that gave nothing has failed, whatever the reason; the pipeline's own warnings keep their codes.
fn source_failed(warning: pipeline::result::Warning) -> Warning {
    let failed = warning.is_of_a_failed_source();
    Warning {
        code: if failed { Warning::SOURCE_FAILED.to_owned() } else { warning.code },
        message: warning.message,
        source_id: warning.source_id.and_then(|id| id.parse().ok()),
    }
}

#[async_trait]
impl Watcher for Attempt<'_> {
    async fn progressed(&self, node: Node, progress: u8, message: &str) -> Result<(), Stop> {
        let message = self.timed(node, message);
        let Ok(node) = node.name().parse() else { return Ok(()) };
        let command = Command::Progress { attempt: self.run.attempt, node, progress, message };
        match self.tell(command).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Stop),
            Err(failure) if failure.code == Code::NOT_FOUND => Err(Stop),
            // The database is away for a moment: the work itself goes on.
            Err(failure) => {
                tracing::warn!(%failure, "progress could not be told");
                Ok(())
            }
        }
    }
}

#[async_trait]
impl TextStore for Attempt<'_> {
    async fn text(&self, source_id: &str) -> Result<String, Unavailable> {
        let id: Id<ids::Document> = source_id.parse().map_err(|_| Unavailable("no id of a document".to_owned()))?;
        let kept = documents::operations::kept_text(&self.state.db, id).await;
        let kept = kept.map_err(|error| Unavailable(error.to_string()))?;
        kept.ok_or_else(|| Unavailable(format!("the document {id} has no text any more")))
    }
}

/// What nodes gave.
#[async_trait]
impl Checkpoints for Attempt<'_> {
    async fn load(&self, node: Node, input_hash: &str, engine_version: &str) -> Result<Option<String>, Unavailable> {
        let (id, input_hash, engine_version) = (self.run.id, input_hash.to_owned(), engine_version.to_owned());
        let found = self.state.db.read(move |conn| {
            Box::pin(async move { store::node_output(conn, id, node.name(), &input_hash, &engine_version).await })
        });
        found.await.map_err(|error: Failed| Unavailable(error.to_string()))
    }

    async fn save(&self, node: Node, input_hash: &str, engine_version: &str, output: &str) -> Result<(), Unavailable> {
        let (id, attempt) = (self.run.id, self.run.attempt);
        let output = store::NodeOutput {
            run_id: Key(id),
            attempt: i64::from(attempt),
            node: node.name().to_owned(),
            input_hash: input_hash.to_owned(),
            engine_version: engine_version.to_owned(),
            output: output.to_owned(),
            kept_at: At(self.state.now()),
        };
        let kept = self.state.db.write(move |conn| {
            Box::pin(async move {
                if store::is_at_work(conn, id, attempt).await? {
                    store::keep_node_output(conn, output).await?;
                }
                Ok::<_, Failed>(())
            })
        });
        kept.await.map_err(|error| Unavailable(error.to_string()))
    }
}
