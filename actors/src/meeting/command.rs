//! What a meeting can be asked to do, and why it may refuse.

use super::state::{EndReason, Status};
use crate::ids::{Id, User};
use crate::time::Time;

/// What a meeting can be asked to do. The caller's right to ask was checked before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Update {
        title: Edit<String>,
        description: Edit<String>,
        scheduled_at: Edit<Time>,
        /// The version that the caller saw; `None`: whichever it is now.
        if_match: Option<u64>,
    },
    Start {
        by: Id<User>,
    },
    /// `by` is `None` where nobody did: the room emptied or was closed, the service decided.
    End {
        by: Option<Id<User>>,
        reason: EndReason,
        note: Option<String>,
    },
    Cancel {
        by: Id<User>,
        reason: Option<String>,
    },
    /// An account was deleted; `name` is what its participant is called from now on.
    Forget {
        user_id: Id<User>,
        name: String,
    },
}

/// What a change does with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit<T> {
    Keep,
    Set(T),
}

impl<T: PartialEq> Edit<T> {
    /// Puts the new value in place. Whether the field differs after it.
    pub(super) fn apply(self, field: &mut T) -> bool {
        match self {
            Self::Set(value) if value != *field => {
                *field = value;
                true
            }
            Self::Keep | Self::Set(_) => false,
        }
    }
}

/// Why a meeting refused. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// If-Match named another version than this, the current one. Comes before [`Refusal::InvalidState`].
    Stale { version: u64 },
    /// A meeting in this state doesn't do that.
    InvalidState { status: Status },
}
