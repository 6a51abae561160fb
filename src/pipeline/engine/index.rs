//! Every sentence of a run in its place. Holds offsets, not words: those are sliced from the texts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::nodes::{Halted, Pace};
use super::super::readers::{Block, BlockKind, SourceText};
use super::split;
use super::texts::OpenText;

/// All sentences in reading order, source by source. What many sentences share stands once, in a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Index {
    pub sentences: Vec<Sentence>,
    /// Heading paths, outermost first, joined by " › ".
    pub headings: Vec<String>,
    pub speakers: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

    /// Adds the sentences of one source.
    pub fn add(&mut self, slot: usize, text: &OpenText, pace: &Pace) -> Result<(), Halted> {
        let source = text.source();
        if source.cues.is_empty() { self.add_blocks(slot, text, pace) } else { self.add_turns(slot, text, pace) }
    }

    fn add_blocks(&mut self, slot: usize, text: &OpenText, pace: &Pace) -> Result<(), Halted> {
        let source = text.source();
        let whole = [Block { kind: BlockKind::Paragraph, start_offset: 0, end_offset: text.characters() }];
        let blocks: &[Block] = if source.blocks.is_empty() { &whole } else { &source.blocks };
        let mut headings = HeadingPath::of(source);
        let mut pages = Pages::of(source);
        let mut lead = None;
        let mut label: Option<String> = None;
        for (done, block) in blocks.iter().enumerate() {
            pace.sentence(done, blocks.len())?;
            let Some(words) = text.slice(block.start_offset, block.end_offset) else { continue };
            let place = place_of(block);
            let ranges = match place {
                Place::Heading | Place::Code => whole_of(words),
                Place::Cell => cells_and_sentences(words),
                _ => split::sentences(words),
            };
            let is_part = matches!(place, Place::Item | Place::Cell);
            let next = blocks.get(done + 1).map(place_of);
            if !is_part {
                label = label_of(words, place, next);
            }
            let path = headings.at(block.start_offset);
            let heading = self.heading(if is_part { under_label(path, label.as_deref()) } else { path });
            let number = self.next_block();
            let mut cursor = Cursor::new(words, block.start_offset);
            if !matches!(place, Place::Item | Place::Boilerplate) {
                lead = None;
            }
            for range in ranges {
                let (start, end) = cursor.characters(&range);
                let is_item = place == Place::Item || words.get(range.clone()).is_some_and(begins_like_item);
                let sentence = Sentence {
                    slot,
                    start,
                    end,
                    place,
                    block: number,
                    heading,
                    page: pages.at(start),
                    lead: if is_item { lead } else { None },
                    speaker: None,
                    start_ms: None,
                    end_ms: None,
                };
                if words.get(range).is_some_and(|sentence| sentence.ends_with(':')) && place != Place::Heading {
                    lead = Some(self.sentences.len());
                }
                self.sentences.push(sentence);
            }
        }
        Ok(())
    }

    /// Speech: cues that follow each other, of one speaker and with nothing but space between, are one turn.
    fn add_turns(&mut self, slot: usize, text: &OpenText, pace: &Pace) -> Result<(), Halted> {
        let cues = &text.source().cues;
        let mut pages = Pages::of(text.source());
        let mut first = 0;
        while let Some(opening) = cues.get(first) {
            pace.mark(first, cues.len())?;
            let mut last = first;
            while let (Some(now), Some(next)) = (cues.get(last), cues.get(last + 1)) {
                let between = text.slice(now.end_offset, next.start_offset);
                let goes_on = next.speaker == opening.speaker && between.is_some_and(|gap| gap.trim().is_empty());
                if !goes_on {
                    break;
                }
                last += 1;
            }
            let turn = cues.get(first..=last).unwrap_or_default();
            let end = turn.last().map_or(opening.end_offset, |cue| cue.end_offset);
            let words = text.slice(opening.start_offset, end).unwrap_or_default();
            let speaker = opening.speaker.as_deref().map(|name| self.speaker(name));
            let number = self.next_block();
            let mut cursor = Cursor::new(words, opening.start_offset);
            let mut from = 0;
            for range in split::sentences(words) {
                let (start, end) = cursor.characters(&range);
                while turn.get(from).is_some_and(|cue| cue.end_offset <= start) {
                    from += 1;
                }
                let within = turn.get(from..).unwrap_or_default();
                let until = within.iter().take_while(|cue| cue.start_offset < end).last();
                self.sentences.push(Sentence {
                    slot,
                    start,
                    end,
                    place: Place::Speech,
                    block: number,
                    heading: None,
                    page: pages.at(start),
                    lead: None,
                    speaker,
                    start_ms: within.first().map(|cue| cue.start_ms),
                    end_ms: until.map(|cue| cue.end_ms),
                });
            }
            first = last + 1;
        }
        Ok(())
    }

    fn next_block(&self) -> usize {
        self.sentences.last().map_or(0, |sentence| sentence.block + 1)
    }

    fn heading(&mut self, path: Option<String>) -> Option<usize> {
        let path = path?;
        if self.headings.last() != Some(&path) {
            self.headings.push(path);
        }
        Some(self.headings.len() - 1)
    }

    fn speaker(&mut self, name: &str) -> usize {
        self.speakers.iter().position(|known| known == name).unwrap_or_else(|| {
            self.speakers.push(name.to_owned());
            self.speakers.len() - 1
        })
    }
}

/// A few words on their own before a list or table are its heading, though the document does not say so.
fn label_of(words: &str, place: Place, next: Option<Place>) -> Option<String> {
    let label = words.trim().trim_end_matches(':');
    let is_short = (1..=4).contains(&label.split_whitespace().count()) && !label.ends_with(['.', '!', '?', ',']);
    let before_parts = matches!(next, Some(Place::Item | Place::Cell));
    (place == Place::Prose && is_short && before_parts).then(|| label.to_owned())
}

fn under_label(path: Option<String>, label: Option<&str>) -> Option<String> {
    match (path, label) {
        (Some(path), Some(label)) => Some(format!("{path} › {label}")),
        (None, Some(label)) => Some(label.to_owned()),
        (path, None) => path,
    }
}

fn place_of(block: &Block) -> Place {
    match block.kind {
        BlockKind::Heading => Place::Heading,
        BlockKind::Paragraph => Place::Prose,
        BlockKind::ListItem => Place::Item,
        BlockKind::TableRow => Place::Cell,
        BlockKind::Code => Place::Code,
        BlockKind::Quote => Place::Quote,
        BlockKind::Boilerplate => Place::Boilerplate,
    }
}

fn whole_of(words: &str) -> Vec<Range<usize>> {
    let start = words.len() - words.trim_start().len();
    let end = words.trim_end().len();
    if start < end { vec![Range { start, end }] } else { Vec::new() }
}

fn cells_and_sentences(words: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for cell in split::cells(words) {
        let inner = words.get(cell.clone()).map(split::sentences).unwrap_or_default();
        found.extend(inner.into_iter().map(|range| cell.start + range.start..cell.start + range.end));
    }
    found
}

fn begins_like_item(sentence: &str) -> bool {
    sentence.starts_with(['-', '•', '–', '*', '▪', '◦'])
}

/// Turns rising byte offsets of one block into character offsets of the text, each byte counted once.
struct Cursor<'a> {
    words: &'a str,
    byte: usize,
    character: usize,
}

impl<'a> Cursor<'a> {
    fn new(words: &'a str, start: usize) -> Self {
        Self { words, byte: 0, character: start }
    }

    fn characters(&mut self, range: &Range<usize>) -> (usize, usize) {
        let start = self.advance(range.start);
        (start, self.advance(range.end))
    }

    fn advance(&mut self, to: usize) -> usize {
        let passed = self.words.get(self.byte..to).unwrap_or_default();
        self.character += passed.chars().count();
        self.byte = self.byte.max(to);
        self.character
    }
}

/// Walks the sections once, in step with the blocks.
struct HeadingPath<'a> {
    source: &'a SourceText,
    next: usize,
    open: Vec<usize>,
}

impl<'a> HeadingPath<'a> {
    fn of(source: &'a SourceText) -> Self {
        Self { source, next: 0, open: Vec::new() }
    }

    fn at(&mut self, offset: usize) -> Option<String> {
        while let Some(section) = self.source.sections.get(self.next).filter(|section| section.start_offset <= offset) {
            self.open.retain(|&open| self.source.sections.get(open).is_some_and(|outer| outer.level < section.level));
            self.open.push(self.next);
            self.next += 1;
        }
        let titles: Vec<&str> = self
            .open
            .iter()
            .filter_map(|&open| self.source.sections.get(open))
            .map(|section| section.title.trim())
            .filter(|title| !title.is_empty())
            .collect();
        (!titles.is_empty()).then(|| titles.join(" › "))
    }
}

/// Walks the pages once.
struct Pages<'a> {
    source: &'a SourceText,
    at: usize,
}

impl<'a> Pages<'a> {
    fn of(source: &'a SourceText) -> Self {
        Self { source, at: 0 }
    }

    fn at(&mut self, offset: usize) -> Option<u32> {
        while self.source.pages.get(self.at).is_some_and(|page| page.end_offset <= offset) {
            self.at += 1;
        }
        self.source.pages.get(self.at).filter(|page| page.start_offset <= offset).map(|page| page.page)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::readers::{Format, Page, read};
    use super::super::super::request::CancelToken;
    use super::super::texts::OpenText;
    use super::*;

    fn indexed(format: Format, words: &str, pages: Vec<Page>) -> (OpenText, Index) {
        let mut source = read(format, words.as_bytes()).unwrap();
        source.pages = pages;
        let text = OpenText::new(Arc::new(source));
        let mut index = Index::default();
        index.add(3, &text, &Pace::new(CancelToken::new())).unwrap();
        (text, index)
    }

    #[test]
    fn a_sentence_knows_its_heading_page_and_lead_in() {
        let words = "# Größe 😀\n\n## Teil\n\nThe system shall:\n\n- sort lists\n- print them\n\nNext one. And last.\n";
        let page = |page, start_offset, end_offset| Page { page, start_offset, end_offset };
        let (text, index) = indexed(Format::Markdown, words, vec![page(1, 0, 20), page(2, 20, 500)]);
        let said: Vec<&str> =
            index.sentences.iter().map(|sentence| text.slice(sentence.start, sentence.end).unwrap()).collect();
        assert_eq!(
            said,
            ["Größe 😀", "Teil", "The system shall:", "sort lists", "print them", "Next one.", "And last."]
        );
        let places: Vec<Place> = index.sentences.iter().map(|sentence| sentence.place).collect();
        assert_eq!(places[2..6], [Place::Prose, Place::Item, Place::Item, Place::Prose]);
        let leads: Vec<Option<usize>> = index.sentences.iter().map(|sentence| sentence.lead).collect();
        assert_eq!(leads, [None, None, None, Some(2), Some(2), None, None]);
        let heading = index.sentences[6].heading.unwrap();
        assert_eq!(index.headings[heading], "Größe 😀 › Teil");
        assert_eq!((index.sentences[0].page, index.sentences[6].page), (Some(1), Some(2)));
        assert_eq!((index.sentences[5].block, index.sentences[6].block), (5, 5));
        assert!(index.sentences.iter().all(|sentence| sentence.slot == 3));
    }

    #[test]
    fn a_spoken_sentence_spans_its_cues_and_no_other_speaker() {
        let words = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>It has to\n\n00:02.000 --> 00:03.000\n<v Ana>be fast. And\n\n\
            00:03.000 --> 00:04.000\n<v Bo>Yes, it has.\n";
        let (text, index) = indexed(Format::Vtt, words, Vec::new());
        let said: Vec<(&str, Option<u64>, Option<u64>)> = index
            .sentences
            .iter()
            .map(|sentence| (text.slice(sentence.start, sentence.end).unwrap(), sentence.start_ms, sentence.end_ms))
            .collect();
        assert_eq!(
            said,
            [
                ("It has to be fast.", Some(1_000), Some(3_000)),
                ("And", Some(2_000), Some(3_000)),
                ("Yes, it has.", Some(3_000), Some(4_000))
            ]
        );
        assert_eq!(index.speakers, ["Ana", "Bo"]);
    }

    #[test]
    fn a_cancel_ends_the_walk() {
        let source = read(Format::Text, b"One sentence. Another one.").unwrap();
        let token = CancelToken::new();
        token.cancel();
        let walked = Index::default().add(0, &OpenText::new(Arc::new(source)), &Pace::new(token));
        assert_eq!(walked, Err(Halted));
    }
}
