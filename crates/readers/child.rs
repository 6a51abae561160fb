//! The child process that parses one document: `colloquy read-document --format NAME --memory-mib N --seconds N`.
//!
//! It reads the document from stdin and writes its response to stdout: [`ANSWER`], a line with the kind of the
//! response, and JSON, which the server stores unchanged.

use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use confined::{Allowance, forbid_new_processes};

use super::source::{SourceText, Unreadable, UnreadableReason};
use super::{Format, read};

/// Name of the hidden subcommand.
pub const VERB: &str = "read-document";
/// Marks the start of the response, so that a line printed by a library is not mistaken for it. JSON never contains
/// this byte unescaped.
pub const ANSWER: u8 = 0x1e;
/// The line before a `SourceText`; [`UNREADABLE`] is the line before an `Unreadable`.
pub const READ: &[u8] = b"read\n";
pub const UNREADABLE: &[u8] = b"unreadable\n";
/// Maximum bytes of JSON for one document. For ordinary documents the limits on characters, blocks and cues are reached
/// first.
pub const MAX_JSON_BYTES: usize = 16 * 1024 * 1024;

/// The parsed command line of the child process.
#[derive(Debug, Clone, Copy)]
pub struct ReadTask {
    format: Format,
    allowance: Allowance,
}

impl ReadTask {
    /// Parses the arguments after [`VERB`]. Returns `None` unless they have exactly the form in which a server starts
    /// its readers.
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        match arguments {
            ["--format", format, allowance @ ..] => {
                Some(Self { format: Format::named(format)?, allowance: Allowance::of_arguments(allowance)? })
            }
            _ => None,
        }
    }
}

/// Runs the hidden subcommand. Call it in `main` before any runtime or thread is started.
pub fn child_main(task: ReadTask) -> ExitCode {
    let answer = match task.allowance.apply().and_then(|()| forbid_new_processes()) {
        Ok(()) => read_stdin(task.format).and_then(|text| json(&text)),
        Err(error) => {
            Err(Unreadable::new(UnreadableReason::Interrupted, format!("The reader could not limit itself: {error}.")))
        }
    };
    match write_stdout(answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn read_stdin(format: Format) -> Result<SourceText, Unreadable> {
    let mut bytes = Vec::new();
    stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|_| Unreadable::new(UnreadableReason::Crashed, "The document did not reach its reader."))?;
    read(format, &bytes)
}

fn json(text: &SourceText) -> Result<Vec<u8>, Unreadable> {
    let json = serde_json::to_vec(text).map_err(|_| {
        Unreadable::new(UnreadableReason::Crashed, "What is in the document could not be written down.")
    })?;
    if json.len() > MAX_JSON_BYTES {
        return Err(Unreadable::new(UnreadableReason::TooLarge, "The document holds more text than is read."));
    }
    Ok(json)
}

fn write_stdout(answer: Result<Vec<u8>, Unreadable>) -> std::io::Result<()> {
    let (kind, json) = match answer {
        Ok(json) => (READ, json),
        Err(unreadable) => (UNREADABLE, serde_json::to_vec(&unreadable)?),
    };
    let mut out = stdout().lock();
    out.write_all(&[ANSWER])?;
    out.write_all(kind)?;
    out.write_all(&json)?;
    out.flush()
}
