//! The items of a project: its requirements and user stories, each under a code that never changes.

pub mod bodies;
pub mod comparing;
pub mod content_key;
pub mod edits;
pub mod model;
pub mod operations;
pub mod project_item;
pub mod routes;
pub mod spooled;
pub mod spooling;
pub mod store;

pub use store::item_of;
