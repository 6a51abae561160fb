//! The index of all sentences of a run with their positions. It stores offsets, not words; the words are sliced from
//! the texts.
//!
//! A sentence references shared data (heading, speaker, lead-in) by number, so that its size does not depend on its
//! surroundings; the shared data has a bounded length whatever the document contains.

use serde::{Deserialize, Serialize};

use super::super::request::{Bounds, ReadySource};
use super::super::result::Warning;

/// Maximum characters stored of a heading.
pub const MAX_HEADING_LENGTH: usize = 120;
/// Maximum number of headings in a path. Of a deeper path the outermost ones and the innermost one are stored.
pub const MAX_HEADINGS: usize = 6;
/// Maximum characters stored of a speaker's name.
pub const MAX_NAME_LENGTH: usize = 120;
/// Maximum characters of a sentence that can be the lead-in of a list, as it is repeated with each of the list's items.
pub const MAX_LEAD_LENGTH: usize = 200;

/// All sentences in reading order, source by source. Data that many sentences share is stored once, in a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Index {
    pub sentences: Vec<Sentence>,
    pub headings: Vec<Heading>,
    pub speakers: Vec<String>,
    /// Sources that exceed the run's bounds, in order.
    pub cut: Vec<Cut>,
}

/// A heading with a reference to the one above it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Heading {
    pub title: String,
    /// Index into `headings` of an earlier entry.
    pub above: Option<usize>,
}

/// A source of which only the beginning is in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    pub slot: usize,
    /// How many of its characters are in the index.
    pub characters: usize,
}

/// A sentence's position and context. Serialized as a tuple, so that a short sentence costs little more than itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Sentence {
    /// Position of the source in the request.
    pub slot: usize,
    pub start: usize,
    pub end: usize,
    pub context: BlockContext,
    /// Number of the block (turn, for speech) in the whole index: equal means the same paragraph, row or turn.
    pub block: usize,
    /// Index into `headings`.
    pub heading: Option<usize>,
    pub page: Option<u32>,
    /// Index of the sentence with a colon that a list item completes.
    pub lead: Option<usize>,
    /// Index into `speakers`.
    pub speaker: Option<usize>,
    pub start_ms: Option<u64>,
    pub end_ms: Option<u64>,
}

type Row = (
    usize,
    usize,
    usize,
    BlockContext,
    usize,
    Option<usize>,
    Option<u32>,
    Option<usize>,
    Option<usize>,
    Option<u64>,
    Option<u64>,
);

/// The kind of block that contains a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockContext {
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
    /// Whether any sentence is neither code nor boilerplate.
    pub fn has_prose(&self) -> bool {
        self.sentences
            .iter()
            .any(|sentence| !matches!(sentence.context, BlockContext::Code | BlockContext::Boilerplate))
    }

    /// Returns the titles from the outermost heading down to this one, joined by " › ".
    pub fn path(&self, heading: usize) -> String {
        let mut titles = Vec::new();
        let mut next = Some(heading);
        while let Some(heading) = next.and_then(|at| self.headings.get(at)).filter(|_| titles.len() < MAX_HEADINGS) {
            titles.push(heading.title.as_str());
            next = heading.above;
        }
        titles.reverse();
        titles.join(" › ")
    }

    /// Returns a warning for each source that exceeds the bounds.
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
        let Sentence { slot, start, end, context, block, heading, page, lead, speaker, start_ms, end_ms } = sentence;
        (slot, start, end, context, block, heading, page, lead, speaker, start_ms, end_ms)
    }
}

impl From<Row> for Sentence {
    fn from(row: Row) -> Self {
        let (slot, start, end, context, block, heading, page, lead, speaker, start_ms, end_ms) = row;
        Self { slot, start, end, context, block, heading, page, lead, speaker, start_ms, end_ms }
    }
}
