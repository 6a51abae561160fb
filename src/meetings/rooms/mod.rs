//! Rooms: where a meeting is held at the media server. Who may come in, what the media server tells, and what it is told.
//!
//! ```text
//!   JOINED --issue--> a token --> the media server --webhooks--> hints: who is connected, the room is finished
//!   left, removed, over --errands--> the media server puts out, closes
//!             lookout: who is still there? --> the meeting
//! ```
//! The meeting decides; the media server never does. What it tells may come late, twice, in any order, or not at all.

pub mod errands;
pub mod lookout;
pub mod model;
pub mod operations;
pub mod routes;
mod webhook;

use std::sync::Arc;

use actors::ids::Id;
use actors::meeting::Meeting;
use quick_cache::sync::Cache;

use crate::outside::livekit::MediaServer;

/// Events whose ids are remembered.
const EVENTS: usize = 10_000;

/// The media server, if there is one, and which of its events were taken.
pub struct Rooms {
    server: Option<Arc<dyn MediaServer>>,
    /// Spares work and nothing else: an event that is taken twice changes nothing the second time.
    taken: Cache<String, ()>,
}

impl Rooms {
    #[must_use]
    pub fn at(server: Option<Arc<dyn MediaServer>>) -> Self {
        Self { server, taken: Cache::new(EVENTS) }
    }

    #[must_use]
    pub fn server(&self) -> Option<&dyn MediaServer> {
        self.server.as_deref()
    }
}

/// What a meeting's room is called.
fn name(meeting: Id<Meeting>) -> String {
    meeting.to_string()
}
