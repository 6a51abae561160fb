//! Transcripts, and their request and response types.

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, Recording, TranscriptStatus};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::fields::{Field, InvalidValue, line, text};
use crate::models;

/// A version of the transcript of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptVersion {
    pub id: Id<ids::Transcript>,
    pub recording_id: Id<ids::Recording>,
    /// From 1.
    pub number: u32,
    pub status: TranscriptStatus,
    pub engine: String,
    pub model: String,
    pub asked_language: Option<String>,
    pub language: Option<String>,
    /// Everything before is transcribed, in so many segments.
    pub done_ms: u64,
    pub segment_count: u32,
    /// How often the recogniser crashed.
    pub crashes: u32,
    pub error_message: Option<String>,
    pub created_by: Option<Id<User>>,
    pub created_at: Time,
    /// The size of the file that it was attached as to a recording, which counts for its project.
    pub attached_bytes: Option<u64>,
}

impl TranscriptVersion {
    /// Whether it is still to be made.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        matches!(
            self.status,
            TranscriptStatus::Queued | TranscriptStatus::WaitingForModel | TranscriptStatus::Processing
        )
    }
}

/// Returns the version that is shown: the newest complete one.
#[must_use]
pub fn current(versions: &[TranscriptVersion]) -> Option<&TranscriptVersion> {
    let ready = versions.iter().filter(|version| version.status == TranscriptStatus::Ready);
    ready.max_by_key(|version| version.number)
}

/// Returns the state of a transcript with these versions: READY as soon as one is, else that of the newest.
#[must_use]
pub fn overall(versions: &[TranscriptVersion]) -> TranscriptStatus {
    let newest = || versions.iter().max_by_key(|version| version.number);
    current(versions).or_else(newest).map_or(TranscriptStatus::None, |version| version.status)
}

/// A stored segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSegment {
    pub position: u32,
    pub start_ms: u64,
    pub end_ms: u64,
    pub text: String,
    /// In thousandths.
    pub confidence: u32,
    /// Who speaks, where somebody said so.
    pub speaker: Option<NamedSpeaker>,
    pub correction: Option<Correction>,
}

/// A speaker whom somebody named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedSpeaker {
    Participant(Id<ids::Participant>),
    Name(String),
}

/// What is known of the newest correction of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The text as it was recognised, if the text was corrected.
    pub heard_text: Option<String>,
    pub by: Id<User>,
    pub at: Time,
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Speaker {
    /// The participant, where it is known.
    #[schema(required)]
    pub participant_id: Option<Id<ids::Participant>>,
    /// The name of the participant, one that an analyst gave, or `Speaker 1`, `Speaker 2` … in the order in which their
    /// voices are heard.
    pub name: String,
}

/// A segment of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptSegment {
    /// Another one than the transcript's where recordings are woven.
    pub recording_id: Id<ids::Recording>,
    /// From 0, in the order of the times in its recording.
    pub index: u32,
    /// When it begins, in milliseconds since the beginning of the content. Where recordings are woven: since the beginning
    /// of the one that was asked for, pauses included.
    pub start_ms: u64,
    /// End in milliseconds since the beginning of the recording.
    pub end_ms: u64,
    pub speaker: Speaker,
    /// The words, with any correction.
    pub text: String,
    /// From 0 to 1: how sure the recogniser is.
    pub confidence: f64,
    /// The text as it was recognised, if it was corrected.
    #[schema(required)]
    pub heard_text: Option<String>,
    /// Who corrected it last, and when.
    #[schema(required)]
    pub corrected_by_id: Option<Id<User>>,
    /// When a person last corrected the segment; null if nobody did.
    #[schema(required)]
    pub corrected_at: Option<Time>,
}

impl TranscriptSegment {
    #[must_use]
    pub fn of(meeting: &Meeting, recording: &Recording, segment: StoredSegment) -> Self {
        let correction = segment.correction.as_ref();
        Self {
            recording_id: recording.id,
            index: segment.position,
            start_ms: segment.start_ms,
            end_ms: segment.end_ms,
            speaker: speaker(meeting, recording, segment.speaker.as_ref()),
            text: segment.text,
            confidence: f64::from(segment.confidence) / 1000.0,
            heard_text: correction.and_then(|correction| correction.heard_text.clone()),
            corrected_by_id: correction.map(|correction| correction.by),
            corrected_at: correction.map(|correction| correction.at),
        }
    }
}

/// The name of whom nobody named: the voice that is heard first, or everyone where voices are not told apart.
pub const SOMEBODY: &str = "Speaker 1";

fn speaker(meeting: &Meeting, recording: &Recording, named: Option<&NamedSpeaker>) -> Speaker {
    let participant_id = match named {
        Some(NamedSpeaker::Name(name)) => return Speaker { participant_id: None, name: name.clone() },
        Some(NamedSpeaker::Participant(id)) => Some(*id),
        None => recording.track,
    };
    let participant = participant_id.and_then(|id| meeting.participants.get(&id));
    Speaker { participant_id, name: participant.map_or(SOMEBODY, |one| one.display_name.as_str()).to_owned() }
}

/// The transcript of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    pub recording_id: Id<ids::Recording>,
    /// The number of the version.
    pub version: u32,
    /// The language that is spoken, such as `en`. Null: there was no speech to tell it by.
    #[schema(required)]
    pub language: Option<String>,
    /// The program that recognised the speech; `attached`: it came as a file.
    pub engine: String,
    /// The model that recognised the speech; the format of a file that was attached, `vtt` or `srt`.
    pub model: String,
    /// What was said, in order.
    pub segments: Vec<TranscriptSegment>,
    /// Whether it can be heard: not where only the transcript was attached, and not once the recording has expired.
    pub has_sound: bool,
}

/// The event for a transcript that says something else: it is to be read again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedTranscript {
    pub recording_id: Id<ids::Recording>,
    pub meeting_id: Id<Meeting>,
}

/// A version of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TranscriptVersion)]
pub struct TranscriptVersionView {
    /// From 1.
    pub number: u32,
    /// The program that recognises the speech; `attached`: it came as a file.
    pub engine: String,
    /// The model that recognises the speech; the format of a file that was attached, `vtt` or `srt`.
    pub model: String,
    /// The language that is spoken or was asked for. Null: not known yet.
    #[schema(required)]
    pub language: Option<String>,
    pub status: TranscriptStatus,
    /// Why it failed, or what it waits for.
    #[schema(required)]
    pub error_message: Option<String>,
    /// How much of the recording is transcribed, in seconds.
    pub done_seconds: f64,
    pub created_at: Time,
    /// Who asked for it, or attached it. Null: it was made when the recording was complete.
    #[schema(required)]
    pub created_by: Option<Id<User>>,
    /// Whether this version is shown.
    pub is_current: bool,
}

impl TranscriptVersionView {
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a recording lasts less than 2^53 milliseconds")]
    pub fn of(version: TranscriptVersion, is_current: bool) -> Self {
        Self {
            number: version.number,
            engine: version.engine,
            error_message: match version.status {
                TranscriptStatus::WaitingForModel => Some(to_install(&version.model)),
                _ => version.error_message,
            },
            model: version.model,
            language: version.language.or(version.asked_language),
            status: version.status,
            done_seconds: version.done_ms as f64 / 1000.0,
            created_at: version.created_at,
            created_by: version.created_by,
            is_current,
        }
    }
}

/// Says how to install a model.
#[must_use]
pub fn to_install(model: &str) -> String {
    format!("The model {model} is not installed on the server. Install it there with: colloquy models install {model}")
}

/// The code of a language: two or three letters, such as `en`.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 2, max_length = 3, pattern = "^[A-Za-z]{2,3}$", example = "en")]
pub struct SpokenLanguage(pub String);

impl Field for SpokenLanguage {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let code = value
            .as_str()
            .filter(|code| (2..=3).contains(&code.len()) && code.bytes().all(|letter| letter.is_ascii_alphabetic()));
        let code = code.ok_or_else(|| InvalidValue::value("This must be the code of a language, such as en."))?;
        Ok(Self(code.to_ascii_lowercase()))
    }
}

/// The name of a model, such as `whisper-base`: letters, digits, dots and hyphens.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$", example = "whisper-base")]
pub struct ModelName(pub String);

impl Field for ModelName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let name = value.as_str().filter(|name| models::is_name(name));
        let name =
            name.ok_or_else(|| InvalidValue::value("This must be the name of a model, such as whisper-base."))?;
        Ok(Self(name.to_owned()))
    }
}

/// The number of a version, from 1, in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(minimum = 1, example = 1)]
pub struct VersionNumber(pub u32);

impl Field for VersionNumber {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1);
        number.map(Self).ok_or_else(|| InvalidValue::value("This must be the number of a version."))
    }
}

/// The text of a segment: 1–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 5000)]
pub struct SegmentText(pub String);

impl Field for SegmentText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5000).map(Self)
    }
}

/// The name of a speaker: 1–120 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 120)]
pub struct SpeakerName(pub String);

impl Field for SpeakerName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 120).map(Self)
    }
}
