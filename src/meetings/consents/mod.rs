//! Consents: what participants agreed to, the wording they were shown, and the ledger that proves it.

pub mod bodies;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
