//! Consents: what participants agreed to, the wording they were shown, and the ledger that proves it.

pub mod bodies;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;

use actors::meeting::{ConsentScope, Meeting, Recording};

/// Whether everyone who can be heard consents to a transcript.
#[must_use]
pub fn may_be_transcribed(meeting: &Meeting, recording: &Recording) -> bool {
    meeting.held_back(recording, ConsentScope::Transcript).is_empty() && meeting.withheld_for(recording).is_empty()
}
