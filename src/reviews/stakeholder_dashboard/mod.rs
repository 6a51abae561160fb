//! What a reviewer sees of a project: the results of a run, without anything that concerns the team alone, with each
//! quote in the context of its source.
//!
//! ```text
//!   access --> the run of its invitation --> parsed once for each state of the results, and kept --> its ETag, or 304
//! ```

pub mod cache;
pub mod context;
pub mod model;
pub mod operations;
pub mod routes;
mod scope;
