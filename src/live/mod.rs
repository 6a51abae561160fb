//! OUT: sockets, streams, and who may listen to what.
//!
//! ```text
//!   hub ----> feed (one listener, one topic) ----> socket (many topics, frames, a window)
//!   table ---^   ^-- audience: who may, and the state      `--> stream (one topic, server-sent events)
//! ```

pub mod audience;
mod ending;
pub mod event_log;
mod feed;
mod frames;
mod inbound;
pub mod routes;
mod socket;
pub mod state;
pub mod stream;
mod window;
