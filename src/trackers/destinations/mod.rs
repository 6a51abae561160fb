//! Where the stories of a project go: a project and an issue type of the tracker, with values for the fields that stories
//! don't have.

pub mod bodies;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
