//! A client of the interface, which the demo and the bench are: it knows a server by its addresses and its outbox, and
//! nothing of what is behind them.
//!
//! Errors are sentences: whoever runs these programs reads them, no code does.

pub mod account;
pub mod answer;
pub mod caller;
pub mod events;
pub mod own_server;
pub mod runs;
pub mod sources;
