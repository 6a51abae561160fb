//! Document readers: parse a file's bytes into text with pages, headings and offsets. Independent of meetings, projects
//! and the database.
//!
//! ```text
//! bytes ── sniff ──> Format ── Reader (parent) ──file──> child_main (limits itself) ── read ──> SourceText
//!                      │                     <──stdout── JSON of a SourceText, stored unchanged, or of an Unreadable
//!                      └─ Unsupported (a 415)
//! ```
//! Offsets are Unicode scalar values in `SourceText::text`, end exclusive; `slice` resolves them. The text is stored as
//! it is in the document (no Unicode normalisation): line ends become `\n`, control characters other than the tab are
//! dropped.
//!
//! Deliberately not supported: OCR, pictures, the older formats of Office, files with macros.

mod child;
mod comma;
mod docx;
mod draft;
mod eml;
mod flow;
mod html;
mod language;
mod markdown;
mod messages;
mod odt;
mod odt_styles;
mod package;
mod painted;
mod parent;
mod pdf;
mod pdf_bounds;
mod pdf_colours;
mod pdf_lines;
mod pdf_pages;
mod pdf_sight;
mod pdf_steps;
mod place;
mod pptx;
mod sniff;
mod source;
mod styles;
mod text;
mod transcript;
mod weaving;
mod xlsx;

pub use child::{ReadTask, VERB, child_main};
pub use parent::{ReadDocument, Reader, ReaderLimits};
pub use place::QuotePlace;
pub use sniff::{Format, Unsupported, sniff};
pub use source::{
    Block, BlockKind, Cue, CueOrigin, READER_VERSION, Section, SourcePage, SourceText, Unreadable, UnreadableReason,
    has_four_digits, slice,
};
pub use transcript::{CueText, written};
pub use weaving::{SpokenPart, TrackCue, TrackText, interleaved, woven};

/// Parses a document in this process. It may use much memory and time, and a hostile file may crash it: a server calls
/// `Reader::read`, which runs this in a child process with limits.
///
/// # Errors
/// An `Unreadable` with the reason and one sentence for the user who uploaded the document.
pub fn read(format: Format, bytes: &[u8]) -> Result<SourceText, Unreadable> {
    match format {
        Format::Pdf => pdf::read(bytes),
        Format::Docx => docx::read(bytes),
        Format::Pptx => pptx::read(bytes),
        Format::Xlsx => xlsx::read(bytes),
        Format::Odt => odt::read(bytes),
        Format::Eml => eml::read(bytes),
        Format::Html => html::read(&text::decode(bytes)),
        Format::Markdown => markdown::read(&text::decode(bytes)),
        Format::Text => text::read(&text::decode(bytes)),
        Format::Csv => comma::read(&text::decode(bytes)),
        Format::Vtt | Format::Srt => transcript::read(&text::decode(bytes)),
    }
}

#[cfg(test)]
mod complexity_tests;
#[cfg(test)]
mod odt_tests;
#[cfg(test)]
mod office_complexity_tests;
#[cfg(test)]
mod pdf_complexity_tests;
#[cfg(test)]
mod pdf_hidden_tests;
#[cfg(test)]
mod pdf_tests;
#[cfg(test)]
mod sample_tests;
#[cfg(test)]
mod tests;
