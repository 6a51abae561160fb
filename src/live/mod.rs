//! OUT: sockets, streams, and who may listen to what.

pub mod event_log;
pub mod tickets;
