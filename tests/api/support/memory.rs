//! Limits and measures the memory of a process.

use std::fs;
use std::process::Command;

/// The memory of a small machine, in MiB: what attacks must not use up.
pub const SMALL: u64 = 1024;

/// What of a process is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// The address space (RLIMIT_AS).
    Addresses,
    /// The memory of its own (RLIMIT_DATA), without files that are mapped: each reader of SQLite maps the whole database, and the
    /// system takes those pages back when it needs them.
    Own,
}

/// Returns the same command, limited to `mebibytes` MiB. Only the soft limit is set, so that a child process may set another one.
///
/// A limit counts what is reserved, not what is used. The system's allocator reserves 64 MiB for each thread and
/// uses hardly any of it, so `MALLOC_ARENA_MAX` limits it to two arenas for all threads: what is reserved is then close
/// to what is used.
pub fn limited(command: &Command, what: Limited, mebibytes: u64) -> Command {
    let letter = match what {
        Limited::Addresses => "v",
        Limited::Own => "d",
    };
    let script = format!(r#"ulimit -S -{letter} "$1"; shift; exec "$@""#);
    let mut limited = super::server::by_shell(command, &script, &(mebibytes * 1024).to_string());
    limited.env("MALLOC_ARENA_MAX", "2");
    limited
}

/// The memory of a process, in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub resident: u64,
    /// The part of `resident` that is not mapped from files.
    pub own: u64,
    /// The maximum of `resident` so far.
    pub peak: u64,
    /// The size of the address space, which [`limited`] limits.
    pub addresses: u64,
}

impl Memory {
    /// Reads the memory of a running process. Panics when there is no such process.
    pub fn of(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
            number.unwrap_or_else(|| panic!("no {name} in {status}")).parse().unwrap()
        };
        Self { resident: kib("VmRSS:"), own: kib("RssAnon:"), peak: kib("VmHWM:"), addresses: kib("VmSize:") }
    }
}
