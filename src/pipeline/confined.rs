//! Work in a child process of this program, within limits, so that nothing in it can take the server along.
//!
//! ```text
//! server: command ── program VERB … --memory-mib N --seconds N ──> child: Allowance::take, start_nothing, work
//!         <───────────────────── stdout, bounded ──────────────── killed past the wall limit, or when nobody waits any more
//! ```
//! The limits are set by the process on itself before it reads a byte, so that nothing has to run between fork and exec.
//! `RLIMIT_NPROC` does not bind root: run the server as a user of its own.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rlimit::{Resource, getrlimit, setrlimit};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A meeting does not wait for a document: where the processor is short, a child gets about a tenth of what the server gets.
const NICENESS: i32 = 10;

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;

/// What a child may take of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Of addresses: it counts mappings, so that it is more than what is really used.
    pub memory_mib: u64,
    /// Of the processor.
    pub seconds: u64,
}

impl Allowance {
    /// As the end of a child's command line.
    #[must_use]
    pub fn arguments(self) -> [String; 4] {
        let Self { memory_mib, seconds } = self;
        ["--memory-mib".to_owned(), memory_mib.to_string(), "--seconds".to_owned(), seconds.to_string()]
    }

    /// Reads what [`Self::arguments`] wrote, and nothing else.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        match arguments {
            ["--memory-mib", memory_mib, "--seconds", seconds] => {
                Some(Self { memory_mib: memory_mib.parse().ok()?, seconds: seconds.parse().ok()? })
            }
            _ => None,
        }
    }

    /// Limits this process. Call it before any runtime or thread is started.
    ///
    /// # Errors
    /// The system's own; the child must not work then.
    pub fn take(self) -> io::Result<()> {
        rustix::process::nice(NICENESS)?;
        let bytes = self.memory_mib.saturating_mul(1024 * 1024);
        for (resource, soft, hard) in [
            (Resource::AS, bytes, bytes),
            // The first second past it is a signal that says why, the next is the end.
            (Resource::CPU, self.seconds, self.seconds.saturating_add(1)),
            (Resource::CORE, 0, 0),
        ] {
            // The server itself may live under a limit, which nobody can raise.
            let (_, most) = getrlimit(resource)?;
            setrlimit(resource, soft.min(most), hard.min(most))?;
        }
        Ok(())
    }
}

/// From here on this process can start no other, and no thread.
///
/// # Errors
/// The system's own; the child must not work then.
pub fn start_nothing() -> io::Result<()> {
    setrlimit(Resource::NPROC, 0, 0)
}

/// How a child ended that gave no answer.
#[derive(Debug)]
pub enum Ended {
    NotStarted(std::io::Error),
    /// Past its processor time.
    TooLong,
    /// It was waited for no longer: the machine has too much else to do, or it hangs.
    Late,
    /// It said more than it may.
    TooMuch,
    /// Somebody else had it end, as at the stop of a whole service.
    Told,
    /// It crashed, or was out of memory.
    Died,
}

/// How a child is started: without an environment, in a group of its own, so that Ctrl-C is for the server alone, and killed when its
/// handle is dropped.
#[must_use]
pub fn command(program: &Path, arguments: &[&str], allowance: Allowance) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args(allowance.arguments())
        .env_clear()
        // Each further arena of the C library would set apart 64 MiB of the addresses that the child may have.
        .env("MALLOC_ARENA_MAX", "1")
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// Hears a child out. Nothing of it runs any longer when this is back; one that is dropped kills it.
///
/// # Errors
/// How it ended, where that is not well, within `wall` and with at most `most` bytes.
pub async fn answer(mut child: Child, wall: Duration, most: u64) -> Result<Vec<u8>, Ended> {
    let heard = timeout(wall, hear(&mut child, most)).await.unwrap_or(Err(Ended::Late));
    // Waits for it too, so that its place is free only when it is gone.
    let _ = child.kill().await;
    heard
}

async fn hear(child: &mut Child, most: u64) -> Result<Vec<u8>, Ended> {
    let output = child.stdout.take().ok_or(Ended::Died)?;
    let mut answer = Vec::new();
    output.take(most.saturating_add(1)).read_to_end(&mut answer).await.map_err(|_| Ended::Died)?;
    if answer.len() as u64 > most {
        return Err(Ended::TooMuch);
    }
    let status = child.wait().await.map_err(|_| Ended::Died)?;
    if status.success() { Ok(answer) } else { Err(died(status)) }
}

/// How a child ended that did not end well.
fn died(status: ExitStatus) -> Ended {
    match signal(status) {
        _ if is_processor_time(status) => Ended::TooLong,
        Some(SIGHUP | SIGINT | SIGTERM) => Ended::Told,
        _ => Ended::Died,
    }
}

/// SIGXCPU comes from the limit on processor time.
#[must_use]
pub fn is_processor_time(status: ExitStatus) -> bool {
    signal(status) == Some(SIGXCPU)
}

/// The signal that ended a process.
#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
mod tests {
    use super::Allowance;

    #[test]
    fn an_allowance_passes_over_a_command_line_and_nothing_else_does() {
        let allowance = Allowance { memory_mib: 512, seconds: 3 };
        let written = allowance.arguments();
        let mut written: Vec<&str> = written.iter().map(String::as_str).collect();
        assert_eq!(Allowance::of_arguments(&written), Some(allowance));
        for at in 0..written.len() {
            let mut changed = written.clone();
            changed[at] = "x";
            assert_eq!(Allowance::of_arguments(&changed), None);
            assert_eq!(Allowance::of_arguments(&written[..at]), None);
        }
        written.push("x");
        assert_eq!(Allowance::of_arguments(&written), None);
    }
}
