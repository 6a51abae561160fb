//! Logs: structured, JSON unless a person reads along.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::Log;

/// Begins to log to standard error. A second call changes nothing.
pub fn begin(settings: &Log) {
    let filter = EnvFilter::builder().parse_lossy(&settings.filter);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let json = match settings.format.as_str() {
        "json" => true,
        "text" => false,
        _ => !std::io::stderr().is_terminal(),
    };
    // Only a second call fails.
    let _ = if json { builder.json().flatten_event(true).try_init() } else { builder.try_init() };
}
