//! WebSockets and event streams, and the authorization of their subscribers.
//!
//! ```text
//!   hub ----> topic stream (one subscriber, one topic) ----> socket (many topics, frames, a window)
//!   table ---^   ^-- audience: access, and the snapshot      `--> event stream (one topic, server-sent events)
//! ```

pub mod asyncapi;
pub mod audience;
mod close_reasons;
mod end_conditions;
pub mod event_log;
mod frames;
mod inbound;
pub mod routes;
mod socket;
pub mod state;
pub mod stream;
mod topic_stream;
mod window;
