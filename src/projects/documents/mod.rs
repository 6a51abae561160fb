//! Documents: files of a project, and what is read in them.

pub mod operations;
pub mod store;
