//! Types of the versions of documents.

use actors::ids::{self, Id};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::enumeration::wire_enum;

wire_enum! {
    /// What became of a part of a text in a later one. MOVED: it stands elsewhere among the others.
    pub enum TextChange {
        Added,
        Removed,
        Moved,
    }
}

/// A part of a text, in Unicode scalar values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TextSpan {
    pub start_offset: usize,
    /// Exclusive.
    pub end_offset: usize,
}

/// A part of a text that differs between two versions of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedSpan {
    pub change: TextChange,
    /// In the former version. Empty for what was added: where it would stand.
    pub former: TextSpan,
    /// In the later version. Empty for what was removed: where it would stand.
    pub later: TextSpan,
}

/// How the texts of two versions of a document differ, by sentences and lines. What is in no span is the same in both.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentComparison {
    /// Id of the document.
    pub document_id: Id<ids::Document>,
    /// The later version, from the path.
    #[schema(minimum = 1)]
    pub version: i64,
    /// The version that it is compared with; null where there is none before it: all of its text was added.
    #[schema(required)]
    pub former_version: Option<i64>,
    /// In the order of the later text. Of more than 2,000, the last ones are joined to one that is removed and one that is added.
    pub spans: Vec<ChangedSpan>,
}
