//! The memory of a process: a limit on it, and what it holds.

use std::fs;
use std::process::Command;

/// Sets the limit and goes on as the program. The soft limit alone: a child that is to have another may set it.
const LIMITED: &str = r#"ulimit -S -v "$1"; shift; exec "$@""#;

/// The same command in a process with so much memory and no more (RLIMIT_AS).
///
/// The limit counts addresses. Each thread of the system's allocator takes 64 MiB of them in advance and uses next to nothing,
/// so there are two such places for all threads: addresses are then about what is used.
pub fn limited(command: &Command, mebibytes: u64) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", LIMITED, "sh", &(mebibytes * 1024).to_string()]);
    limited.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    limited.env("MALLOC_ARENA_MAX", "2");
    limited
}

/// What a process holds, in KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    pub resident: u64,
    /// Of it what is of no file.
    pub own: u64,
    /// The most that was ever resident.
    pub peak: u64,
    /// What the limit counts.
    pub addresses: u64,
}

impl Memory {
    /// Of a process that runs.
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
