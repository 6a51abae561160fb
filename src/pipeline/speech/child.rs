//! The child process that transcribes one recording: `colloquy transcribe --memory-mib N --seconds N`, the recording on
//! its standard input, the request in its environment. It answers in lines of JSON, one for each batch.

use std::fs::File;
use std::io::{StdoutLock, Write, stdin, stdout};
use std::os::fd::AsFd;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use super::{HeardBatch, Untranscribed, transcribe};
use crate::confined::{Allowance, forbid_new_processes};

/// Name of the hidden subcommand.
pub const VERB: &str = "transcribe";
/// The environment variable with the request: command lines can be read by everyone on the machine.
pub(super) const REQUEST: &str = "COLLOQUY_SPEECH_REQUEST";

/// A line of the answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum ChildLine {
    Heard(HeardBatch),
    /// Everything is transcribed.
    Finished,
    /// The recording can't be read.
    Unreadable(String),
    /// The model can't be used.
    Model(String),
}

/// The parsed command line of the child process.
#[derive(Debug, Clone, Copy)]
pub struct SpeechTask {
    allowance: Allowance,
}

impl SpeechTask {
    /// Parses the arguments after [`VERB`]. Returns `None` unless they have exactly the form in which a server starts
    /// its children.
    #[must_use]
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        Some(Self { allowance: Allowance::of_arguments(arguments)? })
    }
}

/// Runs the hidden subcommand. Call it in `main` before any runtime or thread is started.
#[must_use]
pub fn child_main(task: SpeechTask) -> ExitCode {
    let limited = task.allowance.apply().and_then(|()| forbid_new_processes());
    let Ok(file) = limited.and_then(|()| stdin().as_fd().try_clone_to_owned()).map(File::from) else {
        return ExitCode::FAILURE;
    };
    let request = std::env::var(REQUEST).ok().and_then(|request| serde_json::from_str(&request).ok());
    let Some(request) = request else { return ExitCode::FAILURE };
    let mut out = stdout().lock();
    let last = match transcribe(file, &request, |batch| write(&mut out, &ChildLine::Heard(batch))) {
        Ok(()) => ChildLine::Finished,
        Err(Untranscribed::Unreadable(why)) => ChildLine::Unreadable(why),
        Err(failed) => ChildLine::Model(failed.to_string()),
    };
    if write(&mut out, &last) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns false when nobody reads any more.
fn write(out: &mut StdoutLock<'_>, line: &ChildLine) -> bool {
    let Ok(mut json) = serde_json::to_vec(line) else { return false };
    json.push(b'\n');
    out.write_all(&json).and_then(|()| out.flush()).is_ok()
}
