//! Every sentence of a run in its place. Holds offsets, not words: those are sliced from the texts.
//!
//! A sentence points at what it shares with others (heading, speaker, lead-in) by number, so that nothing in it grows with its
//! surroundings; what is pointed at is short whatever the document says.

use serde::{Deserialize, Serialize};

use super::super::request::Bounds;
use super::super::request::ReadySource;
use super::super::result::Warning;

/// Characters kept of a heading.
pub const LONGEST_HEADING: usize = 120;
/// Headings in a path. Of a deeper one the outermost are kept, and its own.
pub const DEEPEST: usize = 6;
/// Characters kept of a speaker's name.
pub const LONGEST_NAME: usize = 120;
/// Characters of a sentence that can lead in a list: it is said again with each of its items.
pub const LONGEST_LEAD: usize = 200;

/// All sentences in reading order, source by source. What many sentences share stands once, in a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Index {
    pub sentences: Vec<Sentence>,
    pub headings: Vec<Heading>,
    pub speakers: Vec<String>,
    /// Sources that go past the run's bounds, in order.
    pub cut: Vec<Cut>,
}

/// A heading under the one above it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Heading {
    pub title: String,
    /// Into `headings`, before this one.
    pub above: Option<usize>,
}

/// A source of which only the beginning was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    pub slot: usize,
    /// How many of its characters.
    pub characters: usize,
}

/// Written down as a row of figures: a short sentence is to cost little more than itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Sentence {
    /// Place of the source in the request.
    pub slot: usize,
    pub start: usize,
    pub end: usize,
    pub place: Place,
    /// Counts blocks (turns, for speech) through the whole index: equal means the same paragraph, row or turn.
    pub block: usize,
    /// Into `headings`.
    pub heading: Option<usize>,
    pub page: Option<u32>,
    /// The sentence with a colon that a list item completes.
    pub lead: Option<usize>,
    /// Into `speakers`.
    pub speaker: Option<usize>,
    pub start_ms: Option<u64>,
    pub end_ms: Option<u64>,
}

type Row = (
    usize,
    usize,
    usize,
    Place,
    usize,
    Option<usize>,
    Option<u32>,
    Option<usize>,
    Option<usize>,
    Option<u64>,
    Option<u64>,
);

/// What kind of block a sentence stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    Heading,
    Prose,
    Item,
    Cell,
    Speech,
    Quote,
    Code,
    Boilerplate,
}

impl Index {
    /// Whether any sentence could say something: three words, not code and not boilerplate.
    pub fn has_prose(&self) -> bool {
        self.sentences.iter().any(|sentence| !matches!(sentence.place, Place::Code | Place::Boilerplate))
    }

    /// The titles above, outermost first, joined by " › ".
    pub fn path(&self, heading: usize) -> String {
        let mut titles = Vec::new();
        let mut next = Some(heading);
        while let Some(heading) = next.and_then(|at| self.headings.get(at)).filter(|_| titles.len() < DEEPEST) {
            titles.push(heading.title.as_str());
            next = heading.above;
        }
        titles.reverse();
        titles.join(" › ")
    }

    /// One for each source that goes past the bounds.
    pub fn warnings(&self, sources: &[ReadySource], bounds: Bounds) -> Vec<Warning> {
        let warning = |cut: &Cut| {
            let source = sources.iter().find(|source| source.slot == cut.slot)?;
            let part = match cut.characters {
                0 => "it was not analysed".to_owned(),
                characters => format!("only its first {characters} characters were analysed"),
            };
            Some(Warning {
                code: Warning::SOURCE_TOO_LONG.to_owned(),
                message: format!(
                    "{}: {part}; a run takes in at most {} characters and {} sentences.",
                    source.name, bounds.characters, bounds.sentences
                ),
                source_id: Some(source.id.clone()),
            })
        };
        self.cut.iter().filter_map(warning).collect()
    }
}

impl From<Sentence> for Row {
    fn from(sentence: Sentence) -> Self {
        let Sentence { slot, start, end, place, block, heading, page, lead, speaker, start_ms, end_ms } = sentence;
        (slot, start, end, place, block, heading, page, lead, speaker, start_ms, end_ms)
    }
}

impl From<Row> for Sentence {
    fn from(row: Row) -> Self {
        let (slot, start, end, place, block, heading, page, lead, speaker, start_ms, end_ms) = row;
        Self { slot, start, end, place, block, heading, page, lead, speaker, start_ms, end_ms }
    }
}
