//! The child that reads one document: `colloquy read-document --format NAME --memory-mib N --seconds N`, document on stdin,
//! answer on stdout: [`ANSWER`], a line that says what it is, and JSON, which the server keeps as it is.

use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use super::super::confined::{Allowance, start_nothing};
use super::source::{Reason, SourceText, Unreadable};
use super::{Format, read};

/// The hidden subcommand.
pub const VERB: &str = "read-document";
/// Stands before the answer, so that a line which a library prints is not taken for it. JSON never holds it unescaped.
pub const ANSWER: u8 = 0x1e;
/// The line before a text, and the one before an `Unreadable`.
pub const READ: &[u8] = b"read\n";
pub const UNREADABLE: &[u8] = b"unreadable\n";
/// Bytes of JSON that a document may come to. The limits on characters, blocks and cues bind first, for what people write.
pub const MOST_JSON: usize = 16 * 1024 * 1024;

/// What the child is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    format: Format,
    allowance: Allowance,
}

impl Task {
    /// The task, where these arguments (after [`VERB`]) are those that a server starts its readers with.
    pub fn of_arguments(arguments: &[&str]) -> Option<Self> {
        match arguments {
            ["--format", format, allowance @ ..] => {
                Some(Self { format: Format::named(format)?, allowance: Allowance::of_arguments(allowance)? })
            }
            _ => None,
        }
    }
}

/// Body of the hidden subcommand. Dispatch it in `main` before any runtime or thread is started.
pub fn child_main(task: Task) -> ExitCode {
    let answer = match task.allowance.take().and_then(|()| start_nothing()) {
        Ok(()) => read_stdin(task.format).and_then(|text| json(&text)),
        Err(error) => Err(Unreadable::new(Reason::Interrupted, format!("The reader could not limit itself: {error}."))),
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
        .map_err(|_| Unreadable::new(Reason::Crashed, "The document did not reach its reader."))?;
    read(format, &bytes)
}

fn json(text: &SourceText) -> Result<Vec<u8>, Unreadable> {
    let json = serde_json::to_vec(text)
        .map_err(|_| Unreadable::new(Reason::Crashed, "What is in the document could not be written down."))?;
    if json.len() > MOST_JSON {
        return Err(Unreadable::new(Reason::TooLarge, "The document holds more text than is read."));
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
