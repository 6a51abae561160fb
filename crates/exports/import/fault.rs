//! Why a file could not be read, and how messages quote it.

use std::borrow::Cow;
use std::fmt;

use crate::text::clean_line;

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
        Self { message: cut(&message.into(), MAX_REASON_LENGTH).into_owned(), place: None }
    }

    pub(crate) fn at(place: impl Into<String>, message: impl Into<String>) -> Self {
        let place = cut(&place.into(), MAX_PLACE_LENGTH).into_owned();
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

/// A text of the file within a message: in one line, and not longer than a line.
pub fn quoted(text: &str) -> String {
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
pub const MAX_PLACE_LENGTH: usize = 200;
/// How long a message is at most, in characters: those of XML quote the names of elements.
pub const MAX_REASON_LENGTH: usize = 500;

/// A text that may be long, up to a number of characters.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    // No more characters than bytes.
    if text.len() <= most {
        return text.into();
    }
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}
