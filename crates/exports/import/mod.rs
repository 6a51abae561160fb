//! Files that come back: what they say, and how it differs from what is here.
//!
//! A reader turns bytes into an [`Imported`]; [`compare`] sets it beside the current state. Nothing is changed here and nothing is
//! dropped silently: what a reader or the comparison cannot use stands in `not_understood`, with its place and the reason.

mod bounds;
mod comparison;
mod notes;
mod reqif;
mod xlsx;
mod xml;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::clean_line;

pub use bounds::MAX_FILE_BYTES;
pub use comparison::{
    ChangedEntry, Comparison, ComparisonEntry, CriterionWording, EntryKind, FieldDifference, FieldValue, compare,
};
pub use notes::MOST_NOTES;

/// What a file says. An absent field (`None`) is one that the file has no place for: it is not compared. An empty text is one that the file
/// leaves empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    pub requirements: Vec<ImportedRequirement>,
    pub user_stories: Vec<ImportedUserStory>,
    /// The first of them, up to [`MOST_NOTES`].
    pub not_understood: Vec<NotUnderstood>,
    /// How many there are beyond those.
    pub more_not_understood: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedRequirement {
    /// As the file names it: a UUID where the item was exported from here, otherwise the identifier of another program. Links of the same
    /// file use it.
    pub id: Option<String>,
    pub code: Option<String>,
    /// The version that was exported.
    pub version: Option<i64>,
    pub title: Option<String>,
    pub statement: Option<String>,
    /// A word of the interface: `words::Vocabulary::RequirementType`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// A word of the interface.
    pub category: Option<String>,
    /// A word of the interface: `words::Vocabulary::Priority`.
    pub priority: Option<String>,
    /// Read to report a difference; it is never taken over.
    pub workflow_status: Option<String>,
    /// Ids or codes. Read to report a difference; they are never taken over.
    pub duplicate_of: Option<String>,
    pub conflicts_with: Option<Vec<String>>,
    /// Where it stands in the file, for messages: `Requirements, row 7`.
    pub place: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedUserStory {
    /// As in [`ImportedRequirement::id`].
    pub id: Option<String>,
    pub code: Option<String>,
    pub version: Option<i64>,
    /// Ids or codes of requirements, of this file or of the project.
    pub requirement_ids: Option<Vec<String>>,
    pub title: Option<String>,
    pub role: Option<String>,
    pub goal: Option<String>,
    pub benefit: Option<String>,
    /// The story in one sentence.
    pub description: Option<String>,
    pub priority: Option<String>,
    pub acceptance_criteria: Option<Vec<ImportedCriterion>>,
    /// Read to report a difference; it is never taken over.
    pub workflow_status: Option<String>,
    pub place: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedCriterion {
    pub id: Option<String>,
    pub code: Option<String>,
    pub text: String,
    pub given: Option<String>,
    pub when: Option<String>,
    pub then: Option<String>,
}

/// Something in a file that is not used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotUnderstood {
    pub place: String,
    /// A sentence for the person who uploads the file.
    pub reason: String,
}

/// Why a file as a whole could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFault {
    /// A sentence for the person who uploads the file.
    pub message: String,
    /// Where in the file, if that is known: `line 12`, `xl/worksheets/sheet1.xml`.
    pub place: Option<String>,
}

impl ImportFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: cut(&message.into(), LONGEST_REASON).into_owned(), place: None }
    }

    pub(crate) fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        let place = cut(&place.into(), LONGEST_PLACE).into_owned();
        Self { place: Some(place), ..Self::new(message) }
    }
}

impl fmt::Display for ImportFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(out, "{place}: {}", self.message),
            None => out.write_str(&self.message),
        }
    }
}

impl std::error::Error for ImportFault {}

/// Reads a `.reqif` or `.reqifz` file, of this program or of others.
pub fn read_reqif(bytes: &[u8]) -> Result<Imported, ImportFault> {
    reqif::read(bytes)
}

/// Reads a workbook that was exported from here.
pub fn read_xlsx(bytes: &[u8]) -> Result<Imported, ImportFault> {
    xlsx::read(bytes)
}

/// A text of the file within a message: in one line, and not longer than a line.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    // Many messages may quote one text: of a long one only the beginning is looked at.
    const LOOKED_AT: usize = 16 * SHOWN;
    let beginning = text.char_indices().nth(LOOKED_AT).map_or(text, |(end, _)| text.get(..end).unwrap_or(text));
    let line = clean_line(beginning);
    let shown: String = line.chars().take(SHOWN).collect();
    let ellipsis = if shown.len() < line.len() || beginning.len() < text.len() { "…" } else { "" };
    format!("“{shown}{ellipsis}”")
}

/// How long a place is at most, in characters: files and sheets have names of any length, and many items repeat them.
const LONGEST_PLACE: usize = 200;
/// How long a message is at most, in characters: those of XML quote the names of elements.
const LONGEST_REASON: usize = 500;

/// A text that may be long, up to a number of characters.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    // No more characters than bytes.
    if text.len() <= most {
        return text.into();
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}
