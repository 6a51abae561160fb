//! The dashboard: the results of a run on one page.

mod current;
pub mod filter;
pub mod model;
pub mod operations;
pub mod routes;
