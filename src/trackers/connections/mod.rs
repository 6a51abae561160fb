//! The connection of a project to an issue tracker.
//!
//! ```text
//! start -> PENDING -> the user permits it at the tracker -> callback -> ACTIVE <-> NEEDS_REAUTH
//!   `----- with a token: checked at once -------------------^    any -> DISCONNECTED, tokens erased
//! ```
//! A sign-in is bound to the project, to the account that began it, and by a cookie to the browser: so that nobody can have
//! their own project connected to somebody else's tracker. Its state is valid once, for ten minutes.

pub mod access;
pub mod bodies;
pub mod model;
pub mod operations;
pub mod routes;
pub mod sealing;
pub mod store;
