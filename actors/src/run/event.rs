//! The events of a run.

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
    /// Returns the event's name in the API and in the event table.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Queued => "run.queued",
            Self::Retried => "run.retried",
            Self::Progressed => "run.progressed",
            Self::Completed => "run.completed",
            Self::Partial => "run.partial",
            Self::Rejected => "run.rejected",
            Self::Failed => "run.failed",
            Self::Cancelled { .. } => "run.cancelled",
        }
    }
}
