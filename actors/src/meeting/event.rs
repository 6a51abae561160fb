//! What happened to a meeting.

use super::consent::Entry;
use super::state::EndReason;
use crate::ids::{self, Id, User};

/// What happened. The changed meeting itself is in [`crate::live::Change::next`], with the changed participant; what is
/// kept beside them is here.
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
    /// They were let in, their connection came or went, they have another name or role.
    Changed {
        participant: Id<ids::Participant>,
    },
    /// For the ledger.
    Consented {
        entry: Box<Entry>,
        user_agent: String,
    },
    /// What was told of them before is to be told without their name from now on.
    Forgotten {
        participant: Id<ids::Participant>,
        /// They were in the meeting until now.
        left: bool,
    },
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
            Self::Joined { .. } => "participant.joined",
            Self::Left { .. } | Self::Forgotten { left: true, .. } => "participant.left",
            Self::Removed { .. } => "participant.removed",
            Self::Changed { .. } | Self::Forgotten { left: false, .. } => "participant.updated",
            Self::Consented { .. } => "participant.consent",
        }
    }

    /// Whom it is about; `None`: the meeting itself.
    #[must_use]
    pub const fn participant(&self) -> Option<Id<ids::Participant>> {
        match self {
            Self::Updated | Self::Started { .. } | Self::Ended { .. } | Self::Cancelled { .. } => None,
            Self::Joined { participant }
            | Self::Left { participant }
            | Self::Removed { participant }
            | Self::Changed { participant }
            | Self::Forgotten { participant, .. } => Some(*participant),
            Self::Consented { entry, .. } => Some(entry.participant_id),
        }
    }
}
