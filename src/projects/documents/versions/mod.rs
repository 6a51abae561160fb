//! Versions of a document: what was uploaded in its place since.
//!
//! ```text
//! upload ──> version n + 1, PENDING ── job ──> READY: the present version; its predecessor is put aside with its text
//!                                          └─> FAILED: the present version stays
//! ```
//! Runs read the version that is present when they are started. Quotes name the version that they stand in, so that they can be
//! verified for good; [`comparison`] says where a part of one version is in another.

pub mod comparison;
pub mod deletion;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
