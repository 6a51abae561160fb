//! What a run is asked to do: which analysis, in which language, over which sources.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::readers::SourceText;

/// Ends a run early from outside; looked at in every round of every loop over sentences or items.
pub use tokio_util::sync::CancellationToken as CancelToken;

/// One attempt at analysing some sources.
#[derive(Debug, Clone)]
pub struct Request {
    /// The caller's name for this attempt; comes back in the result.
    pub job_id: String,
    /// 1 for the first attempt; carried for the caller's logs, it never changes the result.
    pub attempt: u32,
    pub analysis_type: AnalysisType,
    /// What the sources are written in; `Auto` lets each source say for itself.
    pub language: Language,
    /// In the order in which the caller wants ties to be settled.
    pub sources: Vec<Source>,
    pub bounds: Bounds,
}

/// How much one run takes in, so that no input makes it cost more than a known amount of time and memory. What lies past a bound is
/// left out; the run is then PARTIAL, and a warning says what was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Characters of all sources together, counted in their order.
    pub characters: usize,
    /// Sentences of all sources together, counted in their order.
    pub sentences: usize,
    /// Items of each kind. Of sentences that say something, before those that say the same are merged, twice as many.
    pub items: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { characters: 5_000_000, sentences: 100_000, items: 5_000 }
    }
}

impl Bounds {
    /// Sentences that say something.
    pub fn findings(self) -> usize {
        self.items.saturating_mul(2)
    }
}

/// One document or recording. `text` is `Err` when it could not be read; the run then goes on with the others.
#[derive(Debug, Clone)]
pub struct Source {
    /// The caller's id; comes back in every source reference.
    pub id: String,
    pub kind: SourceKind,
    /// Shown in warnings, e.g. a file name.
    pub name: String,
    pub text: Result<Arc<SourceText>, Unreadable>,
}

impl Source {
    /// A document that was read.
    pub fn document(id: impl Into<String>, name: impl Into<String>, text: Arc<SourceText>) -> Self {
        Self { id: id.into(), kind: SourceKind::Document, name: name.into(), text: Ok(text) }
    }

    /// A recording's transcript.
    pub fn recording(id: impl Into<String>, name: impl Into<String>, text: Arc<SourceText>) -> Self {
        Self { id: id.into(), kind: SourceKind::Recording, name: name.into(), text: Ok(text) }
    }

    /// A source that could not be read, with the reason in words.
    pub fn unreadable(
        id: impl Into<String>,
        kind: SourceKind,
        name: impl Into<String>,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let text = Err(Unreadable { code: code.into(), message: message.into() });
        Self { id: id.into(), kind, name: name.into(), text }
    }
}

/// Why a source has no text: a PascalCase code and a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SourceKind {
    Document,
    Recording,
}

/// Which parts of the result are wanted; the others stay empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AnalysisType {
    /// Everything.
    Full,
    /// Requirements, risks and open questions.
    Requirements,
    /// Requirements and the stories made from them.
    UserStories,
    /// Action items, decisions, open questions and risks.
    MeetingMinutes,
}

impl AnalysisType {
    pub fn wants_requirements(self) -> bool {
        self != Self::MeetingMinutes
    }

    pub fn wants_stories(self) -> bool {
        matches!(self, Self::Full | Self::UserStories)
    }

    pub fn wants_risks(self) -> bool {
        self != Self::UserStories
    }

    pub fn wants_minutes(self) -> bool {
        matches!(self, Self::Full | Self::MeetingMinutes)
    }
}

/// The languages a run can be asked for. The embedded rules know English; other texts are read, but little is found in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Language {
    Auto,
    En,
    Ar,
    De,
    Es,
    Fr,
    It,
    Nl,
    Pt,
    Tr,
    Zh,
    Ja,
    Ko,
    Hi,
    Ru,
}

/// A source with something to read in it. `slot` is its place in the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadySource {
    pub slot: usize,
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    pub digest: String,
    /// ISO 639-1 or 639-3 as the reader gave it; empty if unknown.
    pub language: String,
    pub words: u64,
    /// Of speech; 0 where nothing is timed.
    pub spoken_ms: u64,
}
