//! The server's side of document reading: one child process per document, bounded in number, time and output.
//!
//! The child process has the file itself as its standard input, so that the server holds no part of it in memory. Its
//! response is stored unchanged once it has been validated as a `SourceText`.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use confined::{Allowance, ChildExit};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::Format;
use super::child::{ANSWER, MAX_JSON_BYTES, READ, UNREADABLE, VERB};
use super::source::{SourceText, Unreadable, UnreadableReason};

/// Maximum address space of a child process, in MiB.
const MEMORY_MIB: u64 = 512;
/// Processor time of a child process, in seconds: `CPU_BASE` for any document, `CPU_PER_MIB` for each mebibyte, at most
/// `MAX_CPU_SECONDS`.
const CPU_BASE: u64 = 3;
const CPU_PER_MIB: u64 = 2;
const MAX_CPU_SECONDS: u64 = 30;
/// Wall-clock timeout as a multiple of the processor time. It is generous because the child process shares the machine
/// with other processes and runs at a lower priority. The processor time bounds the cost; this timeout catches a child
/// process that hangs.
const WALL_PER_CPU: u32 = 20;

/// Limits on child processes. Memory and processor time are limited by the child process itself.
#[derive(Debug, Clone, Copy)]
pub struct ReaderLimits {
    /// Maximum time from start to response, for the largest documents; waiting for a permit is not counted.
    pub wall: Duration,
    /// Maximum bytes of the response.
    pub output: u64,
    /// Maximum number of concurrent child processes; at least 1.
    pub parallel: usize,
}

impl Default for ReaderLimits {
    fn default() -> Self {
        // The marker and the line around the JSON take a few bytes.
        Self { wall: Duration::from_secs(600), output: MAX_JSON_BYTES as u64 + 1024, parallel: 1 }
    }
}

/// The text of a document as it is stored, and the properties that are stored with it.
#[derive(Debug)]
pub struct ReadDocument {
    /// A serialized `SourceText`.
    pub json: String,
    pub pages: usize,
    pub characters: usize,
    /// ISO 639-1.
    pub language: Option<String>,
    pub reader_version: String,
}

/// Reads documents in child processes. Clones share the semaphore that limits their number.
#[derive(Debug, Clone)]
pub struct Reader {
    program: PathBuf,
    limits: ReaderLimits,
    permits: Arc<Semaphore>,
}

impl Reader {
    /// Creates a reader. `program` is this server's own binary: it is run with `read-document --format NAME` and its
    /// limits as arguments.
    pub fn new(program: PathBuf, limits: ReaderLimits) -> Self {
        Self { program, limits, permits: Arc::new(Semaphore::new(limits.parallel.max(1))) }
    }

    /// Reads a document. Dropping the future kills the child process.
    ///
    /// # Errors
    /// The `Unreadable` that the child process returns; without a response, `TimedOut`, `TooLarge` (output), `Crashed`
    /// or `Interrupted`.
    pub async fn read(&self, format: Format, document: File) -> Result<ReadDocument, Unreadable> {
        let Ok(_permit) = self.permits.acquire().await else { return Err(crashed()) };
        let size = document.metadata().map_err(|error| not_started(&error))?.len();
        let allowance = Allowance { memory_mib: MEMORY_MIB, seconds: cpu_seconds(size) };
        let wall = wall(allowance).min(self.limits.wall);
        let arguments = [VERB, "--format", format.name()];
        let mut command = confined::command(&self.program, &arguments, allowance);
        let child =
            command.stdin(Stdio::from(document)).stderr(Stdio::null()).spawn().map_err(|error| not_started(&error))?;
        let answer = confined::answer(child, wall, self.limits.output).await.map_err(unreadable)?;
        spawn_blocking(move || parse_response(answer)).await.unwrap_or_else(|_| Err(crashed()))
    }
}

/// Returns the processor time for a document of `size` bytes: a small file gets little, whatever it contains.
fn cpu_seconds(size: u64) -> u64 {
    (CPU_BASE + CPU_PER_MIB * size.div_ceil(1024 * 1024)).min(MAX_CPU_SECONDS)
}

fn wall(allowance: Allowance) -> Duration {
    Duration::from_secs(allowance.seconds) * WALL_PER_CPU
}

/// Parses the response of a child process. It is trusted no more than the document: if it is not a valid `SourceText`
/// or `Unreadable`, the result is `Crashed`.
fn parse_response(mut answer: Vec<u8>) -> Result<ReadDocument, Unreadable> {
    let start = answer.iter().rposition(|byte| *byte == ANSWER).ok_or_else(crashed)?;
    let response = answer.get(start + 1..).unwrap_or_default();
    if let Some(json) = response.strip_prefix(UNREADABLE) {
        return Err(serde_json::from_slice(json).unwrap_or_else(|_| crashed()));
    }
    if !response.starts_with(READ) {
        return Err(crashed());
    }
    answer.drain(..start + 1 + READ.len());
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

fn unreadable(exit: ChildExit) -> Unreadable {
    match exit {
        ChildExit::NotStarted(error) => not_started(&error),
        ChildExit::CpuTimeExceeded => Unreadable::new(
            UnreadableReason::TimedOut,
            "Reading the document took too long for its size, so it was stopped.",
        ),
        ChildExit::TimedOut => {
            Unreadable::new(UnreadableReason::Interrupted, "The document reader did not end in time.")
        }
        ChildExit::OutputTooLarge => {
            Unreadable::new(UnreadableReason::TooLarge, "The document holds more text than is read.")
        }
        ChildExit::Terminated => Unreadable::new(UnreadableReason::Interrupted, "The document reader was terminated."),
        ChildExit::Crashed => crashed(),
    }
}

fn not_started(error: &std::io::Error) -> Unreadable {
    Unreadable::new(UnreadableReason::Interrupted, format!("The document reader could not be started: {error}."))
}

fn crashed() -> Unreadable {
    Unreadable::new(
        UnreadableReason::Crashed,
        "The document could not be read: its reader stopped, most likely because the file is damaged or needs too much memory.",
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Allowance, MEMORY_MIB, ReaderLimits, cpu_seconds, wall};

    #[test]
    fn a_small_file_never_has_the_time_of_a_large_one() {
        let by_the_clock = |size| wall(Allowance { memory_mib: MEMORY_MIB, seconds: cpu_seconds(size) });
        assert_eq!((cpu_seconds(600), by_the_clock(600)), (5, Duration::from_secs(100)));
        assert_eq!((cpu_seconds(50 << 20), by_the_clock(50 << 20)), (30, ReaderLimits::default().wall));
    }
}
