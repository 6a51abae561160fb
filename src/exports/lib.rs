//! The results of a project as files that other programs open.
//!
//! A [`specification::Specification`] goes in, the bytes of a file come out. Nothing here knows a database, a user or a clock: the
//! same specification gives the same bytes.

pub mod specification;
