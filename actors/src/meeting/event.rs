//! The events of a meeting.

use super::consent::LedgerEntry;
use super::recording::RecordingEvent;
use super::state::EndReason;
use crate::event_kind::EventKind;
use crate::ids::{self, Id, User};

/// What happened to a meeting. The changed meeting, with the changed participant, is in [`crate::live::Change::next`];
/// the variants hold what is stored in addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Updated,
    Started {
        by: Id<User>,
    },
    Ended {
        by: Option<Id<User>>,
        reason: EndReason,
    },
    Cancelled {
        by: Id<User>,
    },
    Joined {
        participant: Id<ids::Participant>,
    },
    Left {
        participant: Id<ids::Participant>,
    },
    Removed {
        participant: Id<ids::Participant>,
    },
    /// The participant was admitted, connected or disconnected, or has another name or role.
    Changed {
        participant: Id<ids::Participant>,
    },
    /// An entry for the ledger.
    Consented {
        entry: Box<LedgerEntry>,
        user_agent: String,
        /// The text itself, if it is the host's own.
        text: Option<String>,
    },
    /// The participant's name must be removed from the events that were recorded before.
    Forgotten {
        participant: Id<ids::Participant>,
        /// The participant was in the meeting until now.
        left: bool,
    },
    /// What happened to a recording.
    Recording {
        recording: Id<ids::Recording>,
        what: RecordingEvent,
    },
}

impl Event {
    /// Returns the kind of the event.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Updated => EventKind::MeetingUpdated,
            Self::Started { .. } => EventKind::MeetingStarted,
            Self::Ended { .. } => EventKind::MeetingEnded,
            Self::Cancelled { .. } => EventKind::MeetingCancelled,
            Self::Joined { .. } => EventKind::ParticipantJoined,
            Self::Left { .. } | Self::Forgotten { left: true, .. } => EventKind::ParticipantLeft,
            Self::Removed { .. } => EventKind::ParticipantRemoved,
            Self::Changed { .. } | Self::Forgotten { left: false, .. } => EventKind::ParticipantUpdated,
            Self::Consented { .. } => EventKind::ParticipantConsent,
            Self::Recording { what, .. } => what.kind(),
        }
    }

    /// Returns the recording that the event is about.
    #[must_use]
    pub const fn recording(&self) -> Option<Id<ids::Recording>> {
        match self {
            Self::Recording { recording, .. } => Some(*recording),
            _ => None,
        }
    }

    /// Returns the participant that the event is about; `None` if it is about the meeting itself or a recording.
    #[must_use]
    pub const fn participant(&self) -> Option<Id<ids::Participant>> {
        match self {
            Self::Updated
            | Self::Started { .. }
            | Self::Ended { .. }
            | Self::Cancelled { .. }
            | Self::Recording { .. } => None,
            Self::Joined { participant }
            | Self::Left { participant }
            | Self::Removed { participant }
            | Self::Changed { participant }
            | Self::Forgotten { participant, .. } => Some(*participant),
            Self::Consented { entry, .. } => Some(entry.participant_id),
        }
    }
}
