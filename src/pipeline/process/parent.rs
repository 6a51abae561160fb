//! The parent's side: starts one child for each run, answers its messages, and kills it on timeout or cancellation.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::process::Child;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::child::NO_MEMORY;
use super::frame;
use super::{FromChild, KEPT_BYTES, RequestOutline, ToChild, VERB};
use crate::pipeline::confined::{self, Allowance};
use crate::pipeline::nodes::Node;
use crate::pipeline::ports::{CheckpointStore, PortUnavailable, ProgressSink, TextStore};
use crate::pipeline::request::CancelToken;
use crate::pipeline::run::PipelineOutcome;

/// A child that closed its pipe is about to exit: how long to wait for its exit status, and for its standard error.
const LAST_BREATH: Duration = Duration::from_secs(1);
/// The number of bytes that are read of a child's standard error.
const SAID_BYTES: u64 = 4096;
/// The shortest interval between progress reports within a node, however often the child sends one.
const PROGRESS_PAUSE: Duration = Duration::from_millis(200);

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
    pub watcher: &'a dyn ProgressSink,
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
}

impl Analyser {
    /// Creates an analyser. `program` is the server's own binary.
    #[must_use]
    pub const fn new(program: PathBuf, limits: ChildLimits) -> Self {
        Self { program, limits }
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
        let mut talk = Talk::new(ports);
        let talked = tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(Ok(PipelineOutcome::Cancelled)),
            talked = timeout(self.limits.wall, talk.hold(outline, input, output)) => talked,
        };
        let outcome = match talked {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(Broken::Gone)) => how_it_ended(&mut child, talk.node).await,
            Ok(Err(Broken::Nonsense(what))) => Err(Lost(format!("the child said {what}"))),
            Ok(Err(Broken::Texts(away))) => Err(Lost(format!("a text can't be had: {}", away.0))),
            Err(_late) => Ok(too_long(talk.node)),
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
pub(super) enum Broken {
    /// The pipe was closed.
    Gone,
    Nonsense(String),
    Texts(PortUnavailable),
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == ErrorKind::InvalidData { Self::Nonsense(error.to_string()) } else { Self::Gone }
    }
}

/// The conversation with one child.
pub(super) struct Talk<'a> {
    ports: Ports<'a>,
    /// The node that the child is executing.
    pub(super) node: Node,
    told_at: Option<Instant>,
    /// The last nodes whose checkpoints were loaded and saved. Each node is loaded and saved once, in order, which
    /// bounds what a child can store.
    loaded: Option<Node>,
    saved: Option<Node>,
    /// Total bytes that the child has stored.
    kept: usize,
}

impl<'a> Talk<'a> {
    pub(super) fn new(ports: Ports<'a>) -> Self {
        Self { ports, node: Node::PrepareSources, told_at: None, loaded: None, saved: None, kept: 0 }
    }

    /// Sends the request, and answers messages until the outcome arrives.
    pub(super) async fn hold(
        &mut self,
        outline: &RequestOutline,
        mut input: impl AsyncWrite + Unpin,
        mut output: impl AsyncRead + Unpin,
    ) -> Result<PipelineOutcome, Broken> {
        let start = serde_json::to_vec(outline).map_err(|error| Broken::Nonsense(error.to_string()))?;
        frame::write(&mut input, &ToChild::Start, &start).await?;
        drop(start);
        for source in outline.sources.iter().filter(|source| source.unreadable.is_none()) {
            let text = self.ports.texts.text(&source.id).await.map_err(Broken::Texts)?;
            frame::write(&mut input, &ToChild::Text, text.as_bytes()).await?;
        }
        loop {
            let (said, body) = frame::read(&mut output).await?;
            let (answer, body) = match said {
                FromChild::End => return understood(body).await,
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
            };
            frame::write(&mut input, &answer, body.as_bytes()).await?;
        }
    }

    async fn load(&self, node: Node, input_hash: &str, engine_version: &str) -> (ToChild, String) {
        match self.ports.checkpoints.load(node, input_hash, engine_version).await {
            Ok(Some(kept)) => (ToChild::Found, kept),
            Ok(None) => (ToChild::Missing, String::new()),
            Err(away) => {
                tracing::warn!(node = node.name(), why = away.0, "no checkpoint to be had; worked anew");
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
    ) -> Result<ToChild, Broken> {
        let output = String::from_utf8(output).map_err(|_| Broken::Nonsense("what is no text".to_owned()))?;
        self.kept += output.len();
        if self.kept > KEPT_BYTES {
            return Ok(ToChild::Unavailable);
        }
        Ok(match self.ports.checkpoints.save(node, input_hash, engine_version, &output).await {
            Ok(()) => ToChild::Done,
            Err(away) => {
                tracing::warn!(node = node.name(), why = away.0, "a checkpoint was not kept");
                ToChild::Unavailable
            }
        })
    }

    /// Passes progress on. The outer error means that the child went back to an earlier node; the inner one, that the
    /// sink requested a stop.
    async fn progressed(&mut self, node: Node, progress: u8) -> Result<Result<(), ()>, Broken> {
        if node < self.node {
            return Err(Broken::Nonsense("that it went back".to_owned()));
        }
        let is_soon = self.told_at.is_some_and(|at| at.elapsed() < PROGRESS_PAUSE);
        if node == self.node && is_soon {
            return Ok(Ok(()));
        }
        self.node = node;
        self.told_at = Some(Instant::now());
        Ok(self.ports.watcher.progressed(node, progress, node.label()).await.map_err(|_stop| ()))
    }
}

fn next(last: &mut Option<Node>, node: Node) -> Result<(), Broken> {
    if last.replace(node).is_none_or(|last| last < node) {
        Ok(())
    } else {
        Err(Broken::Nonsense("the same twice".to_owned()))
    }
}

async fn understood(outcome: Vec<u8>) -> Result<PipelineOutcome, Broken> {
    let parsed = spawn_blocking(move || serde_json::from_slice(&outcome)).await;
    let parsed = parsed.map_err(|error| Broken::Nonsense(error.to_string()))?;
    parsed.map_err(|_| Broken::Nonsense("an outcome that is none".to_owned()))
}

/// Determines the outcome of a child that closed its pipe before it sent one.
async fn how_it_ended(child: &mut Child, node: Node) -> Result<PipelineOutcome, Lost> {
    let Ok(Ok(status)) = timeout(LAST_BREATH, child.wait()).await else {
        return Err(Lost("the child closed its pipe".to_owned()));
    };
    let mut said = Vec::new();
    if let Some(errors) = child.stderr.take() {
        // Without readable standard error, only the exit status decides.
        let _ = timeout(LAST_BREATH, errors.take(SAID_BYTES).read_to_end(&mut said)).await;
    }
    let said = String::from_utf8_lossy(&said);
    if said.contains(NO_MEMORY) {
        return Ok(failed(node, "The analysis needs more memory than it may have, so it was stopped."));
    }
    // Also a message of Rust's runtime, which aborts then.
    if said.contains("overflowed its stack") {
        return Ok(failed(node, "The documents are nested too deeply to be analysed."));
    }
    if confined::is_processor_time(status) {
        return Ok(too_long(node));
    }
    Err(Lost(format!("the child ended with {status}: {}", said.trim())))
}

fn too_long(node: Node) -> PipelineOutcome {
    failed(node, "The analysis took longer than it may, so it was stopped.")
}

fn failed(node: Node, why: &str) -> PipelineOutcome {
    PipelineOutcome::Failed { node, message: format!("{why} Analyse fewer or smaller documents at once.") }
}
