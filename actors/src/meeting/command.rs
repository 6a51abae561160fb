//! What a meeting can be asked to do, and why it may refuse.

use std::time::Duration;

use super::consent::{Answer, Wording};
use super::participant::Role;
use super::presence::Seen;
use super::state::{EndReason, Status};
use crate::ids::{self, Id, User};
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
    /// The media server says that the room is finished. A hint: only a live meeting ends by it.
    RoomFinished,
    /// Somebody accepted an invitation.
    Admit {
        newcomer: Newcomer,
        role: Role,
        invitation: Id<ids::Invitation>,
        /// How many people may have a place in one meeting.
        most: usize,
    },
    Join {
        newcomer: Newcomer,
        /// How they want to be called here; `None`: as before.
        display_name: Option<String>,
        most: usize,
    },
    Leave {
        participant: Id<ids::Participant>,
    },
    /// `by` is `None` where nobody did: their invitation was taken back.
    Remove {
        participant: Id<ids::Participant>,
        by: Option<Id<User>>,
    },
    Consent {
        participant: Id<ids::Participant>,
        answer: Answer,
        /// The words of today.
        wording: Wording,
        user_agent: String,
    },
    /// What was seen of people's connections, many at once: whoever watches them tells what it has.
    See {
        seen: Vec<Seen>,
    },
    /// Time has passed. Safe to repeat.
    Sweep {
        limits: TimeLimits,
    },
    /// An account is no member of the meeting's project any longer: whatever it had here is over. Safe to repeat.
    Exclude {
        user: Id<User>,
    },
    /// Whoever a participant is deleted their account; `name` is what they are called from now on.
    Forget {
        participant: Id<ids::Participant>,
        name: String,
    },
}

/// How long things may last in a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// For somebody whose connections are gone to stay.
    pub grace: Duration,
    /// For a live meeting to go on with nobody in it.
    pub empty: Duration,
    /// For a live meeting to go on at all.
    pub live: Duration,
}

/// Who comes to a meeting. Somebody it knows already, by account or id, keeps the place they have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newcomer {
    /// Of the place they get if they have none.
    pub id: Id<ids::Participant>,
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    pub email: Option<String>,
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
    /// The meeting knows nobody by that id.
    NoSuchParticipant,
    /// They were put out, and not invited again.
    Removed,
    /// That is for those who have been in the meeting.
    NeverJoined,
    /// The meeting has as many people as one may have.
    Full,
    /// A meeting can't be without its host.
    LastHost,
}
