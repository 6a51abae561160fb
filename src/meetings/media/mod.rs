//! Media rooms: where meetings are held at the media server. Who may enter them, the webhooks of the media server, and
//! the jobs that call it.
//!
//! ```text
//!   JOINED --issue--> token --> media server --webhooks--> hints: who is connected, the room was finished
//!   left, removed, ended --jobs--> media server disconnects, closes
//!         reconcile: who is still connected? --> the meeting
//! ```
//! The meeting decides, never the media server, whose webhooks may come late, twice, in any order, or not at all.

pub mod jobs;
pub mod model;
pub mod operations;
pub mod reconcile;
pub mod routes;
mod webhook;

use actors::ids::Id;
use actors::meeting::Meeting;

/// Returns the name of a meeting's room.
fn name(meeting: Id<Meeting>) -> String {
    meeting.to_string()
}
