//! Panics in the log: each is a line like all others, with the request's id, and is counted. The standard library would
//! write to standard error itself, and wait there for a reader.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::time::Duration;

/// How long a panic waits until its line is written: it may be the last of this process.
const WRITTEN: Duration = Duration::from_millis(100);

/// Has all panics logged from now on.
pub(super) fn log_all() {
    std::panic::set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    metrics::counter!("colloquy_panics_total").increment(1);
    let why = panic.payload_as_str().unwrap_or("without words");
    let place = panic.location().map(ToString::to_string);
    let thread = std::thread::current();
    // Only where the environment asks for it.
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    tracing::error!(why, place, thread = thread.name(), backtrace, "a panic");
    if thread.name() != Some(super::writing::THREAD) {
        super::flush(WRITTEN);
    }
}
