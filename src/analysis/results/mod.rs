//! What runs found: requirements and user stories as a project's items, each under a code that never changes.

pub mod draft;
mod items;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
