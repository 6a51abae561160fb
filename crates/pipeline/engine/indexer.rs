//! Builds the index: walks each text once, block by block or turn by turn, up to the run's bounds.

use std::collections::HashMap;
use std::ops::Range;

use readers::{Block, BlockKind, SourceText};

use super::super::loop_control::{Halted, LoopControl};
use super::super::request::Bounds;
use super::index::{
    BlockContext, Cut, Heading, Index, MAX_HEADING_LENGTH, MAX_HEADINGS, MAX_LEAD_LENGTH, MAX_NAME_LENGTH, Sentence,
};
use super::split;
use super::texts::OpenText;
use super::wording::clipped;

/// An index under construction. Sources must be added in the order of the request.
pub struct Indexer<'a> {
    index: Index,
    bounds: Bounds,
    /// Characters of all sources; `passed` counts those of the sources already added.
    total: usize,
    passed: usize,
    control: &'a LoopControl,
    headings: HashMap<Heading, usize>,
    speakers: HashMap<String, usize>,
}

impl<'a> Indexer<'a> {
    /// Creates an indexer. `total` is the number of characters of all sources, for the progress.
    pub fn new(bounds: Bounds, total: usize, control: &'a LoopControl) -> Self {
        let index = Index::default();
        Self { index, bounds, total, passed: 0, control, headings: HashMap::new(), speakers: HashMap::new() }
    }

    /// Adds the sentences of one source, as far as the bounds allow.
    pub fn add(&mut self, slot: usize, text: &OpenText) -> Result<(), Halted> {
        let left = self.bounds.characters.saturating_sub(self.passed);
        let limit = if self.is_full() { 0 } else { left.min(text.characters()) };
        let taken = if text.source().cues.is_empty() {
            self.add_blocks(slot, text, limit)?
        } else {
            self.add_turns(slot, text, limit)?
        };
        if taken < text.characters() {
            self.index.cut.push(Cut { slot, characters: taken });
        }
        self.passed += text.characters();
        Ok(())
    }

    pub fn finish(self) -> Index {
        self.index
    }

    fn is_full(&self) -> bool {
        self.index.sentences.len() >= self.bounds.sentences
    }

    /// Adds blocks up to `limit`; returns how many characters were indexed.
    fn add_blocks(&mut self, slot: usize, text: &OpenText, limit: usize) -> Result<usize, Halted> {
        let source = text.source();
        let whole = [Block { kind: BlockKind::Paragraph, start_offset: 0, end_offset: text.characters() }];
        let blocks: &[Block] = if source.blocks.is_empty() { &whole } else { &source.blocks };
        let mut outline = SectionCursor::of(source);
        let mut pages = PageCursor::of(source);
        let mut lead = None;
        let mut label = None;
        for (done, block) in blocks.iter().enumerate().take_while(|(_, block)| block.start_offset < limit) {
            self.control.report(self.passed + block.start_offset, self.total)?;
            let Some(words) = text.slice(block.start_offset, block.end_offset.min(limit)) else { continue };
            let context = context_of(block);
            let above = outline.at(block.start_offset, self);
            let is_part = matches!(context, BlockContext::Item | BlockContext::Cell);
            if !is_part {
                let next = blocks.get(done + 1).map(context_of);
                label = label_of(words, context, next).map(|title| self.heading(title, above));
            }
            let heading = label.filter(|_| is_part).or(above);
            let number = self.next_block();
            let mut cursor = ScanPosition::new(words, block.start_offset);
            if !matches!(context, BlockContext::Item | BlockContext::Boilerplate) {
                lead = None;
            }
            for range in ranges(words, context) {
                let (start, end) = cursor.characters(&range);
                if self.is_full() {
                    return Ok(start);
                }
                self.control.report(self.passed + start, self.total)?;
                let sentence_text = words.get(range).unwrap_or_default();
                let is_item = context == BlockContext::Item || begins_like_item(sentence_text);
                let sentence = Sentence {
                    slot,
                    start,
                    end,
                    context,
                    block: number,
                    heading,
                    page: pages.at(start),
                    lead: if is_item { lead } else { None },
                    speaker: None,
                    start_ms: None,
                    end_ms: None,
                };
                if sentence_text.ends_with(':') && context != BlockContext::Heading {
                    lead = (end - start <= MAX_LEAD_LENGTH).then_some(self.index.sentences.len());
                }
                self.index.sentences.push(sentence);
            }
        }
        Ok(limit)
    }

    /// Adds speech by turns: consecutive cues of one speaker with only white space between them form one turn.
    fn add_turns(&mut self, slot: usize, text: &OpenText, limit: usize) -> Result<usize, Halted> {
        let cues = &text.source().cues;
        let mut pages = PageCursor::of(text.source());
        let mut first = 0;
        while let Some(opening) = cues.get(first).filter(|cue| cue.start_offset < limit) {
            self.control.report(self.passed + opening.start_offset, self.total)?;
            let mut last = first;
            while let (Some(now), Some(next)) = (cues.get(last), cues.get(last + 1)) {
                let between = text.slice(now.end_offset, next.start_offset);
                let continues = next.speaker == opening.speaker && between.is_some_and(|gap| gap.trim().is_empty());
                if !continues {
                    break;
                }
                last += 1;
            }
            let turn = cues.get(first..=last).unwrap_or_default();
            let end = turn.last().map_or(opening.end_offset, |cue| cue.end_offset);
            let words = text.slice(opening.start_offset, end.min(limit)).unwrap_or_default();
            let speaker = opening.speaker.as_deref().map(|name| self.speaker(name));
            let number = self.next_block();
            let mut cursor = ScanPosition::new(words, opening.start_offset);
            let mut from = 0;
            for range in split::sentences(words) {
                let (start, end) = cursor.characters(&range);
                if self.is_full() {
                    return Ok(start);
                }
                self.control.report(self.passed + start, self.total)?;
                while turn.get(from).is_some_and(|cue| cue.end_offset <= start) {
                    from += 1;
                }
                let within = turn.get(from..).unwrap_or_default();
                let until = within.iter().take_while(|cue| cue.start_offset < end).last();
                self.index.sentences.push(Sentence {
                    slot,
                    start,
                    end,
                    context: BlockContext::Speech,
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
        Ok(limit)
    }

    fn next_block(&self) -> usize {
        self.index.sentences.last().map_or(0, |sentence| sentence.block + 1)
    }

    /// Returns the number of this heading; the same title under the same heading has one number.
    fn heading(&mut self, title: &str, above: Option<usize>) -> usize {
        let heading = Heading { title: clipped(title, MAX_HEADING_LENGTH).into_owned(), above };
        let headings = &mut self.index.headings;
        *self.headings.entry(heading).or_insert_with_key(|heading| {
            headings.push(heading.clone());
            headings.len() - 1
        })
    }

    fn speaker(&mut self, name: &str) -> usize {
        let speakers = &mut self.index.speakers;
        *self.speakers.entry(clipped(name, MAX_NAME_LENGTH).into_owned()).or_insert_with_key(|name| {
            speakers.push(name.clone());
            speakers.len() - 1
        })
    }
}

/// Returns the words of a short block before a list or table, which serve as its heading although the document does not
/// mark them so.
fn label_of(words: &str, context: BlockContext, next: Option<BlockContext>) -> Option<&str> {
    let label = words.trim().trim_end_matches(':');
    let is_short =
        (1..=4).contains(&label.split_whitespace().take(5).count()) && !label.ends_with(['.', '!', '?', ',']);
    let before_parts = matches!(next, Some(BlockContext::Item | BlockContext::Cell));
    (context == BlockContext::Prose && is_short && before_parts).then_some(label)
}

fn context_of(block: &Block) -> BlockContext {
    match block.kind {
        BlockKind::Heading => BlockContext::Heading,
        BlockKind::Paragraph => BlockContext::Prose,
        BlockKind::ListItem => BlockContext::Item,
        BlockKind::TableRow => BlockContext::Cell,
        BlockKind::Code => BlockContext::Code,
        BlockKind::Quote => BlockContext::Quote,
        BlockKind::Boilerplate => BlockContext::Boilerplate,
    }
}

fn ranges(words: &str, context: BlockContext) -> Box<dyn Iterator<Item = Range<usize>> + '_> {
    match context {
        BlockContext::Heading | BlockContext::Code => Box::new(split::pieces(words)),
        BlockContext::Cell => Box::new(split::cells(words).flat_map(|cell| {
            let inner = split::sentences(words.get(cell.clone()).unwrap_or_default());
            inner.map(move |range| cell.start + range.start..cell.start + range.end)
        })),
        _ => Box::new(split::sentences(words)),
    }
}

fn begins_like_item(sentence: &str) -> bool {
    sentence.starts_with(['-', '•', '–', '*', '▪', '◦'])
}

/// Converts ascending byte offsets of one block to character offsets of the text, counting each byte once.
struct ScanPosition<'a> {
    words: &'a str,
    byte: usize,
    character: usize,
}

impl<'a> ScanPosition<'a> {
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
struct SectionCursor<'a> {
    source: &'a SourceText,
    next: usize,
    /// Level and heading of each open section, outermost first. A section without a title has the heading above it.
    open: Vec<(u8, Option<usize>)>,
}

impl<'a> SectionCursor<'a> {
    fn of(source: &'a SourceText) -> Self {
        Self { source, next: 0, open: Vec::new() }
    }

    /// Returns the innermost heading above a block at `offset`.
    fn at(&mut self, offset: usize, indexer: &mut Indexer) -> Option<usize> {
        while let Some(section) = self.source.sections.get(self.next).filter(|section| section.start_offset <= offset) {
            while self.open.pop_if(|(level, _)| *level >= section.level).is_some() {}
            let above = self.open.iter().take(MAX_HEADINGS - 1).next_back().and_then(|&(_, heading)| heading);
            let title = section.title.trim();
            let heading = if title.is_empty() { above } else { Some(indexer.heading(title, above)) };
            self.open.push((section.level, heading));
            self.next += 1;
        }
        self.open.last().and_then(|&(_, heading)| heading)
    }
}

/// Walks the pages once, in step with the sentences.
struct PageCursor<'a> {
    source: &'a SourceText,
    at: usize,
}

impl<'a> PageCursor<'a> {
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

    use readers::{Format, SourcePage, read};

    use super::super::index::BlockContext;
    use super::*;
    use crate::request::CancelToken;

    fn indexed(format: Format, words: &str, pages: Vec<SourcePage>) -> (OpenText, Index) {
        let mut source = read(format, words.as_bytes()).unwrap();
        source.pages = pages;
        let text = OpenText::new(Arc::new(source));
        let index = bounded(&text, Bounds::default());
        (text, index)
    }

    fn bounded(text: &OpenText, bounds: Bounds) -> Index {
        let control = LoopControl::new(CancelToken::new());
        let mut indexer = Indexer::new(bounds, text.characters(), &control);
        indexer.add(3, text).unwrap();
        indexer.finish()
    }

    #[test]
    fn a_sentence_knows_its_heading_page_and_lead_in() {
        let words = "# Größe 😀\n\n## Teil\n\nThe system shall:\n\n- sort lists\n- print them\n\nNext one. And last.\n";
        let page = |page, start_offset, end_offset| SourcePage { page, start_offset, end_offset };
        let (text, index) = indexed(Format::Markdown, words, vec![page(1, 0, 20), page(2, 20, 500)]);
        let sentences: Vec<&str> =
            index.sentences.iter().map(|sentence| text.slice(sentence.start, sentence.end).unwrap()).collect();
        assert_eq!(
            sentences,
            ["Größe 😀", "Teil", "The system shall:", "sort lists", "print them", "Next one.", "And last."]
        );
        let contexts: Vec<BlockContext> = index.sentences.iter().map(|sentence| sentence.context).collect();
        assert_eq!(contexts[2..6], [BlockContext::Prose, BlockContext::Item, BlockContext::Item, BlockContext::Prose]);
        let leads: Vec<Option<usize>> = index.sentences.iter().map(|sentence| sentence.lead).collect();
        assert_eq!(leads, [None, None, None, Some(2), Some(2), None, None]);
        let heading = index.sentences[6].heading.unwrap();
        assert_eq!(index.path(heading), "Größe 😀 › Teil");
        assert_eq!((index.sentences[0].page, index.sentences[6].page), (Some(1), Some(2)));
        assert_eq!((index.sentences[5].block, index.sentences[6].block), (5, 5));
        assert!(index.sentences.iter().all(|sentence| sentence.slot == 3));
    }

    #[test]
    fn a_spoken_sentence_spans_its_cues_and_no_other_speaker() {
        let words = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>It has to\n\n00:02.000 --> 00:03.000\n<v Ana>be fast. And\n\n\
            00:03.000 --> 00:04.000\n<v Bo>Yes, it has.\n";
        let (text, index) = indexed(Format::Vtt, words, Vec::new());
        let timed: Vec<(&str, Option<u64>, Option<u64>)> = index
            .sentences
            .iter()
            .map(|sentence| (text.slice(sentence.start, sentence.end).unwrap(), sentence.start_ms, sentence.end_ms))
            .collect();
        assert_eq!(
            timed,
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
        let control = LoopControl::new(token);
        let walked = Indexer::new(Bounds::default(), 26, &control).add(0, &OpenText::new(Arc::new(source)));
        assert_eq!(walked, Err(Halted));
    }

    #[test]
    fn what_goes_past_the_bounds_is_said_and_not_taken_in() {
        let source = read(Format::Text, "One sentence. Another one.\n\nA third.".as_bytes()).unwrap();
        let text = OpenText::new(Arc::new(source));
        let of = |characters, sentences| {
            let index = bounded(&text, Bounds { characters, sentences, ..Bounds::default() });
            (index.sentences.len(), index.cut.first().map(|cut| cut.characters))
        };
        assert_eq!(of(36, 3), (3, None));
        assert_eq!(of(36, 2), (2, Some(28)));
        assert_eq!(of(20, 3), (2, Some(20)));
        assert_eq!(of(0, 3), (0, Some(0)));
    }

    #[test]
    fn headings_are_short_and_no_deeper_than_the_deepest() {
        let nested: String = (1..=6).map(|level| format!("{} {}\n\n", "#".repeat(level), "long ".repeat(90))).collect();
        let (_, index) = indexed(Format::Markdown, &format!("{nested}It is so.\n\n# Next\n\nIt is so.\n"), Vec::new());
        assert!(index.headings.iter().all(|heading| heading.title.chars().count() <= MAX_HEADING_LENGTH));
        let deep = index.path(index.sentences[6].heading.unwrap());
        assert_eq!(deep.split(" › ").count(), MAX_HEADINGS);
        assert_eq!(index.path(index.sentences[8].heading.unwrap()), "Next");
    }
}
