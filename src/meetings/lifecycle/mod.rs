//! The life of a meeting itself: it is scheduled, changed, started, ended or cancelled, and ends by itself when nobody is there.

pub mod bodies;
pub mod operations;
pub mod routes;
mod store;
pub mod sweep;
