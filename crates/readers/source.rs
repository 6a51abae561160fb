//! The text of a document with its structure, and the reasons why a document could not be read.

use chrono::Datelike;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Version of the readers' output, stored with each document's text. Increase it whenever the same bytes may produce
/// different text.
pub const READER_VERSION: &str = "6";

/// The text of a document and the position of its parts. All offsets are Unicode scalar values in `text`, end
/// exclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceText {
    /// Blocks separated by a blank line (plain text: as in the file).
    pub text: String,
    /// In order, without overlap; empty for a format without pages. A page without text has equal start and end
    /// offsets.
    pub pages: Vec<SourcePage>,
    /// In the order of their headings; a section of a lower level lies within one of a higher level.
    pub sections: Vec<Section>,
    /// In order; only for VTT and SRT.
    pub cues: Vec<Cue>,
    /// In order, without overlap; the text between two blocks is white space.
    pub blocks: Vec<Block>,
    /// ISO 639-1; `None` unless the text is long and clear enough to detect it.
    pub language: Option<String>,
    /// The day of the meeting, or when a message was sent; `None` if only the text may name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<chrono::NaiveDate>,
    /// How many characters whoever opens the document is not shown: hidden ones, which are not in `text`, and those in it that
    /// turn the direction of writing over or are tags.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden_characters: usize,
    /// `READER_VERSION` of the reader that produced this.
    pub reader_version: String,
}

impl SourceText {
    /// Sets the day on which the document was made. One outside of the years 1 to 9999 is none: it could not be written as a
    /// date again.
    pub fn set_date(&mut self, date: Option<chrono::NaiveDate>) {
        self.date = date.filter(|date| has_four_digits(*date));
    }
}

/// Whether the year of a day has four digits, as in ISO 8601.
pub fn has_four_digits(date: chrono::NaiveDate) -> bool {
    (1..=9999).contains(&date.year())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A page of the document as printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourcePage {
    /// Position in the file, from 1, whatever number is printed on the page.
    pub page: u32,
    pub start_offset: usize,
    /// End of the page in Unicode scalar values, exclusive.
    pub end_offset: usize,
}

/// A heading with the text it covers, up to the next heading of the same or a higher level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Section {
    /// The text at `start_offset`; a long title is cut and then ends in an ellipsis.
    pub title: String,
    /// From 1, the highest level, to 9.
    pub level: u8,
    /// Start of the heading.
    pub start_offset: usize,
    /// End of the section in Unicode scalar values, exclusive.
    pub end_offset: usize,
}

/// A cue of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cue {
    pub start_offset: usize,
    pub end_offset: usize,
    /// Milliseconds from the start of the recording.
    pub start_ms: u64,
    /// Milliseconds from the start of the recording.
    pub end_ms: u64,
    /// The speaker's name in the transcript, cut if it is long; the name is not part of the text.
    pub speaker: Option<String>,
    /// Only in a text that was woven from several sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<CueOrigin>,
}

/// The source that a cue was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CueOrigin {
    /// Id of the source that the words are from.
    pub source_id: String,
    /// Where the cue starts in the text of that source.
    pub start_offset: usize,
}

/// A piece of text that no sentence crosses. A line end within a block is white space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    pub kind: BlockKind,
    pub start_offset: usize,
    pub end_offset: usize,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockKind {
    Heading,
    Paragraph,
    ListItem,
    /// Cells joined by ` | `.
    TableRow,
    Code,
    Quote,
    /// A running header or footer (its first occurrence; the others and page numbers are left out of the text), or a
    /// line of a table of contents.
    Boilerplate,
}

/// The reason why a document has no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreadable {
    pub reason: UnreadableReason,
    /// One sentence for the user who uploaded the document.
    pub message: String,
}

/// The kind of failure, so that a caller need not parse the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum UnreadableReason {
    /// The document needs a password.
    Encrypted,
    /// The document violates its format, or has a structure that only an attack has.
    Damaged,
    /// The document has no text layer.
    Empty,
    /// The document unpacks to more, or has more text, than the limits allow.
    TooLarge,
    /// The format is supported, but this use of it is not.
    Unsupported,
    /// The reader reached its limit on processor time.
    TimedOut,
    /// The reader ended without a response.
    Crashed,
    /// The reader could not be started or limit itself, exceeded its wall-clock timeout or was terminated from outside.
    /// Nothing is known of the document, so the read can be retried.
    Interrupted,
}

impl Unreadable {
    /// Creates a failure with the sentence that explains it.
    pub fn new(reason: UnreadableReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unreadable {}

/// Returns the part of `text` from one character offset to another, or `None` if they are outside of it or in the wrong
/// order.
pub fn slice(text: &str, start: usize, end: usize) -> Option<&str> {
    let length = end.checked_sub(start)?;
    let from = byte_of(text, start)?;
    let rest = text.get(from..)?;
    rest.get(..byte_of(rest, length)?)
}

fn byte_of(text: &str, chars: usize) -> Option<usize> {
    text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(chars)
}
