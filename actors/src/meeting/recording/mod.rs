//! A recording of a meeting: uploaded in chunks while the meeting goes on, or as one file; then assembled and kept.
//!
//! ```text
//!   start --> ACTIVE --stop--> STOPPED --all chunks are there--> FINALIZING --assembled--> READY --retention--> EXPIRED
//!               |                 |                                  ^
//!               |                 `--chunks are missing--> FAILED ---'  late chunks
//!               `--given up--> FAILED
//! ```
//!
//! Modules: this one, `received` and `pauses` hold what there is; `uploads` (start, chunks, files), `ends` (stop, assembly,
//! deletion, time limits), `transcript` and `permission` (consent) are what commands do to it. The bytes themselves are stored by the
//! application, before the command that reports them.

mod collection;
mod decide;
mod ends;
mod mime_type;
mod pauses;
mod permission;
mod received;
mod transcript;
mod uploads;

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use super::consent::Digest;
use crate::event_kind::EventKind;
use crate::ids::{self, Id, User};
use crate::time::Time;
use crate::{sql_text, wire_enum};

pub use collection::Recordings;
pub use mime_type::RecordingMimeType;
pub use pauses::{Pause, Pauses};
pub use received::{Chunk, ChunkSpan, ReceivedChunks};
pub use transcript::TranscriptStatus;

/// A recording of a meeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub id: Id<ids::Recording>,
    /// The participant whose voice alone is recorded; `None` for a recording of everyone.
    pub track: Option<Id<ids::Participant>>,
    pub upload_mode: UploadMode,
    pub mime_type: RecordingMimeType,
    pub basis: RecordingBasis,
    pub stage: Stage,
    /// The chunks that are stored. For [`UploadMode::SingleFile`], the parts in which the file was stored.
    pub received: ReceivedChunks,
    /// The upload of the file that may add parts: each one that begins or resumes gets the next number.
    pub upload: u32,
    /// The size of the whole file as its upload announced it.
    pub announced_bytes: Option<u64>,
    /// The duration that the client named when it stopped.
    pub announced_ms: Option<u64>,
    pub pauses: Pauses,
    pub transcript: TranscriptStatus,
    pub started_by: Id<User>,
    pub started_at: Time,
}

/// What a recording is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum RecordingBasis {
    /// It is recorded while the meeting goes on: it pauses while the consent of somebody in the meeting is missing.
    Live,
    /// It was recorded elsewhere: everyone who ever joined must have consented.
    Import,
}

sql_text! { RecordingBasis }

/// The stage of a recording, with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    Active,
    Stopped {
        stopped_at: Time,
        /// The last chunk, once the client has named it.
        last: Option<u32>,
    },
    /// Being assembled.
    Finalizing {
        stopped_at: Time,
    },
    Ready {
        stopped_at: Time,
        ready_at: Time,
        content: RecordingContent,
        /// When the content is deleted.
        expires_at: Option<Time>,
    },
    Failed {
        stopped_at: Time,
        reason: FailureReason,
        /// As in [`Stage::Stopped`].
        last: Option<u32>,
        /// Whether chunks are still stored, so that late ones can complete the recording.
        repairable: bool,
    },
    Expired {
        stopped_at: Time,
        ready_at: Time,
        content: RecordingContent,
        expired_at: Time,
    },
}

/// The assembled content of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingContent {
    pub sha256: Digest,
    pub bytes: u64,
    /// `None` if neither the content nor the client tells it.
    pub duration_ms: Option<u64>,
}

wire_enum! {
    /// The status of a recording.
    pub enum RecordingStatus {
        Active,
        Stopped,
        Finalizing,
        Ready,
        Failed,
        Expired,
    }
}

wire_enum! {
    /// How a recording is uploaded.
    pub enum UploadMode {
        Chunked,
        SingleFile,
    }
}

/// Why a recording failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum FailureReason {
    /// Nothing was uploaded.
    NoContent,
    /// Chunks were still missing ten minutes after the stop.
    MissingChunks,
    /// The upload was given up.
    Abandoned,
    /// The content is not of the declared type.
    WrongType,
    /// What was stored was changed or lost.
    Damaged,
}

sql_text! { FailureReason }

/// Size and time limits of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingLimits {
    /// Recordings of one meeting.
    pub per_meeting: usize,
    /// The size of a recording.
    pub bytes: u64,
    /// How long a recording may last.
    pub longest: Duration,
    /// How long after the last chunk a stopped recording is assembled whose last chunk was not named.
    pub quiet: Duration,
    /// How long after the stop chunks may be missing.
    pub late: Duration,
    /// How long after the stop late chunks are kept and accepted for a recording that failed.
    pub repair: Duration,
    /// After how long without a chunk an upload that does not belong to a live meeting is given up.
    pub abandoned: Duration,
    /// How long content with sound is kept; `None`: until it is deleted.
    pub kept: Option<Duration>,
    /// Whether recordings are transcribed once they are ready.
    pub transcribed: bool,
    /// Whether the content is deleted as soon as there is a transcript.
    pub only_until_transcribed: bool,
    /// How long the file of a transcript that was attached is kept, as transcripts are; `None`: until it is deleted.
    pub transcripts_kept: Option<Duration>,
}

/// What a recording waits for; a sweep finds it by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
pub enum RecordingWait {
    /// [`RecordingLimits::longest`].
    Longest,
    /// [`RecordingLimits::abandoned`].
    Abandoned,
    /// [`RecordingLimits::quiet`].
    Quiet,
    /// [`RecordingLimits::late`].
    Late,
    /// [`RecordingLimits::repair`].
    Repair,
    /// The end of retention itself.
    Expiry,
}

sql_text! { RecordingWait }

/// The most chunks of a recording: 12 hours in chunks of two thirds of a second.
pub const MAX_CHUNKS: u32 = 65_536;

/// The data of a new recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingDraft {
    pub id: Id<ids::Recording>,
    pub track: Option<Id<ids::Participant>>,
    pub upload_mode: UploadMode,
    pub mime_type: RecordingMimeType,
    pub by: Id<User>,
    /// Needed for a recording of a meeting that nobody ever joined.
    pub attestation: Option<Attestation>,
}

/// A transcript in a file that another program made, which is stored by now: it becomes a recording without sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedTranscript {
    pub id: Id<ids::Recording>,
    /// One that has no sound.
    pub mime_type: RecordingMimeType,
    /// The file, with the time at which its last words end as its duration.
    pub content: RecordingContent,
    pub by: Id<User>,
    /// Needed for a meeting that nobody ever joined.
    pub attestation: Option<Attestation>,
}

/// The host's declaration that everyone who can be heard has consented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    pub text: String,
    pub language: String,
    pub user_agent: String,
}

/// A command about one recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingCommand {
    /// A chunk is stored.
    TakeChunk {
        chunk: Chunk,
    },
    /// The upload as one file begins at 0, or resumes where the stored parts end.
    BeginFile {
        offset: u64,
        /// The size of the whole file, if it is known.
        total: Option<u64>,
    },
    /// A part of the file is stored; `upload` is the number that [`RecordingCommand::BeginFile`] gave.
    TakePart {
        upload: u32,
        part: Chunk,
    },
    /// The upload sent something else than it meant to: the file ends again after so many parts and bytes.
    RewindFile {
        upload: u32,
        parts: u32,
        bytes: u64,
    },
    Stop {
        announced_ms: Option<u64>,
        last: Option<u32>,
    },
    /// The recording is assembled, or can't be.
    Finish {
        outcome: Result<RecordingContent, FailureReason>,
    },
    /// The state of its transcript has changed.
    Transcribe {
        transcript: TranscriptStatus,
    },
    /// What its transcript says has changed.
    TellTranscript,
    Delete,
}

/// What happened to a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingEvent {
    Started,
    ChunkStored(Chunk),
    /// An upload of the file began or was taken back: only the parts that the recording still counts are its own.
    FileRewound,
    Stopped,
    /// All that is needed is stored: the recording is to be assembled.
    Finalizing,
    Ready,
    /// A transcript was attached, as a recording that is READY: it is to be read.
    Attached,
    Failed,
    /// It begins to lack consent. Once for each pause, however many lack it.
    Paused,
    /// It is still paused, and the consent of others is missing than before.
    WaitsForOthers,
    Resumed,
    /// The state of its transcript has changed.
    Transcript,
    /// What its transcript says has changed: nothing that the meeting itself knows.
    TranscriptChanged,
    Expired,
    Deleted,
}

impl RecordingEvent {
    /// Returns the kind of the event.
    pub(super) const fn kind(self) -> EventKind {
        match self {
            Self::Started => EventKind::RecordingStarted,
            Self::ChunkStored(_) | Self::FileRewound => EventKind::RecordingChunk,
            Self::Stopped | Self::Finalizing => EventKind::RecordingStopped,
            Self::Ready | Self::Attached => EventKind::RecordingReady,
            Self::Failed => EventKind::RecordingFailed,
            Self::Paused => EventKind::RecordingPaused,
            Self::WaitsForOthers => EventKind::RecordingUpdated,
            Self::Resumed => EventKind::RecordingResumed,
            Self::Transcript => EventKind::RecordingTranscript,
            Self::TranscriptChanged => EventKind::TranscriptChanged,
            Self::Expired => EventKind::RecordingExpired,
            Self::Deleted => EventKind::RecordingDeleted,
        }
    }
}

/// Why a meeting refused a command about a recording. Nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordingRefusal {
    /// The meeting has no recording with that id.
    NoSuchRecording,
    /// The command is not possible in this status of the recording.
    InvalidState { status: RecordingStatus },
    /// Another recording of the same track has not ended.
    Unfinished,
    /// The meeting has as many recordings as it may have.
    TooMany,
    /// Somebody whose consent is needed has not given it.
    ConsentRequired,
    /// Nobody ever joined, so the host has to declare that everyone consented.
    AttestationRequired,
    /// Only a host or co-host of the meeting can declare that everyone consented.
    NotTheHost,
    /// The track is of nobody in the meeting.
    NoSuchTrack,
    /// The recording is uploaded in the other mode.
    OtherMode { mode: UploadMode },
    /// A chunk with this index is stored.
    ChunkTaken,
    /// The chunk lies behind the last one, or the last one before a stored one.
    BehindTheLast { last: u32 },
    /// The recording is paused, or was at some time of the chunk.
    Paused,
    /// The chunk does not say when it was recorded.
    SpanRequired,
    /// The chunk ends before it begins, or in the future.
    SpanInvalid,
    /// The recording would be larger than it may be.
    TooLarge,
    /// The recording would last longer than it may.
    TooLong,
    /// The upload does not go on where the stored parts end.
    OtherOffset { bytes: u64 },
    /// A newer upload of the file has begun.
    Superseded,
    /// The file is not complete.
    Incomplete { bytes: u64, of: u64 },
}

impl Recording {
    #[must_use]
    pub const fn status(&self) -> RecordingStatus {
        match self.stage {
            Stage::Active => RecordingStatus::Active,
            Stage::Stopped { .. } => RecordingStatus::Stopped,
            Stage::Finalizing { .. } => RecordingStatus::Finalizing,
            Stage::Ready { .. } => RecordingStatus::Ready,
            Stage::Failed { .. } => RecordingStatus::Failed,
            Stage::Expired { .. } => RecordingStatus::Expired,
        }
    }

    /// Whether it is a transcript that was attached: there is nothing to hear.
    #[must_use]
    pub const fn is_attached(&self) -> bool {
        !self.mime_type.has_sound()
    }

    /// Whether its end is still open, so that no second recording of the same track may start.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        matches!(self.stage, Stage::Active | Stage::Stopped { .. } | Stage::Finalizing { .. })
    }

    /// Whether it failed, but late chunks can complete it.
    #[must_use]
    pub const fn is_repairable(&self) -> bool {
        matches!(self.stage, Stage::Failed { repairable: true, .. })
    }

    #[must_use]
    pub const fn stopped_at(&self) -> Option<Time> {
        match self.stage {
            Stage::Active => None,
            Stage::Stopped { stopped_at, .. }
            | Stage::Finalizing { stopped_at }
            | Stage::Ready { stopped_at, .. }
            | Stage::Failed { stopped_at, .. }
            | Stage::Expired { stopped_at, .. } => Some(stopped_at),
        }
    }

    #[must_use]
    pub const fn ready_at(&self) -> Option<Time> {
        match self.stage {
            Stage::Ready { ready_at, .. } | Stage::Expired { ready_at, .. } => Some(ready_at),
            Stage::Active | Stage::Stopped { .. } | Stage::Finalizing { .. } | Stage::Failed { .. } => None,
        }
    }

    /// Returns the assembled content, also of a recording whose content was deleted since.
    #[must_use]
    pub const fn content(&self) -> Option<&RecordingContent> {
        match &self.stage {
            Stage::Ready { content, .. } | Stage::Expired { content, .. } => Some(content),
            Stage::Active | Stage::Stopped { .. } | Stage::Finalizing { .. } | Stage::Failed { .. } => None,
        }
    }

    #[must_use]
    pub const fn expires_at(&self) -> Option<Time> {
        match self.stage {
            Stage::Ready { expires_at, .. } => expires_at,
            Stage::Expired { expired_at, .. } => Some(expired_at),
            Stage::Active | Stage::Stopped { .. } | Stage::Finalizing { .. } | Stage::Failed { .. } => None,
        }
    }

    #[must_use]
    pub const fn last_chunk(&self) -> Option<u32> {
        match self.stage {
            Stage::Stopped { last, .. } | Stage::Failed { last, .. } => last,
            Stage::Active | Stage::Finalizing { .. } | Stage::Ready { .. } | Stage::Expired { .. } => None,
        }
    }

    /// Returns the chunks that are known to be missing: those before the last one, and before the highest stored one.
    pub fn missing(&self) -> impl Iterator<Item = u32> {
        self.received.missing(self.last_chunk())
    }

    /// Returns what the recording waits for, and since when; [`RecordingWait::Expiry`] is due at that time itself.
    #[must_use]
    pub fn wait(&self) -> Option<(RecordingWait, Time)> {
        let latest = |since: Time| self.received.latest_at.map_or(since, |at| at.max(since));
        match self.stage {
            Stage::Active if self.basis == RecordingBasis::Live => Some((RecordingWait::Longest, self.started_at)),
            Stage::Active => Some((RecordingWait::Abandoned, latest(self.started_at))),
            Stage::Stopped { stopped_at, last: None } => Some((RecordingWait::Quiet, latest(stopped_at))),
            Stage::Stopped { stopped_at, last: Some(_) } => Some((RecordingWait::Late, stopped_at)),
            Stage::Failed { stopped_at, repairable: true, .. } => Some((RecordingWait::Repair, stopped_at)),
            Stage::Ready { expires_at: Some(expires_at), .. } => Some((RecordingWait::Expiry, expires_at)),
            Stage::Finalizing { .. } | Stage::Ready { .. } | Stage::Failed { .. } | Stage::Expired { .. } => None,
        }
    }
}

impl RecordingLimits {
    /// Returns how long a wait may last.
    #[must_use]
    pub const fn of(&self, wait: RecordingWait) -> Duration {
        match wait {
            RecordingWait::Longest => self.longest,
            RecordingWait::Abandoned => self.abandoned,
            RecordingWait::Quiet => self.quiet,
            RecordingWait::Late => self.late,
            RecordingWait::Repair => self.repair,
            RecordingWait::Expiry => Duration::ZERO,
        }
    }
}

/// The participants whose consent a recording lacks.
type Lacking = BTreeSet<Id<ids::Participant>>;
