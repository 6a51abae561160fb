//! The commands of a run, and the reasons why it refuses them.

use super::node::Node;
use super::state::{AiRunStatus, RunWarning};
use crate::ids::{AiJob, Id, User};

/// A command to a run. Those with an `attempt` come from the pipeline, the others from users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Work starts, or starts again after the process was killed. A run whose attempt was begun
    /// [`MAX_BEGINS`](super::MAX_BEGINS) times fails instead of beginning again.
    Begin {
        attempt: u32,
    },
    /// `progress` in percent. An update that would lower it, or go back to an earlier node, is ignored.
    Progress {
        attempt: u32,
        node: Node,
        progress: u8,
        message: String,
    },
    /// PARTIAL if a warning reports a gap ([`RunWarning::reports_gap`]), else COMPLETED.
    Complete {
        attempt: u32,
        warnings: Vec<RunWarning>,
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
    /// `job_id` is new; repeating the current one is a repeated request, which changes nothing.
    Retry {
        job_id: Id<AiJob>,
    },
}

/// Why a run refused a command. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The command names an attempt other than the current one: the result of its work is no longer needed.
    OldAttempt { current: u32 },
    /// The command is not possible in this state of the run.
    InvalidState { status: AiRunStatus },
}
