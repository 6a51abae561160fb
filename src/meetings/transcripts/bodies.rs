//! The bodies and queries of requests about transcripts.

use actors::ids::{self, Id};
use utoipa::ToSchema;

use super::formats::TranscriptFormat;
use super::model::{ModelName, SegmentText, SpeakerName, SpokenLanguage, VersionNumber};
use crate::http::fields::Fields;
use crate::http::input::{Body, QueriedVersion, Query, QueryFlag};

/// Which version is asked for, and how.
#[derive(Debug, Clone, Copy, Query)]
pub struct TranscriptQuery {
    /// All but JSON return a file. Absent: JSON.
    #[query(default, enumeration)]
    pub format: TranscriptFormat,
    /// The number of a version. Absent: the newest complete one.
    #[query(as = QueriedVersion)]
    pub version: Option<u32>,
    /// Whether the transcripts of recordings that were made at the same time are woven in, by time. Absent: no.
    #[query(as = QueryFlag, default)]
    pub woven: bool,
}

/// How to transcribe.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct TranscribeAgain {
    /// The language that is spoken. Absent: it is detected.
    pub language: Option<SpokenLanguage>,
    /// Absent: the model of the server's settings.
    pub model: Option<ModelName>,
}

/// Who speaks: either a participant of the meeting or a name.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct CorrectedSpeaker {
    /// A participant of the meeting; null for somebody who is only named.
    pub participant_id: Option<Id<ids::Participant>>,
    pub name: Option<SpeakerName>,
    /// Whether all segments of the same speaker change too. By default this one alone changes.
    #[schema(required = false)]
    #[body(default)]
    pub everywhere: bool,
}

/// A text, a speaker, or both.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(check = Self::check)]
pub struct CorrectSegment {
    /// The corrected words; absent: unchanged.
    pub text: Option<SegmentText>,
    #[body(object)]
    pub speaker: Option<CorrectedSpeaker>,
    /// The version that the correction was made for: it is refused once another one is shown. Absent: whichever is shown.
    pub version: Option<VersionNumber>,
}

impl CorrectSegment {
    fn check(&self, fields: &mut Fields) {
        if self.text.is_none() && self.speaker.is_none() {
            fields.reject("Name at least one field to change.");
        }
    }
}
