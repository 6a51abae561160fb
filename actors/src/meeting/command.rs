//! The commands of a meeting, and the reasons why it refuses them.

use std::time::Duration;

use super::consent::{ConsentAnswer, Wording};
use super::edit::MeetingEdit;
use super::link::Observation;
use super::participant::MeetingRole;
use super::recording::{AttachedTranscript, RecordingCommand, RecordingDraft, RecordingLimits, RecordingRefusal};
use super::state::{EndReason, MeetingStatus};
use crate::ids::{self, Id, User};

/// A command to a meeting. The caller's permission was checked before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Update {
        edit: MeetingEdit,
        /// The version that the caller saw; `None` accepts any version.
        if_match: Option<u64>,
    },
    Start {
        by: Id<User>,
    },
    /// `by` is `None` if no user ended it: the meeting was empty, its media room was closed, or the service decided.
    End {
        by: Option<Id<User>>,
        reason: EndReason,
        note: Option<String>,
    },
    Cancel {
        by: Id<User>,
        reason: Option<String>,
    },
    /// The media server reports that the media room is finished. A hint: only a live meeting ends because of it.
    RoomFinished,
    /// An invitation was accepted.
    Admit {
        newcomer: Newcomer,
        role: MeetingRole,
        invitation: Id<ids::Invitation>,
        /// The maximum number of participants of one meeting; removed ones do not count.
        most: usize,
    },
    Join {
        newcomer: Newcomer,
        /// The display name in this meeting; `None` keeps the current one.
        display_name: Option<String>,
        most: usize,
    },
    Leave {
        participant: Id<ids::Participant>,
    },
    /// `by` is `None` if no user removed them: they are no longer a member of the project.
    Remove {
        participant: Id<ids::Participant>,
        by: Option<Id<User>>,
    },
    /// An invitation was revoked: removes the participants whom it admitted, but not the host. Safe to repeat.
    RemoveAdmitted {
        invitation: Id<ids::Invitation>,
    },
    Consent {
        participant: Id<ids::Participant>,
        answer: ConsentAnswer,
        /// The current consent text.
        wording: Wording,
        user_agent: String,
    },
    /// Observations of participants' connections, many at once: the caller that observes connections sends them in
    /// batches.
    See {
        seen: Vec<Observation>,
    },
    /// Applies the time limits. Safe to repeat.
    Sweep {
        limits: TimeLimits,
    },
    /// An account is no longer a member of the meeting's project, so its participant is removed (the host only leaves).
    /// Safe to repeat.
    Exclude {
        user: Id<User>,
    },
    /// The participant's account was deleted; `name` is the display name from now on.
    Forget {
        participant: Id<ids::Participant>,
        name: String,
    },
    StartRecording {
        draft: RecordingDraft,
        limits: RecordingLimits,
    },
    AttachTranscript {
        attached: AttachedTranscript,
        limits: RecordingLimits,
    },
    Recording {
        recording: Id<ids::Recording>,
        command: RecordingCommand,
        limits: RecordingLimits,
    },
    /// Applies the time limits of recordings. Safe to repeat.
    SweepRecordings {
        limits: RecordingLimits,
    },
}

/// Time limits of a meeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// How long a participant who joined and has not connected yet stays in the meeting.
    pub connect: Duration,
    /// How long a participant who lost the connection stays in the meeting.
    pub grace: Duration,
    /// How long a live meeting goes on while it is empty.
    pub empty: Duration,
    /// How long a live meeting may last in total.
    pub live: Duration,
}

/// A user or guest who joins a meeting. One that the meeting already knows, by account or id, keeps its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newcomer {
    /// The id of the participant that is created if there is none yet.
    pub id: Id<ids::Participant>,
    pub user_id: Option<Id<User>>,
    pub display_name: String,
    pub email: Option<String>,
}

/// Why a meeting refused a command. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// If-Match named another version than this, the current one. Checked before [`Refusal::InvalidState`].
    Stale {
        version: u64,
    },
    /// The command is not possible in this state of the meeting.
    InvalidState {
        status: MeetingStatus,
    },
    /// The meeting has no participant with that id.
    NoSuchParticipant,
    /// The participant was removed, and not invited again.
    Removed,
    /// The command is only for participants who have joined the meeting at least once.
    NeverJoined,
    /// The meeting has reached its maximum number of participants.
    Full,
    /// The host can't be removed: a meeting always has one.
    LastHost,
    Recording(RecordingRefusal),
}
