//! The parent's side of reading: one child a document, bounded in number, time and output.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::Format;
use super::child::ANSWER;
use super::source::{Reason, SourceText, Unreadable};

/// What a child may take. Memory and processor time are limited by the child itself.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From start to answer; waiting for a free place is not counted.
    pub wall: Duration,
    /// Bytes of its answer.
    pub output: u64,
    /// Children at once; at least 1.
    pub parallel: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(30), output: 64 * 1024 * 1024, parallel: 1 }
    }
}

/// Reads documents in child processes. Clones share the bound on their number.
#[derive(Debug, Clone)]
pub struct Reader {
    program: PathBuf,
    limits: Limits,
    places: Arc<Semaphore>,
}

impl Reader {
    /// `program` is this server's own binary: it is called with `read-document --format NAME`.
    pub fn new(program: PathBuf, limits: Limits) -> Self {
        Self { program, limits, places: Arc::new(Semaphore::new(limits.parallel.max(1))) }
    }

    /// Reads a document. Dropping the future kills the child.
    ///
    /// # Errors
    /// What the child says of the document; `TimedOut`, `TooLarge` (output) or `Crashed` when it says nothing.
    pub async fn read(&self, format: Format, bytes: Vec<u8>) -> Result<SourceText, Unreadable> {
        let Ok(_place) = self.places.acquire().await else { return Err(crashed()) };
        let mut child = self.start(format).map_err(|error| {
            Unreadable::new(Reason::Crashed, format!("The document reader could not be started: {error}."))
        })?;
        let answer = match timeout(self.limits.wall, converse(&mut child, bytes, self.limits.output)).await {
            Ok(answer) => answer,
            Err(_) => Err(timed_out()),
        };
        // Waits for it too, so that the place is free only when the child is gone.
        let _ = child.kill().await;
        let answer = answer?;
        spawn_blocking(move || understood(&answer)).await.unwrap_or_else(|_| Err(crashed()))
    }

    fn start(&self, format: Format) -> std::io::Result<Child> {
        Command::new(&self.program)
            .args(["read-document", "--format", format.name()])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
    }
}

/// Feeds and listens at once: a child that writes before it has read all would otherwise block both.
async fn converse(child: &mut Child, bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, Unreadable> {
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { return Err(crashed()) };
    let feed = async move {
        // A child that ends early closes the pipe: its answer or its exit status says why.
        let _ = input.write_all(&bytes).await;
        let _ = input.shutdown().await;
    };
    let listen = async move {
        let mut answer = Vec::new();
        let read = output.take(limit.saturating_add(1)).read_to_end(&mut answer).await;
        if answer.len() as u64 > limit {
            return Err(Unreadable::new(Reason::TooLarge, "The document holds more text than is read."));
        }
        read.map(|_| answer).map_err(|_| crashed())
    };
    let both = async { tokio::join!(feed, listen).1 };
    let answer = both.await?;
    let status = child.wait().await.map_err(|_| crashed())?;
    if status.success() { Ok(answer) } else { Err(died(status)) }
}

fn understood(answer: &[u8]) -> Result<SourceText, Unreadable> {
    let json = answer.rsplit(|byte| *byte == ANSWER).next().unwrap_or_default();
    serde_json::from_slice::<Result<SourceText, Unreadable>>(json).unwrap_or_else(|_| Err(crashed()))
}

/// SIGXCPU, and the SIGKILL that follows it, come from the limit on processor time.
#[cfg(unix)]
fn died(status: ExitStatus) -> Unreadable {
    use std::os::unix::process::ExitStatusExt;
    const SIGXCPU: i32 = 24;
    match status.signal() {
        Some(SIGXCPU) => timed_out(),
        _ => crashed(),
    }
}

#[cfg(not(unix))]
fn died(_: ExitStatus) -> Unreadable {
    crashed()
}

fn timed_out() -> Unreadable {
    Unreadable::new(Reason::TimedOut, "Reading the document took too long, so it was stopped.")
}

fn crashed() -> Unreadable {
    Unreadable::new(
        Reason::Crashed,
        "The document could not be read: its reader stopped, most likely because the file is damaged or needs too much memory.",
    )
}
