//! Structured logs on standard error: JSON, or text if standard error is a terminal.
//!
//! ```text
//!  tracing events ──┐
//!  answered requests ┼─▶ queue (bounded; full: dropped and counted) ─▶ thread ─▶ standard error
//!  last words ──────┘                                                  refuses: lost and counted
//! ```
//! Logging can't fail: nothing that is said ends a request or a thread, whatever standard error is (a full disk, a pipe that
//! nobody reads or that is closed), and nobody waits for it to be written. What was lost is counted, and said as soon as
//! lines can be written again. Lines that still wait are written before the process ends, and after a panic.
//!
//! Deliberately absent: `eprintln!` and `println!`, which panic where nothing can be written. The library is compiled
//! without them; [`print`] and [`print_error`] do the same and can't fail.

pub mod access;
mod output;
mod panics;
mod refused;
mod writing;

use std::io::{IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actors::time::SystemClock;
use tracing_subscriber::EnvFilter;

use self::output::LogOutput;
use crate::config::Log;

/// How long the end of the program waits for the last lines.
const LAST: Duration = Duration::from_secs(1);

static OUTPUT: OnceLock<Arc<LogOutput>> = OnceLock::new();

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogFormat {
    Json,
    Text,
}

/// Starts logging to standard error, and has panics logged. A second call has no effect.
///
/// # Errors
/// The thread that writes can't be started.
pub fn begin(settings: &Log) -> std::io::Result<()> {
    if OUTPUT.get().is_some() {
        return Ok(());
    }
    let format = match settings.format.as_str() {
        "json" => LogFormat::Json,
        "text" => LogFormat::Text,
        _ if std::io::stderr().is_terminal() => LogFormat::Text,
        _ => LogFormat::Json,
    };
    let output = Arc::new(LogOutput::start(std::io::stderr(), format, Arc::new(SystemClock))?);
    let output = Arc::clone(OUTPUT.get_or_init(|| output));
    let filter = EnvFilter::builder().parse_lossy(&settings.filter);
    // What could not be written is counted by the output itself; the library would print it, and panic where it can't.
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(output).log_internal_errors(false);
    // Fails only in a second call.
    let _ = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.try_init(),
    };
    panics::log_all();
    if settings.access {
        access::begin();
    }
    Ok(())
}

/// Waits until everything that was said is written, up to a second. To be called before the process ends.
pub fn end() {
    flush(LAST);
}

fn flush(limit: Duration) {
    if let Some(output) = OUTPUT.get() {
        output.flush(limit);
    }
}

/// How many lines wait to be written. For metrics.
#[must_use]
pub fn waiting() -> usize {
    OUTPUT.get().map_or(0, |output| output.waiting())
}

/// Prints a line on standard output, if it takes one.
pub fn print(line: &str) {
    // Whoever closed it doesn't want to know.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints a line on standard error for whoever started the program: in its turn with the log's lines, once there is a log.
pub fn print_error(line: &str) {
    let line = format!("{line}\n");
    match OUTPUT.get() {
        Some(output) => output.take(line.as_bytes()),
        // There is nowhere else to say that it can't be written.
        None => drop(std::io::stderr().write_all(line.as_bytes())),
    }
}
