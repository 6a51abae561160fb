//! The processes that work at runs, seen from outside.

use std::fs;
use std::process::Command;
use std::time::Duration;

/// Those of a server.
pub fn analysts(server: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_analyst = |pid: &u32| {
        // One that ends meanwhile is none.
        let arguments = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split('\0').nth(1) == Some("analyse") && parent(*pid) == Some(server)
    };
    pids.filter(is_analyst).collect()
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().unwrap();
    assert!(sent.success(), "{name} to {pid}");
}

/// Whether a process ends within ten seconds. One that only waits to be buried has.
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

/// Whether a process comes to stand behind the server for the processor, within ten seconds: it sees to that itself.
pub async fn goes_behind(pid: u32, server: u32) -> bool {
    let niceness = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // After the name, which may hold anything.
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
