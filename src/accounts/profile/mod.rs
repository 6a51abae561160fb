//! Profile: an account as its owner sees it, its face, its password, and its end.
//!
//! ```text
//! uploadAvatar ── decoded within bounds ── 512 × 512, encoded anew ── file store ── users.avatar
//! changePassword ── proof ── every other session ends
//! deleteAccount ── proof ── projects owned alone go ── one transaction: a pseudonym is left ── jobs: its last traces go
//! ```
//! What is put into others' projects stays theirs: documents, meetings and analyses that the account made go on naming
//! its id, which from then on is nobody's.

pub mod avatar;
pub mod erasing;
pub mod leaving;
mod letters;
pub mod operations;
mod picture;
mod proof;
pub mod routes;
pub mod store;
mod traces;
pub mod upload;
