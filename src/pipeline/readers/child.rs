//! The child that reads one document: `colloquy read-document --format NAME`, document on stdin, JSON on stdout.
//!
//! The limits are set by the process on itself before it reads a byte, so that nothing has to run between fork and exec.
//! `RLIMIT_NPROC` does not bind root: run the server as a user of its own.

use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use rlimit::{Resource, setrlimit};

use super::source::{Reason, SourceText, Unreadable};
use super::{Format, read};

/// Bytes. Counts mappings, so that it is more than what is really used.
const ADDRESS_SPACE: u64 = 512 * 1024 * 1024;
/// Seconds of processor time.
const CPU_SECONDS: u64 = 30;
/// Stands before the answer, so that a line which a library prints is not taken for it. JSON never holds it unescaped.
pub const ANSWER: u8 = 0x1e;

/// Body of the hidden subcommand. Dispatch it in `main` before any runtime or thread is started.
pub fn child_main(format: Format) -> ExitCode {
    let answer = match limit_self() {
        Ok(()) => read_stdin(format),
        Err(error) => Err(Unreadable::new(Reason::Crashed, format!("The reader could not limit itself: {error}."))),
    };
    match write_stdout(&answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn limit_self() -> std::io::Result<()> {
    setrlimit(Resource::AS, ADDRESS_SPACE, ADDRESS_SPACE)?;
    setrlimit(Resource::CPU, CPU_SECONDS, CPU_SECONDS + 1)?;
    setrlimit(Resource::NPROC, 0, 0)?;
    setrlimit(Resource::CORE, 0, 0)
}

fn read_stdin(format: Format) -> Result<SourceText, Unreadable> {
    let mut bytes = Vec::new();
    stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|_| Unreadable::new(Reason::Crashed, "The document did not reach its reader."))?;
    read(format, &bytes)
}

fn write_stdout(answer: &Result<SourceText, Unreadable>) -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(stdout().lock());
    out.write_all(&[ANSWER])?;
    serde_json::to_writer(&mut out, answer)?;
    out.flush()
}
