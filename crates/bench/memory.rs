//! Memory use of a process, from `/proc`.

/// Returns the resident memory in KiB.
///
/// # Errors
/// Returns a message if the process has ended, or the system doesn't provide the figure.
pub fn resident_kib(process_id: Option<u32>) -> Result<u64, String> {
    kib(process_id, "VmRSS:")
}

/// Returns the anonymous part of the resident memory in KiB. Pages of files are excluded, because the operating system
/// can reclaim them.
///
/// # Errors
/// Same as [`resident_kib`].
pub fn own_kib(process_id: Option<u32>) -> Result<u64, String> {
    kib(process_id, "RssAnon:")
}

/// Returns the peak of the resident memory in KiB.
///
/// # Errors
/// Same as [`resident_kib`].
pub fn peak_kib(process_id: Option<u32>) -> Result<u64, String> {
    kib(process_id, "VmHWM:")
}

fn kib(process_id: Option<u32>, of: &str) -> Result<u64, String> {
    let process_id = process_id.ok_or("The server has ended.")?;
    let path = format!("/proc/{process_id}/status");
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path} can't be read: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(of));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| format!("{path} does not contain the resident memory size."))
}
