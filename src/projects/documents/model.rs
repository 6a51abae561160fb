//! Types of documents.

use actors::ids::{self, Id, User};
use actors::language::Language;
use actors::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::enumeration::wire_enum;
use crate::http::fields::InvalidValue;

wire_enum! {
    /// PENDING and PROCESSING lead to READY, with a text, or to FAILED, with a reason.
    pub enum DocumentStatus {
        Pending,
        Processing,
        Ready,
        Failed,
    }
}

impl DocumentStatus {
    /// Whether the document has still to be parsed.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Processing)
    }
}

/// A document in one of its versions, without its content.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub id: Id<ids::Document>,
    pub project_id: Id<ids::Project>,
    /// Which version of the document this is, from 1. The present version is the newest one that is READY; before any is, the first.
    #[schema(minimum = 1)]
    pub version: i64,
    /// The newest version that was uploaded. While it is above the present one, it is being read, or could not be read.
    #[schema(minimum = 1)]
    pub newest_version: i64,
    /// The name that the file was uploaded with.
    pub file_name: String,
    /// Detected from the content.
    #[schema(example = "application/pdf")]
    pub mime_type: String,
    /// The size of the uploaded file in bytes.
    pub size_bytes: i64,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    pub status: DocumentStatus,
    /// Null until READY, and for formats without pages.
    #[schema(required)]
    pub page_count: Option<i64>,
    /// Length of the text in Unicode scalar values; null until READY.
    #[schema(required)]
    pub character_count: Option<i64>,
    /// The language given at the upload, or else the one detected by the parser; AUTO if neither is known.
    pub language: Language,
    /// Why the document is FAILED; null otherwise.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Id of the account that uploaded this version.
    pub uploaded_by_id: Id<User>,
    /// When the first version was uploaded.
    pub created_at: Time,
    /// When this version was uploaded.
    pub version_created_at: Time,
}

/// The text of a READY version of a document. Offsets count Unicode scalar values in `text`; the end is exclusive.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentText {
    /// The whole text. That of a version never changes once it is READY, so that quotes can be verified.
    pub text: String,
    /// In order and without overlap; empty for formats without pages.
    pub pages: Vec<DocumentPage>,
    /// Version of the parser that produced the text.
    pub reader_version: String,
}

/// The position of a page in the text.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentPage {
    /// Page number, starting at 1.
    #[schema(minimum = 1)]
    pub page: u32,
    pub start_offset: u64,
    /// End of the page in Unicode scalar values, exclusive.
    pub end_offset: u64,
}

/// What an analysis knows of a document before it reads the text.
#[derive(Debug, Clone)]
pub struct DocumentSource {
    pub id: Id<ids::Document>,
    pub file_name: String,
    /// Why there is no text, as a sentence.
    pub unreadable: Option<String>,
}

/// A file name of 1–255 characters, without a path, control characters, or characters that change the writing
/// direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName(pub String);

impl FileName {
    /// Takes the part after the last slash or backslash. Control characters and characters that change the writing
    /// direction are removed, since they can make a name look like another one.
    ///
    /// # Errors
    /// Fails if nothing is left, or only dots, or if the name is too long.
    pub fn of(given: &str) -> Result<Self, InvalidValue> {
        let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
        let seen = |c: &char| {
            !c.is_control() && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        let name: String = last.chars().filter(seen).collect();
        let name = name.trim();
        let length = name.chars().count();
        if name.chars().all(|c| c == '.') || length > 255 {
            return Err(InvalidValue::value("A file name must have 1 to 255 characters, and not only dots."));
        }
        Ok(Self(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::FileName;

    #[test]
    fn a_file_name_has_no_path_and_nothing_unseen() {
        let of = |given: &str| FileName::of(given).map(|name| name.0).ok();
        assert_eq!(of("../../etc/passwd").as_deref(), Some("passwd"));
        assert_eq!(of("C:\\Users\\ada\\notes.txt").as_deref(), Some("notes.txt"));
        assert_eq!(of("a\r\nSet-Cookie: b\u{202e}fdp.exe").as_deref(), Some("aSet-Cookie: bfdp.exe"));
        assert_eq!(of("  Żółć 要件.pdf ").as_deref(), Some("Żółć 要件.pdf"));
        assert_eq!(of(&"x".repeat(255)).map(|name| name.len()), Some(255));
        for refused in ["", "/", "..", "a/..", "\u{7}", &"x".repeat(256)] {
            assert_eq!(of(refused), None, "{refused:?}");
        }
    }
}
