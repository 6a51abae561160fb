//! Results of runs: requirements and user stories as items of the project, each under a code that never changes.

pub mod bodies;
pub mod changes;
pub mod draft;
mod drafted;
pub mod edits;
pub mod grounding;
pub mod items;
pub mod model;
pub mod operations;
pub mod project_item;
pub mod routes;
pub mod spooled;
pub mod spooling;
pub mod store;
pub mod tracker_issues;

pub use store::{Kind, item_of};
