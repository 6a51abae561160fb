//! Child processes of this program with resource limits, so that no failure in one can take the server down.
//!
//! ```text
//! server: command ── program VERB … --memory-mib N --seconds N ──> child: Allowance::take, start_nothing, work
//!         <──────────────────── stdout, bounded ──────────────── killed at the wall-clock limit or on drop
//! ```
//! The child sets its limits on itself before it reads its first byte, so that no code has to run between fork and
//! exec. `RLIMIT_NPROC` does not bind root: run the server as an unprivileged user.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rlimit::{Resource, getrlimit, setrlimit};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Nice value of child processes. Meetings must not wait for documents: under CPU contention a child gets about a tenth
/// of the server's share.
const NICE_VALUE: i32 = 10;

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;

/// The resource limits of a child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Address space in MiB (`RLIMIT_AS`). It counts mappings, so it has to be larger than the memory that is really
    /// used.
    pub memory_mib: u64,
    /// CPU time in seconds.
    pub seconds: u64,
}

impl Allowance {
    /// Formats the limits as the trailing arguments of a child's command line.
    #[must_use]
    pub fn arguments(self) -> [String; 4] {
        let Self { memory_mib, seconds } = self;
        ["--memory-mib".to_owned(), memory_mib.to_string(), "--seconds".to_owned(), seconds.to_string()]
    }

    /// Parses exactly what [`Self::arguments`] produced; returns `None` for anything else.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        match arguments {
            ["--memory-mib", memory_mib, "--seconds", seconds] => {
                Some(Self { memory_mib: memory_mib.parse().ok()?, seconds: seconds.parse().ok()? })
            }
            _ => None,
        }
    }

    /// Applies the limits to this process. Call it before any runtime or thread is started.
    ///
    /// # Errors
    /// Returns the operating system's error; the child must not do any work then.
    pub fn apply(self) -> io::Result<()> {
        rustix::process::nice(NICE_VALUE)?;
        let bytes = self.memory_mib.saturating_mul(1024 * 1024);
        for (resource, soft, hard) in [
            (Resource::AS, bytes, bytes),
            // The soft limit sends SIGXCPU, which tells the parent the reason; one second later the hard limit kills.
            (Resource::CPU, self.seconds, self.seconds.saturating_add(1)),
            (Resource::CORE, 0, 0),
        ] {
            // The server itself may run under a hard limit, which an unprivileged process can't raise.
            let (_, most) = getrlimit(resource)?;
            setrlimit(resource, soft.min(most), hard.min(most))?;
        }
        Ok(())
    }
}

/// Prevents this process from starting any further process or thread (`RLIMIT_NPROC` of 0).
///
/// # Errors
/// Returns the operating system's error; the child must not do any work then.
pub fn forbid_new_processes() -> io::Result<()> {
    setrlimit(Resource::NPROC, 0, 0)
}

/// Limits the length of the files that this process writes (`RLIMIT_FSIZE`), for a child whose standard output is a file.
///
/// # Errors
/// Returns the operating system's error; the child must not do any work then.
pub fn limit_written_bytes(bytes: u64) -> io::Result<()> {
    setrlimit(Resource::FSIZE, bytes, bytes)
}

/// How a child ended without giving an answer.
#[derive(Debug)]
pub enum ChildExit {
    NotStarted(std::io::Error),
    /// It exceeded its CPU time.
    CpuTimeExceeded,
    /// It exceeded the wall-clock limit: the machine is overloaded, or the child hangs.
    TimedOut,
    /// Its output was longer than allowed.
    OutputTooLarge,
    /// It was ended from outside by SIGHUP, SIGINT or SIGTERM, for example when the whole service is stopped.
    Terminated,
    /// It crashed or ran out of memory.
    Crashed,
}

/// Builds the command that starts a child: without an environment, in a process group of its own so that Ctrl-C reaches
/// the server alone, and killed when its handle is dropped.
#[must_use]
pub fn command(program: &Path, arguments: &[&str], allowance: Allowance) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args(allowance.arguments())
        .env_clear()
        // Each further malloc arena of glibc would reserve 64 MiB of the child's limited address space.
        .env("MALLOC_ARENA_MAX", "1")
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    command
}

/// Reads a child's whole output and waits for its exit. The child no longer runs when this returns; dropping the future
/// kills it.
///
/// # Errors
/// Returns how the child ended if it did not exit successfully within `wall`, or wrote more than `most` bytes.
pub async fn answer(mut child: Child, wall: Duration, most: u64) -> Result<Vec<u8>, ChildExit> {
    let output_or_exit = timeout(wall, read_output(&mut child, most)).await.unwrap_or(Err(ChildExit::TimedOut));
    // `kill` also waits for the exit, so that the child's slot becomes free only when the process is gone.
    let _ = child.kill().await;
    output_or_exit
}

/// Waits for the exit of a child whose standard output is a file. The child no longer runs when this returns; dropping the
/// future kills it.
///
/// # Errors
/// Returns how the child ended if it did not exit successfully within `wall`.
pub async fn end_of(mut child: Child, wall: Duration) -> Result<(), ChildExit> {
    let status = timeout(wall, child.wait()).await;
    let _ = child.kill().await;
    match status {
        Err(_) => Err(ChildExit::TimedOut),
        Ok(Err(_)) => Err(ChildExit::Crashed),
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(classify(status)),
    }
}

async fn read_output(child: &mut Child, most: u64) -> Result<Vec<u8>, ChildExit> {
    let output = child.stdout.take().ok_or(ChildExit::Crashed)?;
    let mut answer = Vec::new();
    output.take(most.saturating_add(1)).read_to_end(&mut answer).await.map_err(|_| ChildExit::Crashed)?;
    if answer.len() as u64 > most {
        return Err(ChildExit::OutputTooLarge);
    }
    let status = child.wait().await.map_err(|_| ChildExit::Crashed)?;
    if status.success() { Ok(answer) } else { Err(classify(status)) }
}

/// Classifies the exit status of a child that failed.
#[must_use]
pub fn classify(status: ExitStatus) -> ChildExit {
    match signal(status) {
        _ if is_processor_time(status) => ChildExit::CpuTimeExceeded,
        Some(SIGHUP | SIGINT | SIGTERM) => ChildExit::Terminated,
        _ => ChildExit::Crashed,
    }
}

/// Returns whether the process was killed by SIGXCPU, the signal of the CPU time limit.
#[must_use]
pub fn is_processor_time(status: ExitStatus) -> bool {
    signal(status) == Some(SIGXCPU)
}

/// Returns the signal that ended a process, if one did.
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
