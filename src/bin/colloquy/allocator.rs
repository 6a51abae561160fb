//! Configures the C library's allocator for a server.
//!
//! By default glibc uses eight arenas per processor, and each keeps even large blocks after they are freed: a server
//! that once had large documents in all of them keeps ten times the memory that it uses. With only one per processor its
//! threads, of which there are several times as many, wait for each other: a page of a list took up to 300 µs of processor
//! time instead of 125. With two they hardly do. glibc reads its settings once, before `main`, so the program re-executes
//! itself with them.

/// Blocks of this many bytes or more return to the system as soon as they are freed. Setting the threshold also stops
/// glibc from raising it dynamically.
const LARGE_BYTES: &str = "131072";

/// Re-executes this process with the allocator's settings, unless they are set already. Settings made by the operator
/// stay.
pub fn configure() {
    let arenas = std::thread::available_parallelism().map_or(4, |count| (count.get() * 2).max(4));
    let wanted = [("MALLOC_ARENA_MAX", arenas.to_string()), ("MALLOC_MMAP_THRESHOLD_", LARGE_BYTES.to_owned())];
    let missing = |(name, _): &(&str, String)| std::env::var_os(name).is_none();
    let missing: Vec<(&str, String)> = wanted.into_iter().filter(missing).collect();
    if !missing.is_empty() {
        start_anew(&missing);
    }
}

/// Returns only if the program can't be executed. The server then starts anyway, using more memory than it needs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn start_anew(settings: &[(&str, String)]) {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    if let Ok(program) = std::env::current_exe() {
        let error = Command::new(program).arg0(name).args(arguments).envs(settings.iter().cloned()).exec();
        colloquy::log::print_error(&format!("The allocator could not be set: {error}."));
    }
}

/// Other C libraries have other settings or none, so nothing is done.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn start_anew(_: &[(&str, String)]) {}
