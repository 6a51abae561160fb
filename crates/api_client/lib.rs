//! A client of the HTTP API, used by the demo and the bench. It knows a server by its URLs and its outbox, and nothing
//! of its internals.
//!
//! Errors are sentences, because they are read by the users of these programs and not handled in code.

pub mod account;
pub mod answer;
pub mod caller;
pub mod events;
pub mod own_server;
pub mod runs;
pub mod sources;
