//! A participant's connections, by our own sockets and by the media server, and observations about them.

use crate::ids::{self, Id};
use crate::time::Time;

/// How a participant who joined is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Not connected yet since they joined. No timeout runs.
    Awaited,
    /// Connected by one of our sockets, or the media server, or both.
    Up { socket: bool },
    /// No longer connected by either.
    Lost { since: Time },
}

/// A connection to the media server. The newest one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaSession {
    /// When it began, according to the media server.
    pub began_at: Time,
    /// The media server's name for it.
    pub name: String,
    pub is_open: bool,
}

/// An observation about a participant's connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// Whether they have an open socket to this meeting on this server.
    Socket { participant: Id<ids::Participant>, is_open: bool },
    /// What the media server reported about one connection.
    Media { participant: Id<ids::Participant>, session: MediaSession },
}

impl Observation {
    #[must_use]
    pub const fn participant(&self) -> Id<ids::Participant> {
        match self {
            Self::Socket { participant, .. } | Self::Media { participant, .. } => *participant,
        }
    }
}

impl Link {
    #[must_use]
    pub const fn has_socket(self) -> bool {
        matches!(self, Self::Up { socket: true })
    }

    #[must_use]
    pub const fn lost_since(self) -> Option<Time> {
        match self {
            Self::Lost { since } => Some(since),
            Self::Awaited | Self::Up { .. } => None,
        }
    }
}
