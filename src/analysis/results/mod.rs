//! Results of runs: requirements and user stories as items of the project, each under a code that never changes.

pub mod draft;
pub mod grounding;
mod items;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
