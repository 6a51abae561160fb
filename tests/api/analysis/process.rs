//! Helpers that find, observe and signal the child processes of AI runs.

use std::fs;
use std::process::Command;
use std::time::Duration;

/// Returns the process ids of a server's child processes that work on runs.
pub fn analysts(server: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_analyst = |pid: &u32| {
        // A process that ends meanwhile is not counted.
        let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split('\0').nth(1) == Some("analyse") && parent(*pid) == Some(server)
    };
    pids.filter(is_analyst).collect()
}

/// Returns the id of a process's parent, or `None` when the process has ended.
fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// Sends a signal, such as `KILL` or `STOP`, to a process. Panics when it can't be sent.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().unwrap();
    assert!(sent.success(), "{name} to {pid}");
}

/// Waits up to ten seconds for a process to end and returns whether it did. A zombie has ended.
pub async fn has_ended(pid: u32) -> bool {
    for _ in 0..1_000 {
        let runs = fs::read_to_string(format!("/proc/{pid}/status"))
            .is_ok_and(|status| !status.lines().any(|line| line.starts_with("State:") && line.contains('Z')));
        if !runs {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

/// Waits up to ten seconds until a process has a higher nice value than the server, so that the server comes first
/// under CPU contention, and returns whether it has. The process sets the value itself.
pub async fn goes_behind(pid: u32, server: u32) -> bool {
    let niceness = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The fields after the name, which may contain any character.
        stat.rsplit_once(')')?.1.split_whitespace().nth(16)?.parse::<i32>().ok()
    };
    for _ in 0..1_000 {
        if niceness(pid) > niceness(server) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}
