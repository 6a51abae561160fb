//! Work in a child process of this program, within limits, so that nothing in it can take the server along.
//!
//! ```text
//! server: Allowance ── program VERB … --memory BYTES --cpu SECONDS ──> child: Allowance::take, work
//!         converse  <────────────── stdout, bounded ───────────────── killed past the wall limit, or when nobody waits any more
//! ```
//! The limits are set by the process on itself before it reads a byte, so that nothing has to run between fork and exec.
//! `RLIMIT_NPROC` does not bind root: run the server as a user of its own.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rlimit::{Resource, setrlimit};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// What a child may use. It can start no process and leaves no core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes of address space. Counts mappings, so that it is more than what is really used.
    pub memory: u64,
    /// Seconds of processor time.
    pub cpu: u64,
}

impl Allowance {
    /// As the end of a child's command line.
    #[must_use]
    pub fn arguments(self) -> [String; 4] {
        ["--memory".to_owned(), self.memory.to_string(), "--cpu".to_owned(), self.cpu.to_string()]
    }

    /// Reads what [`Self::arguments`] wrote, and nothing else.
    pub fn of_arguments(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut next = |name: &str| match arguments.next() {
            Some(given) if given == name => arguments.next()?.parse().ok(),
            _ => None,
        };
        let allowance = Self { memory: next("--memory")?, cpu: next("--cpu")? };
        arguments.next().is_none().then_some(allowance)
    }

    /// Limits this process. Call it before any runtime or thread is started.
    ///
    /// # Errors
    /// The system's own; the child must not work then.
    pub fn take(self) -> std::io::Result<()> {
        setrlimit(Resource::AS, self.memory, self.memory)?;
        setrlimit(Resource::CPU, self.cpu, self.cpu + 1)?;
        setrlimit(Resource::NPROC, 0, 0)?;
        setrlimit(Resource::CORE, 0, 0)
    }
}

/// How a child ended that gave no answer.
#[derive(Debug)]
pub enum Ended {
    NotStarted(std::io::Error),
    /// Past its processor time or its time by the clock.
    TooLong,
    /// It said more than it may.
    TooMuch,
    /// It crashed, or was out of memory.
    Died,
}

/// Starts a child without an environment; it is killed when its handle is dropped.
///
/// # Errors
/// The system's own.
pub fn start(program: &Path, arguments: &[&str], allowance: Allowance, input: Stdio) -> std::io::Result<Child> {
    Command::new(program)
        .args(arguments)
        .args(allowance.arguments())
        .env_clear()
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

/// Hears a child out. Nothing of it runs any longer when this is back; one that is dropped kills it.
///
/// # Errors
/// How it ended, where that is not well, within `wall` and with at most `most` bytes.
pub async fn answer(mut child: Child, wall: Duration, most: u64) -> Result<Vec<u8>, Ended> {
    let heard = timeout(wall, hear(&mut child, most)).await.unwrap_or(Err(Ended::TooLong));
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

/// How a child ended that did not end well: SIGXCPU comes from the limit on processor time.
#[cfg(unix)]
#[must_use]
pub fn died(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    const SIGXCPU: i32 = 24;
    match status.signal() {
        Some(SIGXCPU) => Ended::TooLong,
        _ => Ended::Died,
    }
}

#[cfg(not(unix))]
#[must_use]
pub fn died(_: ExitStatus) -> Ended {
    Ended::Died
}

#[cfg(test)]
mod tests {
    use super::Allowance;

    #[test]
    fn an_allowance_passes_over_a_command_line_and_nothing_else_does() {
        let allowance = Allowance { memory: 512 << 20, cpu: 3 };
        let written = allowance.arguments().to_vec();
        assert_eq!(Allowance::of_arguments(written.clone().into_iter()), Some(allowance));
        for at in 0..written.len() {
            let mut changed = written.clone();
            changed[at] = "x".to_owned();
            assert_eq!(Allowance::of_arguments(changed.into_iter()), None);
            assert_eq!(Allowance::of_arguments(written[..at].iter().cloned()), None);
        }
        assert_eq!(Allowance::of_arguments(written.into_iter().chain(["x".to_owned()])), None);
    }
}
