//! The parent's side of reading: one child a document, bounded in number, time and output.
//!
//! The child has the file itself as its standard input, so that the server holds nothing of it; what it answers is kept as it came,
//! once it was seen to be a text.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::super::confined::{self, Allowance, Ended};
use super::Format;
use super::child::{ANSWER, MOST_JSON, READ, UNREADABLE, VERB};
use super::source::{Reason, SourceText, Unreadable};

/// Of a child's addresses.
const MEMORY_MIB: u64 = 512;
/// Of a child's processor time, in seconds: for any document, for each of its mebibytes, and at most.
const CPU_BASE: u64 = 3;
const CPU_PER_MIB: u64 = 2;
const CPU_MOST: u64 = 30;
/// By the clock a child has so many times its processor time: others work on this machine too, and go before it. What it costs is
/// bounded by its processor time; this is for one that hangs.
const PATIENCE: u32 = 20;

/// What children may take at most. Memory and processor time are limited by the child itself.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From start to answer, for the largest documents; waiting for a free place is not counted.
    pub wall: Duration,
    /// Bytes of its answer.
    pub output: u64,
    /// Children at once; at least 1.
    pub parallel: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // What stands around the JSON is a few bytes.
        Self { wall: Duration::from_secs(600), output: MOST_JSON as u64 + 1024, parallel: 1 }
    }
}

/// What a document says, as it is kept, and the facts of it that are kept beside it.
#[derive(Debug)]
pub struct ReadDocument {
    /// A `SourceText`.
    pub json: String,
    pub pages: usize,
    pub characters: usize,
    /// ISO 639-1.
    pub language: Option<String>,
    pub reader_version: String,
}

/// Reads documents in child processes. Clones share the bound on their number.
#[derive(Debug, Clone)]
pub struct Reader {
    program: PathBuf,
    limits: Limits,
    places: Arc<Semaphore>,
}

impl Reader {
    /// `program` is this server's own binary: it is called with `read-document --format NAME` and its allowance.
    pub fn new(program: PathBuf, limits: Limits) -> Self {
        Self { program, limits, places: Arc::new(Semaphore::new(limits.parallel.max(1))) }
    }

    /// Reads a document. Dropping the future kills the child.
    ///
    /// # Errors
    /// What the child says of the document; `TimedOut`, `TooLarge` (output), `Crashed` or `Interrupted` when it says nothing.
    pub async fn read(&self, format: Format, document: File) -> Result<ReadDocument, Unreadable> {
        let Ok(_place) = self.places.acquire().await else { return Err(crashed()) };
        let size = document.metadata().map_err(|error| not_started(&error))?.len();
        let allowance = Allowance { memory_mib: MEMORY_MIB, seconds: cpu_seconds(size) };
        let wall = wall(allowance).min(self.limits.wall);
        let arguments = [VERB, "--format", format.name()];
        let mut command = confined::command(&self.program, &arguments, allowance);
        let child =
            command.stdin(Stdio::from(document)).stderr(Stdio::null()).spawn().map_err(|error| not_started(&error))?;
        let answer = confined::answer(child, wall, self.limits.output).await.map_err(said)?;
        spawn_blocking(move || understood(answer)).await.unwrap_or_else(|_| Err(crashed()))
    }
}

/// A small file can't take long, whatever is in it.
fn cpu_seconds(size: u64) -> u64 {
    (CPU_BASE + CPU_PER_MIB * size.div_ceil(1024 * 1024)).min(CPU_MOST)
}

fn wall(allowance: Allowance) -> Duration {
    Duration::from_secs(allowance.seconds) * PATIENCE
}

/// The child is trusted no more than its document: what it calls a text is one, or it crashed.
fn understood(mut answer: Vec<u8>) -> Result<ReadDocument, Unreadable> {
    let begins = answer.iter().rposition(|byte| *byte == ANSWER).ok_or_else(crashed)?;
    let said = answer.get(begins + 1..).unwrap_or_default();
    if let Some(json) = said.strip_prefix(UNREADABLE) {
        return Err(serde_json::from_slice(json).unwrap_or_else(|_| crashed()));
    }
    if !said.starts_with(READ) {
        return Err(crashed());
    }
    answer.drain(..begins + 1 + READ.len());
    let json = String::from_utf8(answer).map_err(|_| crashed())?;
    let text: SourceText = serde_json::from_str(&json).map_err(|_| crashed())?;
    Ok(ReadDocument {
        pages: text.pages.len(),
        characters: text.text.chars().count(),
        language: text.language,
        reader_version: text.reader_version,
        json,
    })
}

fn said(ended: Ended) -> Unreadable {
    match ended {
        Ended::NotStarted(error) => not_started(&error),
        Ended::TooLong => {
            Unreadable::new(Reason::TimedOut, "Reading the document took too long for its size, so it was stopped.")
        }
        Ended::Late => Unreadable::new(Reason::Interrupted, "The document reader did not end in time."),
        Ended::TooMuch => Unreadable::new(Reason::TooLarge, "The document holds more text than is read."),
        Ended::Told => Unreadable::new(Reason::Interrupted, "The document reader was told to end."),
        Ended::Died => crashed(),
    }
}

fn not_started(error: &std::io::Error) -> Unreadable {
    Unreadable::new(Reason::Interrupted, format!("The document reader could not be started: {error}."))
}

fn crashed() -> Unreadable {
    Unreadable::new(
        Reason::Crashed,
        "The document could not be read: its reader stopped, most likely because the file is damaged or needs too much memory.",
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Allowance, Limits, MEMORY_MIB, cpu_seconds, wall};

    #[test]
    fn a_small_file_never_has_the_time_of_a_large_one() {
        let by_the_clock = |size| wall(Allowance { memory_mib: MEMORY_MIB, seconds: cpu_seconds(size) });
        assert_eq!((cpu_seconds(600), by_the_clock(600)), (5, Duration::from_secs(100)));
        assert_eq!((cpu_seconds(50 << 20), by_the_clock(50 << 20)), (30, Limits::default().wall));
    }
}
