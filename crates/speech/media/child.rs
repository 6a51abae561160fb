//! The child process that measures one media file: `colloquy probe-media --memory-mib N --seconds N`, the file on its
//! standard input.

use std::fs::File;
use std::io::{Write, stdin, stdout};
use std::os::fd::AsFd;
use std::process::ExitCode;

use confined::{Allowance, forbid_new_processes};

use super::duration::duration_ms;

/// Name of the hidden subcommand.
pub const VERB: &str = "probe-media";

/// The parsed command line of the child process.
#[derive(Debug, Clone, Copy)]
pub struct ProbeTask {
    allowance: Allowance,
}

impl ProbeTask {
    /// Parses the arguments after [`VERB`]. Returns `None` unless they have exactly the form in which a server starts
    /// its children.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        Some(Self { allowance: Allowance::of_arguments(arguments)? })
    }
}

/// Runs the hidden subcommand. Call it in `main` before any runtime or thread is started.
#[must_use]
pub fn child_main(task: ProbeTask) -> ExitCode {
    let limited = task.allowance.apply().and_then(|()| forbid_new_processes());
    let file = limited.and_then(|()| stdin().as_fd().try_clone_to_owned()).map(File::from);
    let measured = file.map_err(|error| error.to_string()).and_then(duration_ms);
    let Ok(json) = serde_json::to_vec(&measured) else { return ExitCode::FAILURE };
    match stdout().lock().write_all(&json) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
