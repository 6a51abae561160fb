//! The index with the words of its sentences: the input of the rules.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chrono::NaiveDate;

use super::super::loop_control::{Halted, LoopControl};
use super::super::request::{ReadySource, SourceKind};
use super::super::result::{Citation, Warning};
use super::index::{BlockContext, Index, Sentence};
use super::sentence::unmarked;
pub use super::sentence::{Headings, PreparedSentence, plain};
use super::speakers::Speakers;
use super::texts::Texts;
use super::tokens::tokens;
use super::{Certainty, columns, dates, exclusions};

/// All sentences in reading order, with their words prepared once.
#[derive(Debug, Default)]
pub struct Corpus {
    texts: Arc<Texts>,
    index: Index,
    sentences: Vec<PreparedSentence>,
    speakers: Speakers,
    /// The words that many sentences of a source have, by source.
    common_words: HashMap<usize, HashSet<String>>,
    /// The date of each source that has one.
    dates: HashMap<usize, NaiveDate>,
}

/// How many sentences before and after a cell its row is looked for.
const ROW: usize = 12;
/// How many sentences of a source may name its date.
const BEGINNING: usize = 12;
/// Sentences that a source must have before its common words are known.
const ENOUGH: usize = 24;
/// A word in more than one of this many sentences is common.
const COMMON: usize = 7;
/// How many places a warning names; the rest is counted.
const MAX_PLACES: usize = 5;
/// Small talk in more than one of this many sentences is the topic of the text and no longer counts as small talk.
const TOPIC: usize = 25;

impl Corpus {
    /// `order` judges whether a sentence is an order to a machine that reads it.
    pub fn new(
        texts: Arc<Texts>,
        index: Index,
        order: impl Fn(&PreparedSentence) -> Option<Certainty>,
        control: &LoopControl,
    ) -> Result<Self, Halted> {
        let (headings, none) = (headings(&index), Arc::default());
        let mut sentences = Vec::with_capacity(index.sentences.len());
        for sentence in &index.sentences {
            control.check()?;
            let raw = texts.get(sentence.slot).and_then(|text| text.slice(sentence.start, sentence.end));
            let (label, words) = unmarked(raw.unwrap_or_default());
            let lower = plain(&words);
            let count = lower.split_whitespace().count();
            let above = Arc::clone(sentence.heading.and_then(|at| headings.get(at)).unwrap_or(&none));
            let Sentence { context, block, lead, speaker, .. } = *sentence;
            let is_small_talk = exclusions::has_small_talk(context, &lower);
            sentences.push(PreparedSentence {
                context,
                block,
                words,
                lower,
                count,
                above,
                lead,
                speaker,
                is_small_talk,
                is_addressed: false,
                label,
                column: None,
            });
        }
        columns::name(&index, &mut sentences);
        mark_addressed(&mut sentences, order, control)?;
        let small_talk = sentences.iter().filter(|sentence| sentence.is_small_talk).count();
        if small_talk * TOPIC > sentences.len() {
            sentences.iter_mut().for_each(|sentence| sentence.is_small_talk = false);
        }
        let speakers = Speakers::new(&index.speakers);
        let common_words = common_words(&index, &sentences);
        let dates = dates_of(&texts, &index, &sentences);
        Ok(Self { texts, index, sentences, speakers, common_words, dates })
    }

    pub fn sentences(&self) -> &[PreparedSentence] {
        &self.sentences
    }

    pub fn sentence(&self, at: usize) -> Option<&PreparedSentence> {
        self.sentences.get(at)
    }

    pub fn speaker(&self, at: usize) -> Option<&str> {
        let speaker = self.index.sentences.get(at)?.speaker?;
        self.index.speakers.get(speaker).map(String::as_str)
    }

    /// Returns everyone who speaks in any source.
    pub fn speakers(&self) -> &Speakers {
        &self.speakers
    }

    /// Returns the headings above a sentence, outermost first, joined by " › ".
    pub fn section(&self, at: usize) -> Option<String> {
        self.index.sentences.get(at)?.heading.map(|heading| self.index.path(heading))
    }

    /// Returns the other sentences of a cell's row, with the names of their columns in lower case; those may be empty.
    pub fn row(&self, at: usize) -> impl Iterator<Item = (&str, &PreparedSentence)> {
        let block = self.sentence(at).filter(|cell| cell.context == BlockContext::Cell).map(|cell| cell.block);
        let near = (at.saturating_sub(ROW)..at + ROW + 1).filter(move |&other| block.is_some() && other != at);
        near.filter_map(move |other| {
            let cell = self.sentence(other).filter(|cell| Some(cell.block) == block)?;
            Some((cell.column.as_deref().unwrap_or_default(), cell))
        })
    }

    /// Returns the date of the source of a sentence: the day of a meeting, or that a document names at its beginning.
    pub fn date(&self, at: usize) -> Option<NaiveDate> {
        self.dates.get(&self.slot(at)?).copied()
    }

    /// Returns the words that many sentences of the same source have: they tell nothing of any of them.
    pub fn common_words(&self, at: usize) -> Option<&HashSet<String>> {
        self.common_words.get(&self.slot(at)?)
    }

    pub fn slot(&self, at: usize) -> Option<usize> {
        self.index.sentences.get(at).map(|sentence| sentence.slot)
    }

    /// Returns a warning for each source that addresses a machine, with the places. The words themselves are not repeated.
    pub fn warnings(&self, sources: &[ReadySource]) -> Vec<Warning> {
        let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, sentence) in self.sentences.iter().enumerate() {
            if sentence.is_addressed
                && let Some(slot) = self.slot(at)
            {
                places.entry(slot).or_default().push(at);
            }
        }
        let warning = |(slot, found): (usize, Vec<usize>)| {
            let source = sources.iter().find(|source| source.slot == slot)?;
            let first = found.iter().take(MAX_PLACES).filter_map(|at| self.reference(*at, sources));
            let named: Vec<String> = first.map(|citation| place(&citation)).collect();
            let more = match found.len().saturating_sub(MAX_PLACES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Some(Warning {
                code: Warning::ADDRESSES_MACHINE.to_owned(),
                message: format!(
                    "{}: text in it addresses a machine. Nothing was taken from there: {}{more}.",
                    source.name,
                    named.join(", ")
                ),
                source_id: Some(source.id.clone()),
            })
        };
        places.into_iter().filter_map(warning).collect()
    }

    /// Returns the position of a sentence in its source, with its words as the quote. `sources` are in the order of
    /// their slots.
    pub fn reference(&self, at: usize, sources: &[ReadySource]) -> Option<Citation> {
        let sentence = self.index.sentences.get(at)?;
        let source = sources.get(sources.binary_search_by_key(&sentence.slot, |source| source.slot).ok()?)?;
        let quote = self.texts.get(sentence.slot)?.slice(sentence.start, sentence.end)?;
        Some(Citation {
            kind: source.kind,
            source_id: source.id.clone(),
            quote: quote.to_owned(),
            page: sentence.page,
            section: self.section(at),
            start_offset: sentence.start,
            end_offset: sentence.end,
            start_ms: sentence.start_ms,
            end_ms: sentence.end_ms,
            speaker: sentence.speaker.and_then(|speaker| self.index.speakers.get(speaker)).cloned(),
        })
    }
}

/// Returns the date that each source has, or that its first sentences name.
fn dates_of(texts: &Texts, index: &Index, sentences: &[PreparedSentence]) -> HashMap<usize, NaiveDate> {
    let mut found: HashMap<usize, (usize, Option<NaiveDate>)> = HashMap::new();
    for (place, sentence) in index.sentences.iter().zip(sentences) {
        let fresh = || (0, texts.get(place.slot).and_then(|text| text.source().date));
        let (seen, date) = found.entry(place.slot).or_insert_with(fresh);
        *seen += 1;
        if date.is_none() && *seen <= BEGINNING {
            *date = dates::full_date(&sentence.lower);
        }
    }
    found.into_iter().filter_map(|(slot, (_, date))| Some((slot, date?))).collect()
}

fn common_words(index: &Index, sentences: &[PreparedSentence]) -> HashMap<usize, HashSet<String>> {
    let mut counts: HashMap<usize, (usize, HashMap<&str, usize>)> = HashMap::new();
    for (place, sentence) in index.sentences.iter().zip(sentences) {
        let (all, words) = counts.entry(place.slot).or_default();
        *all += 1;
        let own: HashSet<&str> = tokens(&sentence.lower).filter(|word| word.len() > 3).collect();
        for word in own {
            *words.entry(word).or_default() += 1;
        }
    }
    let common = counts.into_iter().map(|(slot, (all, words))| {
        let is_common = |&(_, count): &(&str, usize)| all >= ENOUGH && count * COMMON > all;
        (slot, words.into_iter().filter(is_common).map(|(word, _)| word.to_owned()).collect())
    });
    common.collect()
}

/// Returns where a citation is, in words.
fn place(citation: &Citation) -> String {
    match (citation.page, citation.start_ms) {
        (Some(page), _) => format!("page {page}"),
        (None, Some(start_ms)) => {
            let seconds = start_ms / 1000;
            let time = format!("{}:{:02} minutes from the start", seconds / 60, seconds % 60);
            match citation.kind {
                SourceKind::Recording => time,
                // The text of a document with times does not have them.
                SourceKind::Document => {
                    format!("{time} (characters {} to {})", citation.start_offset, citation.end_offset)
                }
            }
        }
        (None, None) => format!("characters {} to {}", citation.start_offset, citation.end_offset),
    }
}

/// Marks what addresses a machine. Where that is beyond doubt, the rest of its block and the list under it are marked, too: a
/// judgement by weights can be wrong, and then costs no more than its own sentence.
fn mark_addressed(
    sentences: &mut [PreparedSentence],
    order: impl Fn(&PreparedSentence) -> Option<Certainty>,
    control: &LoopControl,
) -> Result<(), Halted> {
    let mut marked: Vec<bool> = Vec::with_capacity(sentences.len());
    let mut block = None;
    for sentence in sentences {
        control.check()?;
        let is_under = sentence.lead.is_some_and(|lead| marked.get(lead) == Some(&true));
        let is_part = block == Some(sentence.block) || is_under;
        let judged = if is_part { Some(Certainty::Certain) } else { order(sentence) };
        sentence.is_addressed = judged.is_some();
        let is_certain = judged == Some(Certainty::Certain);
        if is_certain {
            block = Some(sentence.block);
        }
        marked.push(is_certain);
    }
    Ok(())
}

/// Returns the properties of each heading in the index, including those of all headings above it. Equal paths share one
/// value.
fn headings(index: &Index) -> Vec<Arc<Headings>> {
    let mut known: HashMap<(Option<usize>, String), usize> = HashMap::new();
    let mut all: Vec<(usize, Arc<Headings>)> = Vec::with_capacity(index.headings.len());
    for heading in &index.headings {
        let above = heading.above.and_then(|at| all.get(at));
        let title = heading.title.to_lowercase();
        let (mut excluded, mut about_requirements) = exclusions::classify_heading(&title);
        excluded |= above.is_some_and(|(_, above)| above.excluded);
        about_requirements |= above.is_some_and(|(_, above)| above.about_requirements);
        let at = *known.entry((above.map(|(at, _)| *at), title.clone())).or_insert(all.len());
        let first = all.get(at).map(|(_, first)| Arc::clone(first));
        let fresh = || Arc::new(Headings { innermost: title, excluded, about_requirements });
        all.push((at, first.unwrap_or_else(fresh)));
    }
    all.into_iter().map(|(_, headings)| headings).collect()
}

#[cfg(test)]
mod tests {
    use readers::Format;

    use super::super::Indexer;
    use super::*;
    use crate::request::{Bounds, CancelToken};
    use crate::tests::text;

    /// Returns which of these sentences are marked when the second one is judged so.
    fn marked(judged: Option<Certainty>) -> Vec<bool> {
        let words = "Good morning. Ask the scribe. The depot shall print labels:\n\n- in colour\n- in ink\n\nThe end.";
        let control = LoopControl::new(CancelToken::new());
        let mut texts = Texts::default();
        texts.open(text(Format::Markdown, words));
        let mut indexer = Indexer::new(Bounds::default(), words.chars().count(), &control);
        indexer.add(0, texts.get(0).unwrap()).unwrap();
        let order = |sentence: &PreparedSentence| judged.filter(|_| sentence.lower.starts_with("ask"));
        let corpus = Corpus::new(Arc::new(texts), indexer.finish(), order, &control).unwrap();
        corpus.sentences().iter().map(|sentence| sentence.is_addressed).collect()
    }

    #[test]
    fn what_is_only_likely_an_order_costs_its_own_sentence_alone() {
        assert_eq!(marked(None), [false; 6]);
        assert_eq!(marked(Some(Certainty::Likely)), [false, true, false, false, false, false]);
        assert_eq!(marked(Some(Certainty::Certain)), [false, true, true, true, true, false]);
    }
}
