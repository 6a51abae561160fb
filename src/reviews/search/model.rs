//! Types of search.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::enumeration::wire_enum;

wire_enum! {
    /// What a hit was found in.
    pub enum SearchKind {
        Requirement,
        UserStory,
        Document,
        Transcript,
    }
}

/// A passage of a project in which all words of the query occur.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub kind: SearchKind,
    /// The requirement, the user story, the document, or the recording whose transcript it is.
    pub id: Uuid,
    /// The meeting of the recording; null for other kinds.
    #[schema(required)]
    pub meeting_id: Option<Uuid>,
    /// The code of the item; null for anything without one.
    #[schema(required, example = "REQ-001")]
    pub code: Option<String>,
    /// The title of the item or of the meeting, or the document's file name.
    pub title: String,
    /// Where the search words are in the title.
    pub title_marks: Vec<SearchMark>,
    /// Some 200 characters around the first word that was found; plain text.
    pub excerpt: String,
    /// Where the words that were found stand in the excerpt.
    pub marks: Vec<SearchMark>,
    /// Where the excerpt stands in the text that getDocumentText returns, in Unicode scalar values; null for other kinds.
    #[schema(required)]
    pub start_offset: Option<usize>,
    /// End of the passage in Unicode scalar values, exclusive; null for anything else than a document.
    #[schema(required)]
    pub end_offset: Option<usize>,
    /// When the segment begins in which the first word is said; null for other kinds than TRANSCRIPT.
    #[schema(required)]
    pub start_ms: Option<u64>,
    /// End in milliseconds since the beginning of the recording; null for anything else than a transcript.
    #[schema(required)]
    pub end_ms: Option<u64>,
    /// Relative to the best hit, which has 1.
    #[schema(minimum = 0, maximum = 1)]
    pub score: f64,
}

/// A word that was found: in Unicode scalar values of the title or the excerpt; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchMark {
    pub start_offset: usize,
    pub end_offset: usize,
}

/// A word of a query: any of these words, or any that begins with one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerm {
    pub words: Vec<String>,
    pub beginnings: Vec<String>,
}

impl SearchTerm {
    #[must_use]
    pub fn is_met_by(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word) || self.beginnings.iter().any(|own| word.starts_with(own))
    }
}
