//! How the C library's allocator is set for a server.
//!
//! glibc's has eight arenas a processor, and each keeps even large blocks that were freed: a server that once had large documents in
//! all of them keeps ten times what it uses. It reads its settings once, before `main`, so the
//! program starts itself anew with them.

/// Blocks of so many bytes or more go back to the system as soon as they are freed. A threshold that is set no longer grows by itself.
const LARGE_BYTES: &str = "131072";

/// Goes on as the same process with the allocator set, where it is not yet. What the operator has set stays as it is.
pub fn settle() {
    let arenas = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
    let wanted = [("MALLOC_ARENA_MAX", arenas.to_string()), ("MALLOC_MMAP_THRESHOLD_", LARGE_BYTES.to_owned())];
    let missing = |(name, _): &(&str, String)| std::env::var_os(name).is_none();
    let missing: Vec<(&str, String)> = wanted.into_iter().filter(missing).collect();
    if !missing.is_empty() {
        start_anew(&missing);
    }
}

/// Comes back only where it can't be done: a server with more memory than it needs is still a server.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn start_anew(settings: &[(&str, String)]) {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    if let Ok(program) = std::env::current_exe() {
        let error = Command::new(program).arg0(name).args(arguments).envs(settings.iter().cloned()).exec();
        eprintln!("The allocator could not be set: {error}.");
    }
}

/// Others have other settings, or none.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn start_anew(_: &[(&str, String)]) {}
