//! What a document says and where it says it; and why one could not be read.

use serde::{Deserialize, Serialize};

/// What a document says, with where. All offsets are Unicode scalar values in `text`, end exclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceText {
    /// Blocks separated by a blank line (plain text: as the file has it).
    pub text: String,
    /// In order, without overlap; empty for a format without pages. A page without text starts where it ends.
    pub pages: Vec<Page>,
    /// In the order of their headings; a lower one lies within a higher one.
    pub sections: Vec<Section>,
    /// In order; of VTT and SRT only.
    pub cues: Vec<Cue>,
    /// In order, without overlap; what lies between two blocks is white space.
    pub blocks: Vec<Block>,
    /// ISO 639-1, and only when the text is long and clear enough to tell.
    pub language: Option<String>,
    /// `READER_VERSION` of the reader that wrote this.
    pub reader_version: String,
}

/// A page of the document as printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// From 1, by place in the file, whatever number is printed on it.
    pub page: u32,
    pub start_offset: usize,
    pub end_offset: usize,
}

/// A heading with all it covers, up to the next heading of the same or a higher level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Section {
    /// As it stands in the text at `start_offset`; a long one is cut, and then ends in an ellipsis.
    pub title: String,
    /// From 1, the highest, to 9.
    pub level: u8,
    /// Where the heading starts.
    pub start_offset: usize,
    pub end_offset: usize,
}

/// One cue of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cue {
    pub start_offset: usize,
    pub end_offset: usize,
    /// Milliseconds from the start of the recording.
    pub start_ms: u64,
    /// Milliseconds from the start of the recording.
    pub end_ms: u64,
    /// As the transcript names them, a long name cut; the name itself is not in the text.
    pub speaker: Option<String>,
}

/// A piece of text that no sentence crosses. A line end inside one is white space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block {
    pub kind: BlockKind,
    pub start_offset: usize,
    pub end_offset: usize,
}

/// What a block is in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockKind {
    Heading,
    Paragraph,
    ListItem,
    /// Cells joined by ` | `.
    TableRow,
    Code,
    Quote,
    /// A running header or footer (its first occurrence; the others and page numbers are left out of the text), a line of a
    /// table of contents.
    Boilerplate,
}

/// Why a document has no text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreadable {
    pub reason: Reason,
    /// One sentence for the person who uploaded it.
    pub message: String,
}

/// The kinds of failure, so that a caller need not read the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// It needs a password.
    Encrypted,
    /// It breaks its own format, or does what only an attack does.
    Damaged,
    /// There is no text layer in it.
    Empty,
    /// It unpacks to more, or gives more text, than the limits allow.
    TooLarge,
    /// The format is known, this use of it is not read.
    Unsupported,
    /// The reader did not end in time.
    TimedOut,
    /// The reader ended without an answer.
    Crashed,
    /// The reader could not be started, or was told to end: nothing is known of the document, and it may be tried again.
    Interrupted,
}

impl Unreadable {
    /// A failure with the sentence that explains it.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unreadable {}

/// The part of `text` from one char offset to another, or None if they are not within it or in the wrong order.
pub fn slice(text: &str, start: usize, end: usize) -> Option<&str> {
    let length = end.checked_sub(start)?;
    let from = byte_of(text, start)?;
    let rest = text.get(from..)?;
    rest.get(..byte_of(rest, length)?)
}

fn byte_of(text: &str, chars: usize) -> Option<usize> {
    text.char_indices().map(|(byte, _)| byte).chain([text.len()]).nth(chars)
}
