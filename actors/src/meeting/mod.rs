//! A meeting: scheduled, live, ended or cancelled, with its participants. Pure.
//!
//! ```text
//!   SCHEDULED --start--> LIVE --end--> ENDED
//!       |                  `-- update stays LIVE
//!       |-- update stays SCHEDULED
//!       `----cancel--> CANCELLED
//! ```
//!
//! Repeating start, end or cancel after it has happened changes nothing and is not an error. Any other transition that
//! is not in the diagram is refused. Modules: `state`, `participant`, `link` and `consent` are
//! what there is; `decide` (the life cycle), `people` (who joins and leaves), `presence` (who is connected) and
//! `answers` (what they agreed to) are what commands do to it; `recording` has both for recordings.
//!
//! Only changes to the meeting itself raise its version; changes to its participants have a revision and an event of
//! their own. Deliberately absent: lengths and syntax (checked by the HTTP layer), permissions (checked by `access`).

mod answers;
mod command;
mod consent;
mod decide;
mod edit;
mod event;
mod link;
mod participant;
mod people;
mod presence;
mod recording;
mod state;

pub use command::{Command, Newcomer, Refusal, TimeLimits};
pub use consent::{Consent, ConsentAnswer, ConsentDecision, ConsentScope, Digest, Ledger, LedgerEntry, Wording};
pub use edit::MeetingEdit;
pub use event::Event;
pub use link::{Link, MediaSession, Observation};
pub use participant::{MeetingRole, Participant, ParticipantStatus, People, Presence};

pub use recording::{
    AttachedTranscript, Attestation, Chunk, ChunkSpan, FailureReason, MAX_CHUNKS, Pause, Pauses, ReceivedChunks,
    Recording, RecordingBasis, RecordingCommand, RecordingContent, RecordingDraft, RecordingEvent, RecordingLimits,
    RecordingMimeType, RecordingRefusal, RecordingStatus, RecordingWait, Recordings, Stage, TranscriptStatus,
    UploadMode,
};
pub use state::{ConsentPolicy, EndReason, Meeting, MeetingDraft, MeetingStatus, State};
