//! The input of a run: which analysis, in which language, over which sources.

use std::sync::Arc;

use actors::language::Language;
use actors::run::AnalysisType;
use actors::wire_enum;
use readers::SourceText;
use serde::{Deserialize, Serialize};

/// Cancels a run from outside. It is checked in every iteration of every loop over sentences or items.
pub use tokio_util::sync::CancellationToken as CancelToken;

/// One attempt at analysing some sources.
#[derive(Debug, Clone)]
pub struct Request {
    /// The caller's id of this attempt; returned in the result.
    pub job_id: String,
    /// 1 for the first attempt. It is meant for the caller's logs and never changes the result.
    pub attempt: u32,
    pub analysis_type: AnalysisType,
    /// The language of the sources; with `Auto` each source states its own.
    pub language: Language,
    /// The order of the sources decides ties.
    pub sources: Vec<Source>,
    pub bounds: Bounds,
}

/// How much input one run accepts, so that its cost in time and memory is bounded for any input. Whatever exceeds a
/// bound is left out; the run is then PARTIAL, and a warning says what was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Characters of all sources together, counted in their order.
    pub characters: usize,
    /// Sentences of all sources together, counted in their order.
    pub sentences: usize,
    /// Items of each kind. The number of findings, before those that say the same are merged, may be twice as large.
    pub items: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { characters: 5_000_000, sentences: 100_000, items: 5_000 }
    }
}

impl Bounds {
    /// Returns the largest number of findings, the sentences from which items are made.
    pub fn findings(self) -> usize {
        self.items.saturating_mul(2)
    }
}

/// One document or recording. `text` is `Err` when it could not be read; the run then continues with the other sources.
#[derive(Debug, Clone)]
pub struct Source {
    /// The caller's id; returned in every source reference.
    pub id: String,
    pub kind: SourceKind,
    /// Shown in warnings, for example a file name.
    pub name: String,
    pub text: Result<Arc<SourceText>, UnreadableSource>,
}

impl Source {
    /// Creates a document whose text was read.
    pub fn document(id: impl Into<String>, name: impl Into<String>, text: Arc<SourceText>) -> Self {
        Self { id: id.into(), kind: SourceKind::Document, name: name.into(), text: Ok(text) }
    }

    /// Creates a recording from its transcript.
    pub fn recording(id: impl Into<String>, name: impl Into<String>, text: Arc<SourceText>) -> Self {
        Self { id: id.into(), kind: SourceKind::Recording, name: name.into(), text: Ok(text) }
    }

    /// Creates a source that could not be read, with the reason as a code and a sentence.
    pub fn unreadable(
        id: impl Into<String>,
        kind: SourceKind,
        name: impl Into<String>,
        code: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let text = Err(UnreadableSource { code: code.into(), message: message.into() });
        Self { id: id.into(), kind, name: name.into(), text }
    }
}

/// Why a source has no text: a PascalCase code and a sentence for users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableSource {
    pub code: String,
    pub message: String,
}

wire_enum! {
    /// The kind of a source.
    pub enum SourceKind {
        Document,
        Recording,
    }
}

/// A source that contains text. `slot` is its index in the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadySource {
    pub slot: usize,
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    pub digest: String,
    /// ISO 639-1 or 639-3 as the reader reported it; empty if unknown.
    pub language: String,
    pub words: u64,
    /// Milliseconds of speech; 0 where the text has no timestamps.
    pub spoken_ms: u64,
}
