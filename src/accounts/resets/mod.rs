//! Reset of a forgotten password: a code by e-mail, a token for the code, a new password for the token.
//!
//! A user who completes a reset has proved access to the mailbox and counts as the owner, so everything that the former
//! password opened ends: all sessions with their sockets, pending log-ins, and other codes. The lock after too many
//! failures is checked when a code is requested, when it is redeemed, and again when the password is set.

pub mod bodies;
pub mod model;
pub mod operations;
pub mod routes;
mod store;

pub use store::RETENTION;
