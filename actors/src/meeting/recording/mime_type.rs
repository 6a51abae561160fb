//! What a recording is made of: sound, or a transcript alone.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::sql_text;

/// The media type of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(ascii_case_insensitive, const_into_str)]
pub enum RecordingMimeType {
    #[serde(rename = "audio/webm")]
    #[strum(serialize = "audio/webm")]
    AudioWebm,
    #[serde(rename = "audio/ogg")]
    #[strum(serialize = "audio/ogg")]
    AudioOgg,
    #[serde(rename = "audio/mp4")]
    #[strum(serialize = "audio/mp4")]
    AudioMp4,
    #[serde(rename = "audio/mpeg")]
    #[strum(serialize = "audio/mpeg")]
    AudioMpeg,
    #[serde(rename = "audio/wav")]
    #[strum(serialize = "audio/wav")]
    AudioWav,
    #[serde(rename = "audio/flac")]
    #[strum(serialize = "audio/flac")]
    AudioFlac,
    #[serde(rename = "video/webm")]
    #[strum(serialize = "video/webm")]
    VideoWebm,
    #[serde(rename = "video/mp4")]
    #[strum(serialize = "video/mp4")]
    VideoMp4,
    /// A transcript that was attached, without sound.
    #[serde(rename = "text/vtt")]
    #[strum(serialize = "text/vtt")]
    TextVtt,
    /// As `TextVtt`.
    #[serde(rename = "application/x-subrip")]
    #[strum(serialize = "application/x-subrip")]
    Subrip,
}

impl RecordingMimeType {
    /// Whether there is something to hear in it. Only such content is recorded and uploaded as a recording.
    #[must_use]
    pub const fn has_sound(self) -> bool {
        !matches!(self, Self::TextVtt | Self::Subrip)
    }
}

sql_text! { RecordingMimeType }
