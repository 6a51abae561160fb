//! Auth: accounts, how an address is proved, and sessions.
//!
//! ```text
//! register --code by mail--> confirmAccount --> account + session
//! login --> session --refreshToken--> session (rotated) --logOut--> ended
//! ```
//! An answer never tells whether an address has an account: known and unknown ones get the same status, body and
//! headers, after the same work.

mod code;
pub mod endings;
mod letters;
pub mod model;
pub mod operations;
pub mod operator;
pub mod profile;
mod refresh;
pub mod routes;
pub mod store;
