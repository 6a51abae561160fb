//! What happened to a meeting.

use super::state::EndReason;
use crate::ids::{Id, User};

/// What happened. The changed meeting itself is in [`crate::live::Change::next`]; who did it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Updated,
    Started { by: Id<User> },
    Ended { by: Option<Id<User>>, reason: EndReason },
    Cancelled { by: Id<User> },
}

impl Event {
    /// The name on the wire and in the table of events.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Updated => "meeting.updated",
            Self::Started { .. } => "meeting.started",
            Self::Ended { .. } => "meeting.ended",
            Self::Cancelled { .. } => "meeting.cancelled",
        }
    }
}
