//! Tests sockets and event streams.

mod described;
mod ends;
mod frames;
mod resume;
mod slow;
mod streams;
mod subscriptions;
mod tickets;
