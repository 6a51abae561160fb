//! What happened to a run.

use crate::ids::{Id, User};

/// What happened. The changed run itself is in [`crate::live::Change::next`]; who did it is here.
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
    /// The name on the wire and in the table of events.
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
