//! The profile of an account: its data, avatar and password, and the deletion of the account.
//!
//! ```text
//! uploadAvatar ── decoded in a process with limits ── 512 × 512, re-encoded ── file store ── users.avatar
//! changePassword ── proof ── every other session ends
//! deleteAccount ── proof ── single-member projects deleted ── transaction: pseudonymized ── jobs: personal data erased
//! ```
//! What a user added to the projects of others stays: documents, meetings and analyses that the account created keep
//! its id, which then belongs to no user.

pub mod avatar;
pub mod bodies;
pub mod deletion;
mod emails;
pub mod erase;
pub mod operations;
mod personal_data;
pub mod proof;
pub mod routes;
pub mod store;
pub mod upload;
