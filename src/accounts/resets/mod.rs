//! A new password for one that was forgotten: a code by mail, a token for the code, a password for the token.
//!
//! Whoever chose it is the account's owner as far as can be known, so everything that the former password opened ends:
//! all sessions with their sockets, log-ins under way, and other codes. Lock-outs are looked at when a code is asked for,
//! when it is tried, and again when the password is chosen.

pub mod model;
pub mod operations;
pub mod routes;
mod store;

pub use store::OVER;
