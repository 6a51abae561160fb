//! Structured logs on standard error: JSON, or text if standard error is a terminal.

pub mod access;

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::Log;

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogFormat {
    Json,
    Text,
}

/// Starts logging to standard error. A second call has no effect.
pub fn begin(settings: &Log) {
    let filter = EnvFilter::builder().parse_lossy(&settings.filter);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let format = match settings.format.as_str() {
        "json" => LogFormat::Json,
        "text" => LogFormat::Text,
        _ if std::io::stderr().is_terminal() => LogFormat::Text,
        _ => LogFormat::Json,
    };
    // Fails only in a second call.
    let _ = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.try_init(),
    };
    if settings.access {
        access::begin(format);
    }
}
