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

use std::sync::Arc;

use actors::ids::Id;
use actors::meeting::Meeting;
use quick_cache::sync::Cache;

use crate::clients::livekit::MediaServer;

/// Number of webhook ids that are cached.
const EVENTS: usize = 10_000;

/// The media server, if one is configured, and the ids of the webhooks that were processed.
pub struct Rooms {
    server: Option<Arc<dyn MediaServer>>,
    /// Only saves work: a webhook that is processed twice changes nothing the second time.
    received: Cache<String, ()>,
}

impl Rooms {
    #[must_use]
    pub fn at(server: Option<Arc<dyn MediaServer>>) -> Self {
        Self { server, received: Cache::new(EVENTS) }
    }

    #[must_use]
    pub fn server(&self) -> Option<&dyn MediaServer> {
        self.server.as_deref()
    }
}

/// Returns the name of a meeting's room.
fn name(meeting: Id<Meeting>) -> String {
    meeting.to_string()
}
