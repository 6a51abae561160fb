//! The server's side: one child process at a time.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use confined::{Allowance, ChildExit};
use tokio::sync::Semaphore;

use super::child::VERB;

/// Maximum address space of a child process, in MiB.
const MEMORY_MIB: u64 = 512;
/// Processor time in seconds: `CPU_BASE` for any file, and one more for each `BYTES_PER_CPU` bytes.
const CPU_BASE: u64 = 5;
const BYTES_PER_CPU: u64 = 64 * 1024 * 1024;
/// Wall-clock timeout as a multiple of the processor time, because the child shares the machine at a lower priority.
const WALL_PER_CPU: u32 = 20;
/// Maximum bytes of the response.
const OUTPUT: u64 = 64 * 1024;

/// Why the duration of a file is unknown.
#[derive(Debug, thiserror::Error)]
pub enum Unprobed {
    /// The file itself is the reason.
    #[error("{0}")]
    Unreadable(String),
    /// The child was ended from outside, or could not be started: the next try may succeed.
    #[error("{0}")]
    Interrupted(String),
}

/// Measures media files in child processes. Clones share the semaphore that limits their number.
#[derive(Debug, Clone)]
pub struct Prober {
    program: PathBuf,
    permits: Arc<Semaphore>,
}

impl Prober {
    /// `program` is this server's own binary.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self { program, permits: Arc::new(Semaphore::new(1)) }
    }

    /// Returns the duration of a file in milliseconds; `None` if it has no content. Dropping the future kills the child
    /// process.
    ///
    /// # Errors
    /// Why the duration is unknown.
    pub async fn duration_ms(&self, file: File) -> Result<Option<u64>, Unprobed> {
        let interrupted = |error: std::io::Error| Unprobed::Interrupted(error.to_string());
        let _permit = self.permits.acquire().await.map_err(|error| Unprobed::Interrupted(error.to_string()))?;
        let seconds = CPU_BASE + file.metadata().map_err(interrupted)?.len() / BYTES_PER_CPU;
        let mut command = confined::command(&self.program, &[VERB], Allowance { memory_mib: MEMORY_MIB, seconds });
        let child = command.stdin(Stdio::from(file)).stderr(Stdio::null()).spawn().map_err(interrupted)?;
        let wall = Duration::from_secs(seconds) * WALL_PER_CPU;
        let answer = confined::answer(child, wall, OUTPUT).await.map_err(|exit| match exit {
            ChildExit::NotStarted(error) => interrupted(error),
            ChildExit::Terminated | ChildExit::TimedOut => Unprobed::Interrupted(format!("{exit:?}")),
            ChildExit::CpuTimeExceeded | ChildExit::OutputTooLarge | ChildExit::Crashed => {
                Unprobed::Unreadable(format!("{exit:?}"))
            }
        })?;
        let measured: Result<Option<u64>, String> =
            serde_json::from_slice(&answer).map_err(|error| Unprobed::Unreadable(error.to_string()))?;
        measured.map_err(Unprobed::Unreadable)
    }
}
