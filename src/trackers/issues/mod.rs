//! Which issue a story became at a site of a tracker, and how far the work on it is.

pub mod polling;
pub mod store;
