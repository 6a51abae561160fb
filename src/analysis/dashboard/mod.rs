//! The dashboard: what a run found, on one page.

pub mod model;
pub mod operations;
pub mod routes;
