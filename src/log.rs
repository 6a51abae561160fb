//! Structured logs on standard error: JSON, or text if standard error is a terminal.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::Log;

/// Starts logging to standard error. A second call has no effect.
pub fn begin(settings: &Log) {
    let filter = EnvFilter::builder().parse_lossy(&settings.filter);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let json = match settings.format.as_str() {
        "json" => true,
        "text" => false,
        _ => !std::io::stderr().is_terminal(),
    };
    // Fails only in a second call.
    let _ = if json { builder.json().flatten_event(true).try_init() } else { builder.try_init() };
}
