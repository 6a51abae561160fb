//! The events of a run.

use crate::event_kind::EventKind;
use crate::ids::{Id, User};

/// What happened to a run. The changed run is in [`crate::live::Change::next`]; the variants hold who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Queued,
    Retried,
    Progressed,
    Completed,
    Partial,
    Rejected,
    Failed,
    Cancelled { by: Id<User> },
}

impl Event {
    /// Returns the kind of the event.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Queued => EventKind::RunQueued,
            Self::Retried => EventKind::RunRetried,
            Self::Progressed => EventKind::RunProgressed,
            Self::Completed => EventKind::RunCompleted,
            Self::Partial => EventKind::RunPartial,
            Self::Rejected => EventKind::RunRejected,
            Self::Failed => EventKind::RunFailed,
            Self::Cancelled { .. } => EventKind::RunCancelled,
        }
    }
}
