//! The dashboard: the specification, or what one run found, on one page.

pub mod bodies;
pub mod filter;
mod filtering;
pub mod model;
pub mod operations;
pub mod routes;
mod shares;
mod specification;
mod store;
pub mod summary;
pub mod unparsed;
