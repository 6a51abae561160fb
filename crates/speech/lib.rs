//! Speech recognition: the sound of a recording in, segments with times, words and confidence out.
//!
//! ```text
//! server: Transcriber ── LocalTranscriber: child process ── Sound ─► Activity ─► windows of speech ─► Whisper ─┐
//!         HeardSink  ◄── one batch for each window: segments, how far it is ◄───────────────────────────┘
//! ```
//! A batch is complete: what it covers is never transcribed again, so that a killed transcription resumes behind the last
//! stored batch. `media` measures how long a recording lasts.

mod activity;
mod child;
mod cutting;
mod hearing;
pub mod media;
mod parent;
mod sound;
mod times;
mod turns;
mod voice_groups;

use std::fs::File;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use child::{SpeechTask, VERB, child_main};
pub use cutting::{CutRequest, MAX_PIECE_MS, SoundPiece};
pub use hearing::transcribe;
pub use parent::{LocalTranscriber, PieceSink, SoundCutter, TurnFinder};
pub use turns::{TurnsRequest, VoiceTurn, turns};

#[cfg(test)]
mod tests;

/// What a transcriber needs to know besides the recording itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpeechRequest {
    /// The folder of the model; only the embedded engine needs it.
    pub model: PathBuf,
    /// The name of the model; only a speech service needs it.
    pub model_name: String,
    /// The language that is spoken; `None`: it is detected.
    pub language: Option<String>,
    /// Where to begin, because everything before is transcribed.
    pub from_ms: u64,
    /// Words that are likely to be said.
    pub hint: Option<String>,
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeardBatch {
    /// Everything before this time is transcribed.
    pub done_ms: u64,
    /// The language that is spoken, once it is known.
    pub language: Option<String>,
    pub segments: Vec<HeardSegment>,
    /// Whether the segments stay as they are. A transcriber of live speech may send drafts that its next batch replaces.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// What was said without a longer pause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeardSegment {
    pub start_ms: u64,
    pub end_ms: u64,
    pub text: String,
    /// From 0 to 1.
    pub confidence: f32,
}

/// Receives a transcript while it is made.
#[async_trait]
pub trait HeardSink: Send {
    /// Whether more of the recording may be listened to. It is asked before any of it leaves this machine.
    async fn may_continue(&mut self) -> bool {
        true
    }
    /// Takes the next batch. `Err` ends the transcription.
    async fn take_batch(&mut self, batch: HeardBatch) -> Result<(), TranscriptUnwanted>;
}

/// The transcript is no longer wanted: its recording or its consent is gone, or a newer attempt has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the transcript is no longer wanted")]
pub struct TranscriptUnwanted;

/// Turns recordings into text.
#[async_trait]
pub trait Transcriber: Send + Sync {
    /// Transcribes a recording from `request.from_ms` on. Dropping the future ends the work.
    ///
    /// # Errors
    /// Why there is no complete transcript; the batches that were given out stay valid.
    async fn transcribe(
        &self,
        recording: File,
        request: SpeechRequest,
        sink: &mut dyn HeardSink,
    ) -> Result<(), Untranscribed>;
}

/// Why a recording was not transcribed to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untranscribed {
    /// The recording itself is the reason: another try fails too.
    #[error("{0}")]
    Unreadable(String),
    /// The model can't be used.
    #[error("{0}")]
    Model(String),
    /// The speech service refused the work: it would do so again.
    #[error("{0}")]
    Refused(String),
    /// The transcriber crashed, or exceeded its limits.
    #[error("{0}")]
    Crashed(String),
    /// It was ended from outside, or is not available now: the next try may succeed.
    #[error("{0}")]
    Interrupted(String),
    /// The sink wants no more.
    #[error("the transcription was stopped")]
    Stopped,
}
