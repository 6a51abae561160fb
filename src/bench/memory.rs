//! What a process holds in memory.

/// Resident memory in KiB.
///
/// # Errors
/// The process has ended, or this system doesn't say.
pub fn resident_kib(process_id: Option<u32>) -> Result<u64, String> {
    kib(process_id, "VmRSS:")
}

/// Of it what is of no file, in KiB: pages of files are the system's, which takes them back when it needs them.
///
/// # Errors
/// As [`resident_kib`].
pub fn own_kib(process_id: Option<u32>) -> Result<u64, String> {
    kib(process_id, "RssAnon:")
}

/// The most that was ever resident, in KiB.
///
/// # Errors
/// As [`resident_kib`].
pub fn peak_kib(process_id: Option<u32>) -> Result<u64, String> {
    kib(process_id, "VmHWM:")
}

fn kib(process_id: Option<u32>, of: &str) -> Result<u64, String> {
    let process_id = process_id.ok_or("The server has ended.")?;
    let path = format!("/proc/{process_id}/status");
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path} can't be read: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(of));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("{path} doesn't say how much memory is resident."))
}
