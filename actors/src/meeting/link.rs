//! A participant's connections, by our own sockets and by the media server, and observations about them.

use std::time::Duration;

use crate::ids::{self, Id};
use crate::time::Time;

/// How a participant who joined is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Not connected yet since they joined.
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

/// An observation about a participant's connections. `ago`: how long before the command it was made, since who observes
/// connections need not report at once what may be over in a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    /// Whether they have an open socket to this meeting on this server.
    Socket { participant: Id<ids::Participant>, is_open: bool, ago: Duration },
    /// What the media server reported about one connection.
    Media { participant: Id<ids::Participant>, session: MediaSession, ago: Duration },
}

impl MediaSession {
    /// Returns what is known of a participant's connection after a report, in whatever order reports arrive: of two
    /// connections the later one counts, and a closed connection never reopens. `None` if the report changes nothing.
    #[must_use]
    pub fn after_report(known: Option<&Self>, report: &Self) -> Option<Self> {
        let key = |session: &Self| (session.began_at, session.name.clone());
        match known {
            Some(known) if key(known) > key(report) => None,
            Some(known) if key(known) == key(report) => (known.is_open && !report.is_open).then(|| report.clone()),
            _ => Some(report.clone()),
        }
    }
}

impl Observation {
    #[must_use]
    pub const fn participant(&self) -> Id<ids::Participant> {
        match self {
            Self::Socket { participant, .. } | Self::Media { participant, .. } => *participant,
        }
    }

    pub(super) const fn ago(&self) -> Duration {
        match self {
            Self::Socket { ago, .. } | Self::Media { ago, .. } => *ago,
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
