//! Readers of documents: a file's bytes become text with pages, headings and offsets. No meeting, project or database here.
//!
//! ```text
//! bytes ── sniff ──> Format ── Reader (parent) ──file──> child_main (limits on itself) ── read ──> SourceText
//!                      │                     <──stdout── JSON of a SourceText, kept as it is, or of an Unreadable
//!                      └─ Unsupported (a 415)
//! ```
//! Offsets are Unicode scalar values in `SourceText::text`, end exclusive; `slice` reads them back. The text is kept as the document
//! has it (no Unicode normalisation): line ends become `\n`, other control characters but the tab are dropped.
//!
//! Deliberately absent: OCR, pictures, PPTX, XLSX, ODT and EML (a later issue).

mod child;
mod comma;
mod docx;
mod draft;
mod flow;
mod html;
mod language;
mod markdown;
mod package;
mod parent;
mod pdf;
mod pdf_bounds;
mod pdf_lines;
mod sniff;
mod source;
mod styles;
mod text;
mod transcript;

pub use child::{Task, VERB, child_main};
pub use parent::{Limits, ReadDocument, Reader};
pub use sniff::{Format, Unsupported, sniff};
pub use source::{Block, BlockKind, Cue, Page, Reason, Section, SourceText, Unreadable, slice};

/// Raised whenever the same bytes may give other text: stored beside each document's text.
pub const READER_VERSION: &str = "2";

/// Reads a document in this process. It may use much memory and time, and a hostile file may crash it: a server calls
/// `Reader::read`, which does this in a child with limits.
///
/// # Errors
/// `Unreadable` with the reason and one sentence for the person who uploaded the document.
pub fn read(format: Format, bytes: &[u8]) -> Result<SourceText, Unreadable> {
    match format {
        Format::Pdf => pdf::read(bytes),
        Format::Docx => docx::read(bytes),
        Format::Html => html::read(&text::decode(bytes)),
        Format::Markdown => markdown::read(&text::decode(bytes)),
        Format::Text => text::read(&text::decode(bytes)),
        Format::Csv => comma::read(&text::decode(bytes)),
        Format::Vtt | Format::Srt => transcript::read(&text::decode(bytes)),
    }
}

#[cfg(test)]
mod ladder_tests;
#[cfg(test)]
mod pdf_ladder_tests;
#[cfg(test)]
mod pdf_tests;
#[cfg(test)]
mod tests;
