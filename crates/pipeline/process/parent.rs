//! The parent's side: starts one child for each run, answers its messages, and kills it on timeout or cancellation. The
//! time for which a child waits for a language model does not count: that has a budget of its own.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use actors::run::Node;
use confined::Allowance;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::process::Child;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::child::NO_MEMORY;
use super::frame;
use super::model::{ModelAccess, ModelSession, Waiting};
use super::{FromChild, RequestOutline, STORED_BYTES, ToChild, VERB};
use crate::ports::{CheckpointStore, PortUnavailable, ProgressSink, TextStore};
use crate::request::CancelToken;
use crate::run::PipelineOutcome;

/// A child that closed its pipe is about to exit: how long to wait for its exit status, and for its standard error.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// The number of bytes that are read of a child's standard error.
const STDERR_BYTES: u64 = 4096;
/// The shortest interval between progress reports within a node, however often the child sends one.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The resource limits of a child.
#[derive(Debug, Clone, Copy)]
pub struct ChildLimits {
    pub memory_mib: u64,
    /// Time from its start to its outcome; its CPU time is limited to the same.
    pub wall: Duration,
}

/// What a run needs from its caller.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    pub texts: &'a dyn TextStore,
    pub checkpoints: &'a dyn CheckpointStore,
    pub progress_sink: &'a dyn ProgressSink,
}

/// The child failed for a reason that is not known to be in the documents, so the run may be retried. The message is
/// for the log and contains no text of the sources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Lost(String);

/// Runs the pipeline in child processes.
#[derive(Debug, Clone)]
pub struct Analyser {
    program: PathBuf,
    limits: ChildLimits,
    model: Option<ModelAccess>,
}

impl Analyser {
    /// Creates an analyser. `program` is the server's own binary.
    #[must_use]
    pub const fn new(program: PathBuf, limits: ChildLimits) -> Self {
        Self { program, limits, model: None }
    }

    /// Lets the runs whose engine asks a language model ask this one.
    #[must_use]
    pub fn with_model(self, model: Option<ModelAccess>) -> Self {
        Self { model, ..self }
    }

    /// Runs to an outcome. A child that exceeds its limits gives a [`PipelineOutcome::Failed`] at the node it was in.
    /// Cancelling, or dropping the future, kills the child.
    ///
    /// # Errors
    /// Returns [`Lost`] when the child can't be started, ends for an unknown reason or sends invalid messages, or when
    /// a text can't be loaded.
    pub async fn analyse(
        &self,
        outline: &RequestOutline,
        ports: Ports<'_>,
        cancel: &CancelToken,
    ) -> Result<PipelineOutcome, Lost> {
        let mut child = self.start().map_err(|error| Lost(format!("no child could be started: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Lost("the child has no pipes".to_owned()));
        };
        let mut conversation = Conversation::new(ports, self.model.as_ref());
        let waiting = conversation.waiting();
        let ended = tokio::select! {
            biased;
            () = cancel.cancelled() => Some(Ok(PipelineOutcome::Cancelled)),
            ended = conversation.run(outline, input, output) => Some(ended),
            () = waiting.time_limit(self.limits.wall) => None,
        };
        let outcome = match ended {
            Some(Ok(outcome)) => Ok(outcome),
            Some(Err(ConversationError::Closed)) => outcome_of_exit(&mut child, conversation.node).await,
            Some(Err(ConversationError::InvalidMessage(what))) => Err(Lost(format!("the child said {what}"))),
            Some(Err(ConversationError::Texts(error))) => Err(Lost(format!("a text can't be had: {}", error.0))),
            None => Ok(too_long(conversation.node)),
        };
        // `kill` also waits for the exit, so that the child's slot becomes free only when the process is gone.
        let _ = child.kill().await;
        outcome
    }

    fn start(&self) -> std::io::Result<Child> {
        let allowance = Allowance { memory_mib: self.limits.memory_mib, seconds: self.limits.wall.as_secs().max(1) };
        confined::command(&self.program, &[VERB], allowance).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }
}

/// Why there is no outcome.
#[derive(Debug)]
pub(super) enum ConversationError {
    /// The pipe was closed.
    Closed,
    InvalidMessage(String),
    Texts(PortUnavailable),
}

impl From<std::io::Error> for ConversationError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::InvalidData { Self::InvalidMessage(error.to_string()) } else { Self::Closed }
    }
}

/// The conversation with one child.
pub(super) struct Conversation<'a> {
    ports: Ports<'a>,
    model: ModelSession<'a>,
    /// The node that the child is executing.
    pub(super) node: Node,
    reported_at: Option<Instant>,
    /// The last nodes whose checkpoints were loaded and saved. Each node is loaded and saved once, in order, which
    /// bounds what a child can store.
    loaded: Option<Node>,
    saved: Option<Node>,
    /// Total bytes that the child has stored.
    stored_bytes: usize,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(ports: Ports<'a>, model: Option<&'a ModelAccess>) -> Self {
        let model = ModelSession::new(model, ports.checkpoints);
        Self { ports, model, node: Node::PrepareSources, reported_at: None, loaded: None, saved: None, stored_bytes: 0 }
    }

    /// Returns the clock of the time for which the child waits for a model.
    pub(super) fn waiting(&self) -> Waiting {
        self.model.waiting()
    }

    /// Sends the request, and answers messages until the outcome arrives.
    pub(super) async fn run(
        &mut self,
        outline: &RequestOutline,
        mut input: impl AsyncWrite + Unpin,
        mut output: impl AsyncRead + Unpin,
    ) -> Result<PipelineOutcome, ConversationError> {
        let start =
            serde_json::to_vec(outline).map_err(|error| ConversationError::InvalidMessage(error.to_string()))?;
        frame::write(&mut input, &ToChild::Start, &start).await?;
        drop(start);
        for source in outline.sources.iter().filter(|source| source.unreadable.is_none()) {
            let text = self.ports.texts.text(&source.id).await.map_err(ConversationError::Texts)?;
            frame::write(&mut input, &ToChild::Text, text.as_bytes()).await?;
        }
        loop {
            let (message, body) = self.model.meanwhile(frame::read(&mut output)).await?;
            let (answer, body) = match message {
                FromChild::End => return parse_outcome(body).await,
                FromChild::Load { node, input_hash, engine_version } => {
                    next(&mut self.loaded, node)?;
                    self.load(node, &input_hash, &engine_version).await
                }
                FromChild::Save { node, input_hash, engine_version } => {
                    next(&mut self.saved, node)?;
                    (self.save(node, &input_hash, &engine_version, body).await?, String::new())
                }
                FromChild::Progress { node, progress } => {
                    if self.progressed(node, progress).await?.is_err() {
                        return Ok(PipelineOutcome::Cancelled);
                    }
                    (ToChild::Done, String::new())
                }
                FromChild::Ask if outline.engine.model.is_none() => return Err(not_its_place()),
                FromChild::Ask => {
                    let name = outline.engine.model.as_ref().map(|usage| usage.name.as_str()).unwrap_or_default();
                    self.model.ask(&body, name)?;
                    (ToChild::Done, String::new())
                }
                FromChild::Await => self.model.answers().await?,
            };
            frame::write(&mut input, &answer, body.as_bytes()).await?;
        }
    }

    async fn load(&mut self, node: Node, input_hash: &str, engine_version: &str) -> (ToChild, String) {
        match self.ports.checkpoints.load(node, input_hash, engine_version).await {
            Ok(Some(output)) => (ToChild::Found, output),
            Ok(None) => (ToChild::Missing, String::new()),
            Err(error) => {
                tracing::warn!(%node, why = error.0, "the checkpoint could not be loaded; recomputing");
                (ToChild::Unavailable, String::new())
            }
        }
    }

    async fn save(
        &mut self,
        node: Node,
        input_hash: &str,
        engine_version: &str,
        output: Vec<u8>,
    ) -> Result<ToChild, ConversationError> {
        let output =
            String::from_utf8(output).map_err(|_| ConversationError::InvalidMessage("what is no text".to_owned()))?;
        self.stored_bytes += output.len();
        if self.stored_bytes > STORED_BYTES {
            return Ok(ToChild::Unavailable);
        }
        Ok(match self.ports.checkpoints.save(node, input_hash, engine_version, &output).await {
            Ok(()) => ToChild::Done,
            Err(error) => {
                tracing::warn!(%node, why = error.0, "the checkpoint could not be stored");
                ToChild::Unavailable
            }
        })
    }

    /// Passes progress on. The outer error means that the child went back to an earlier node; the inner one, that the
    /// sink requested a stop.
    async fn progressed(&mut self, node: Node, progress: u8) -> Result<Result<(), ()>, ConversationError> {
        if node < self.node {
            return Err(ConversationError::InvalidMessage("that it went back".to_owned()));
        }
        let is_too_soon = self.reported_at.is_some_and(|at| at.elapsed() < PROGRESS_INTERVAL);
        if node == self.node && is_too_soon {
            return Ok(Ok(()));
        }
        self.node = node;
        self.reported_at = Some(Instant::now());
        Ok(self.ports.progress_sink.progressed(node, progress, node.label()).await.map_err(|_stop| ()))
    }
}

/// The child of a run whose engine asks no model asked one.
fn not_its_place() -> ConversationError {
    ConversationError::InvalidMessage("what is not its place".to_owned())
}

fn next(last: &mut Option<Node>, node: Node) -> Result<(), ConversationError> {
    if last.replace(node).is_none_or(|last| last < node) {
        Ok(())
    } else {
        Err(ConversationError::InvalidMessage("the same twice".to_owned()))
    }
}

async fn parse_outcome(outcome: Vec<u8>) -> Result<PipelineOutcome, ConversationError> {
    let parsed = spawn_blocking(move || serde_json::from_slice(&outcome)).await;
    let parsed = parsed.map_err(|error| ConversationError::InvalidMessage(error.to_string()))?;
    parsed.map_err(|_| ConversationError::InvalidMessage("an outcome that is none".to_owned()))
}

/// Determines the outcome of a child that closed its pipe before it sent one.
async fn outcome_of_exit(child: &mut Child, node: Node) -> Result<PipelineOutcome, Lost> {
    let Ok(Ok(status)) = timeout(EXIT_GRACE, child.wait()).await else {
        return Err(Lost("the child closed its pipe".to_owned()));
    };
    let mut stderr = Vec::new();
    if let Some(errors) = child.stderr.take() {
        // Without readable standard error, only the exit status decides.
        let _ = timeout(EXIT_GRACE, errors.take(STDERR_BYTES).read_to_end(&mut stderr)).await;
    }
    let stderr = String::from_utf8_lossy(&stderr);
    if stderr.contains(NO_MEMORY) {
        return Ok(failed(node, "The analysis needs more memory than it may have, so it was stopped."));
    }
    // Also a message of Rust's runtime, which aborts then.
    if stderr.contains("overflowed its stack") {
        return Ok(failed(node, "The documents are nested too deeply to be analysed."));
    }
    if confined::is_processor_time(status) {
        return Ok(too_long(node));
    }
    Err(Lost(format!("the child ended with {status}: {}", stderr.trim())))
}

fn too_long(node: Node) -> PipelineOutcome {
    failed(node, "The analysis took longer than it may, so it was stopped.")
}

fn failed(node: Node, reason: &str) -> PipelineOutcome {
    PipelineOutcome::Failed { node, message: format!("{reason} Analyse fewer or smaller documents at once.") }
}
