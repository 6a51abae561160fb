//! The index with its words: what the rules read.

use std::sync::Arc;

use super::super::nodes::prepare_sources::ReadySource;
use super::super::result::SourceReference;
use super::index::{Index, Place, Sentence};
use super::texts::Texts;

/// All sentences in reading order, with their words made ready once.
#[derive(Debug, Default)]
pub struct Book {
    texts: Arc<Texts>,
    index: Index,
    lines: Vec<Line>,
}

/// One sentence, ready to be read by rules.
#[derive(Debug)]
pub struct Line {
    pub place: Place,
    pub block: usize,
    /// White space collapsed, list marker and numbering gone.
    pub words: String,
    /// `words` in lower case, typographic quotes and apostrophes made plain.
    pub lower: String,
    /// Heading path in lower case; empty without one.
    pub heading: String,
    pub lead: Option<usize>,
    pub speaker: Option<usize>,
    /// The identifier that numbered it, such as `REQ-12`, if there was one.
    pub label: Option<String>,
}

impl Book {
    pub fn new(texts: Arc<Texts>, index: Index) -> Self {
        let headings: Vec<String> = index.headings.iter().map(|heading| heading.to_lowercase()).collect();
        let lines = index
            .sentences
            .iter()
            .map(|sentence| {
                let raw = texts.get(sentence.slot).and_then(|text| text.slice(sentence.start, sentence.end));
                let (label, words) = unmarked(raw.unwrap_or_default());
                let lower = plain(&words);
                let heading = sentence.heading.and_then(|at| headings.get(at)).cloned().unwrap_or_default();
                let Sentence { place, block, lead, speaker, .. } = *sentence;
                Line { place, block, words, lower, heading, lead, speaker, label }
            })
            .collect();
        Self { texts, index, lines }
    }

    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub fn line(&self, at: usize) -> Option<&Line> {
        self.lines.get(at)
    }

    pub fn speaker(&self, at: usize) -> Option<&str> {
        let speaker = self.index.sentences.get(at)?.speaker?;
        self.index.speakers.get(speaker).map(String::as_str)
    }

    /// Everyone who speaks in any source, in order of their first word.
    pub fn speakers(&self) -> &[String] {
        &self.index.speakers
    }

    pub fn slot(&self, at: usize) -> Option<usize> {
        self.index.sentences.get(at).map(|sentence| sentence.slot)
    }

    /// Where a sentence stands, with its words as the quote.
    pub fn reference(&self, at: usize, sources: &[ReadySource]) -> Option<SourceReference> {
        let sentence = self.index.sentences.get(at)?;
        let source = sources.iter().find(|source| source.slot == sentence.slot)?;
        let quote = self.texts.get(sentence.slot)?.slice(sentence.start, sentence.end)?;
        Some(SourceReference {
            kind: source.kind,
            source_id: source.id.clone(),
            quote: quote.to_owned(),
            page: sentence.page,
            section: sentence.heading.and_then(|heading| self.index.headings.get(heading)).cloned(),
            start_offset: sentence.start,
            end_offset: sentence.end,
            start_ms: sentence.start_ms,
            end_ms: sentence.end_ms,
            speaker: sentence.speaker.and_then(|speaker| self.index.speakers.get(speaker)).cloned(),
        })
    }
}

impl Line {
    /// A sentence without a heading or neighbours.
    pub fn alone(raw: &str, place: Place) -> Self {
        let (label, words) = unmarked(raw);
        let lower = plain(&words);
        Self { place, block: 0, words, lower, heading: String::new(), lead: None, speaker: None, label }
    }
}

/// Lower case with plain quotes.
pub fn plain(words: &str) -> String {
    words.to_lowercase().replace(['’', '‘', '´'], "'").replace(['“', '”', '„', '«', '»'], "\"")
}

/// Collapses white space and takes a bullet, a number or an identifier off the front.
fn unmarked(raw: &str) -> (Option<String>, String) {
    let mut words: Vec<&str> = raw.split_whitespace().collect();
    let mut label = None;
    while let Some(first) = words.first().copied().filter(|first| words.len() > 1 && is_marker(first)) {
        if first.chars().any(char::is_alphabetic) {
            label = Some(first.trim_matches(|letter: char| !letter.is_alphanumeric()).to_owned());
        }
        words.remove(0);
    }
    (label, words.join(" "))
}

fn is_marker(word: &str) -> bool {
    if word.chars().all(|letter| "-–—•*▪◦·>#☐☑".contains(letter)) {
        return true;
    }
    let inner = word.trim_start_matches(['(', '[']).trim_end_matches([')', ']', '.', ':']);
    let closed = inner.len() < word.len();
    let has_digit = inner.chars().any(|letter| letter.is_ascii_digit());
    let numbering = inner.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    // "2.4.1", "3." and "(b)", but not "24" of "24 users" nor "2.5" of "2.5 seconds".
    if numbering && has_digit {
        return closed || inner.matches('.').count() >= 2;
    }
    if closed && inner.len() == 1 && word.ends_with(')') {
        return true;
    }
    // "REQ-12", "FR3:", "NFR-07", "R-1.2"
    let prefix = inner.trim_end_matches(|letter: char| letter.is_ascii_digit() || "-._".contains(letter));
    has_digit
        && !prefix.is_empty()
        && prefix.len() <= 8
        && prefix.chars().all(|letter| letter.is_ascii_uppercase() || letter == '-' || letter == '_')
        && (inner.contains('-') || closed || prefix.len() >= 2 && prefix.contains('R'))
}
