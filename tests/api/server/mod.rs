//! Tests of the HTTP server as a whole: what holds for every request, and how the server starts and stops.

mod abandoned;
mod bounds;
mod call_limits;
mod compression;
mod cors;
mod database_tls;
mod envelope;
mod exhaustion;
mod file_permissions;
mod headers;
mod logging;
mod memory;
mod metrics;
mod operator;
mod secrets;
mod start;
mod stop;
