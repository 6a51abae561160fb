//! The trace matrix: from each requirement to its sources, its user stories, their criteria and issues, and what is missing.
//!
//! What was rejected counts for nothing: a rejected requirement keeps its row, without gaps; a rejected story covers nothing
//! and has no gaps. The matrix is answered as a whole: 10,000 requirements are some megabytes, which count against the bytes
//! that a client may hold.

pub mod bodies;
pub mod matrix;
pub mod model;
pub mod operations;
pub mod routes;
