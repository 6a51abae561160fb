//! What a run can be asked to do, and why it may refuse.

use super::node::Node;
use super::state::{Status, Warning};
use crate::ids::{AiJob, Id, User};

/// What a run can be asked to do. Those with an `attempt` come from the pipeline, the others from people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Work starts, or starts again after the process was killed.
    Begin {
        attempt: u32,
    },
    /// `progress` in percent. What would lower it, or go back to an earlier node, is passed over.
    Progress {
        attempt: u32,
        node: Node,
        progress: u8,
        message: String,
    },
    /// PARTIAL if a warning tells of a gap ([`Warning::tells_of_a_gap`]), else COMPLETED.
    Complete {
        attempt: u32,
        warnings: Vec<Warning>,
    },
    /// There was nothing to analyse.
    Reject {
        attempt: u32,
        reason: String,
    },
    Fail {
        attempt: u32,
        message: String,
    },
    Cancel {
        by: Id<User>,
    },
    /// `job_id` is new; the current one again is a repeated request, which changes nothing.
    Retry {
        job_id: Id<AiJob>,
    },
}

/// Why a run refused. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// This is not the attempt that the command names: its work is no longer wanted.
    OldAttempt { current: u32 },
    /// A run in this state doesn't do that.
    InvalidState { status: Status },
}
