//! Request and response types of recordings.

use actors::ids::{self, Id, User};
use actors::meeting::{
    self, Digest, FailureReason, MAX_CHUNKS, RecordingMimeType, RecordingStatus, Stage, TranscriptStatus, UploadMode,
};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use strum::VariantArray;
use utoipa::ToSchema;

use crate::http::enumeration::Enumeration;
use crate::http::fields::{Field, InvalidValue, line, text};

impl Enumeration for RecordingStatus {}
impl Enumeration for UploadMode {}
impl Enumeration for TranscriptStatus {}

/// The most items of `missingChunks`.
const MAX_MISSING: usize = 1000;

/// The declared media type: one of RecordingMimeType that has sound; parameters such as `;codecs=opus` are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(as = DeclaredMimeType, value_type = String, example = "audio/webm;codecs=opus", max_length = 200)]
#[schema(pattern = "^ *(audio|video)/(webm|ogg|mp4|mpeg|wav|flac) *(;[ -~]*)?$")]
pub struct DeclaredMimeType(pub RecordingMimeType);

impl Field for DeclaredMimeType {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let declared = line(value, 1, 200)?;
        let plain = declared.split(';').next().unwrap_or_default().trim();
        let found = plain.parse().ok().filter(|found: &RecordingMimeType| found.has_sound());
        found.map(Self).ok_or_else(|| {
            let known = RecordingMimeType::VARIANTS.iter().filter(|known| known.has_sound());
            let known: Vec<&str> = known.map(|known| known.into_str()).collect();
            InvalidValue::value(format!("This must be one of {}.", known.join(", ")))
        })
    }
}

/// The host's declaration that everyone who can be heard consented, for a meeting that nobody joined: 1–2,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 2000)]
pub struct AttestationText(pub String);

impl Field for AttestationText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 2000).map(Self)
    }
}

/// A duration in seconds, with up to three decimals: 0–86,400.
#[derive(Debug, Clone, Copy, PartialEq, ToSchema)]
#[schema(as = DurationSeconds, value_type = f64, minimum = 0, maximum = 86400)]
pub struct DurationMillis(pub u64);

impl Field for DurationMillis {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        match value.as_f64() {
            Some(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(Self((seconds * 1000.0).round() as u64)),
            _ => Err(InvalidValue::value("This must be a number of seconds between 0 and 86,400.")),
        }
    }
}

/// The index of a chunk, counted from 0 without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(as = ChunkIndex, value_type = u32, minimum = 0, maximum = 65535)]
pub struct ChunkIndex(pub u32);

impl Field for ChunkIndex {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let index = value.as_u64().and_then(|index| u32::try_from(index).ok()).filter(|index| *index < MAX_CHUNKS);
        index.map(Self).ok_or_else(|| InvalidValue::value(format!("This must be between 0 and {}.", MAX_CHUNKS - 1)))
    }
}

/// A time at which a recording was paused.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PausedInterval {
    /// When the recording was paused.
    pub from: Time,
    /// Null: it is still paused, or was until the stop.
    #[schema(required)]
    pub to: Option<Time>,
}

/// A recording of a meeting.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Recording)]
pub struct RecordingView {
    pub id: Id<ids::Recording>,
    pub meeting_id: Id<meeting::Meeting>,
    pub status: RecordingStatus,
    /// The participant whose voice alone is recorded. Null: a recording of everyone.
    #[schema(required)]
    pub track_participant_id: Option<Id<ids::Participant>>,
    /// Paused while the consent of the participants in `pausedFor` is missing: no chunks of that time are accepted.
    pub paused: bool,
    /// Ids of the participants whose consent the recording waits for; empty unless `paused`.
    pub paused_for: Vec<Id<ids::Participant>>,
    /// When the recording was paused, in order.
    pub paused_intervals: Vec<PausedInterval>,
    pub upload_mode: UploadMode,
    /// `text/vtt` or `application/x-subrip`: a transcript that was attached, without sound.
    pub mime_type: RecordingMimeType,
    /// Size of the content once it is assembled, until then of what is stored: an upload as one file resumes there.
    pub size_bytes: u64,
    /// Number of stored chunks; 0 for an upload as one file, like `nextChunkIndex`.
    pub chunk_count: u32,
    /// The chunks that are missing before the last one, as far as it is known: the first 1,000 of them.
    pub missing_chunks: Vec<u32>,
    /// All chunks before this one are stored.
    pub next_chunk_index: u32,
    /// Duration of the content, in seconds.
    #[schema(required)]
    pub duration_seconds: Option<f64>,
    /// SHA-256 of the content, hexadecimal.
    #[schema(required)]
    pub sha256: Option<String>,
    /// Why the recording failed.
    #[schema(required)]
    pub error_message: Option<String>,
    pub transcript_status: TranscriptStatus,
    /// Id of the account that started it.
    pub started_by_id: Id<User>,
    /// When the recording was started. Times of chunks count from here.
    pub started_at: Time,
    /// When the recording was stopped; null while it is ACTIVE.
    #[schema(required)]
    pub stopped_at: Option<Time>,
    /// When the content could first be read; null until then.
    #[schema(required)]
    pub ready_at: Option<Time>,
    /// When the content is deleted, or was. Null: it is kept.
    #[schema(required)]
    pub expires_at: Option<Time>,
    #[schema(required)]
    pub error_code: Option<FailureReason>,
    /// Whether everyone is heard in one recording, so that it does not tell who speaks.
    pub mixed: bool,
}

impl RecordingView {
    #[must_use]
    pub fn of(meeting_id: Id<meeting::Meeting>, recording: &meeting::Recording) -> Self {
        let (received, content) = (&recording.received, recording.content());
        let is_chunked = recording.upload_mode == UploadMode::Chunked;
        let is_open = content.is_none();
        let missing = recording.missing().filter(|_| is_chunked && is_open).take(MAX_MISSING).collect();
        let reason = match recording.stage {
            Stage::Failed { reason, .. } => Some(reason),
            _ => None,
        };
        let interval = |pause: &meeting::Pause| PausedInterval { from: pause.from, to: pause.to };
        Self {
            id: recording.id,
            meeting_id,
            status: recording.status(),
            track_participant_id: recording.track,
            paused: recording.pauses.is_paused(),
            paused_for: recording.pauses.lacking.iter().copied().collect(),
            paused_intervals: recording.pauses.all.iter().map(interval).collect(),
            upload_mode: recording.upload_mode,
            mime_type: recording.mime_type,
            size_bytes: content.map_or(received.bytes, |content| content.bytes),
            chunk_count: if is_chunked { received.count() } else { 0 },
            missing_chunks: missing,
            next_chunk_index: if is_chunked { received.next } else { 0 },
            duration_seconds: content.and_then(|content| content.duration_ms).map(seconds),
            sha256: content.map(|content| content.sha256.to_string()),
            error_message: reason.map(|reason| sentence(reason, recording)),
            transcript_status: recording.transcript,
            started_by_id: recording.started_by,
            started_at: recording.started_at,
            stopped_at: recording.stopped_at(),
            ready_at: recording.ready_at(),
            expires_at: recording.expires_at(),
            error_code: reason,
            mixed: recording.track.is_none(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a recording lasts less than 2^53 milliseconds")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

/// How many missing chunks an error message lists.
const LISTED: usize = 20;

fn sentence(reason: FailureReason, recording: &meeting::Recording) -> String {
    match reason {
        FailureReason::NoContent => "Nothing was uploaded.".to_owned(),
        FailureReason::MissingChunks => {
            let mut missing: Vec<String> =
                recording.missing().take(LISTED + 1).map(|index| index.to_string()).collect();
            let more = if missing.len() > LISTED { " and more" } else { "" };
            missing.truncate(LISTED);
            format!("Chunks are missing: {}{more}. They are accepted within a day of the stop.", missing.join(", "))
        }
        FailureReason::Abandoned => "The upload was given up: nothing arrived for a day.".to_owned(),
        FailureReason::WrongType => format!("The content is not {}.", recording.mime_type.into_str()),
        FailureReason::Damaged => "What was uploaded was changed or lost in the store.".to_owned(),
    }
}

/// What became of an uploaded chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChunkUploadResult {
    pub recording_id: Id<ids::Recording>,
    /// The place of the chunk.
    pub chunk_index: u32,
    /// The size of the chunk in bytes.
    pub size_bytes: u64,
    /// SHA-256 of the chunk, hexadecimal.
    pub sha256: String,
    /// The same bytes were stored under this index before.
    pub duplicate: bool,
    /// All chunks before this one are stored.
    pub next_chunk_index: u32,
    /// The chunks that are missing before the last one, as far as it is known: the first 1,000 of them.
    pub missing_chunks: Vec<u32>,
}

impl ChunkUploadResult {
    #[must_use]
    pub fn of(recording: &meeting::Recording, chunk: &meeting::Chunk, duplicate: bool) -> Self {
        let sha256: Digest = chunk.sha256;
        Self {
            recording_id: recording.id,
            chunk_index: chunk.index,
            size_bytes: chunk.bytes,
            sha256: sha256.to_string(),
            duplicate,
            next_chunk_index: recording.received.next,
            missing_chunks: recording.missing().take(MAX_MISSING).collect(),
        }
    }
}

/// The payload of `recording.deleted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeletedRecording {
    pub id: Id<ids::Recording>,
    pub meeting_id: Id<meeting::Meeting>,
}
