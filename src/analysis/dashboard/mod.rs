//! The dashboard: the results of a run on one page.

pub mod bodies;
pub mod current;
pub mod filter;
mod filtering;
pub mod model;
pub mod operations;
pub mod routes;
mod store;
