//! The index with the words of its sentences: the input of the rules.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::super::loop_control::{Halted, LoopControl};
use super::super::request::ReadySource;
use super::super::result::{Citation, Warning};
use super::index::{BlockContext, Index, Sentence};
use super::speakers::Speakers;
use super::texts::Texts;
use super::{addressed, exclusions};

/// All sentences in reading order, with their words prepared once.
#[derive(Debug, Default)]
pub struct Corpus {
    texts: Arc<Texts>,
    index: Index,
    sentences: Vec<PreparedSentence>,
    speakers: Speakers,
}

/// One sentence, prepared for the rules.
#[derive(Debug)]
pub struct PreparedSentence {
    pub context: BlockContext,
    pub block: usize,
    /// White space collapsed, list marker and numbering removed.
    pub words: String,
    /// `words` in lower case, typographic quotes and apostrophes replaced by plain ones.
    pub lower: String,
    /// Number of words in `lower`.
    pub count: usize,
    pub above: Arc<Headings>,
    pub lead: Option<usize>,
    pub speaker: Option<usize>,
    /// The sentence has words of small talk, in a corpus whose topic they are not.
    pub is_small_talk: bool,
    /// It addresses a machine, or follows what does in its block or list: none of its words is an item.
    pub is_addressed: bool,
    /// The identifier that numbered the sentence, such as `REQ-12`, if there was one.
    pub label: Option<String>,
}

/// Properties of the headings above sentences, outermost to innermost. Shared by all sentences under the same headings,
/// ignoring letter case.
#[derive(Debug, Default)]
pub struct Headings {
    /// Lower case; empty without a heading.
    pub innermost: String,
    /// One of the headings is for definitions, procedure or the past.
    pub excluded: bool,
    /// One of the headings is about requirements.
    pub about_requirements: bool,
}

/// How many places a warning names; the rest is counted.
const MOST_PLACES: usize = 5;
/// Small talk in more than one of this many sentences is the topic of the text and no longer counts as small talk.
const TOPIC: usize = 25;

impl Corpus {
    pub fn new(texts: Arc<Texts>, index: Index, control: &LoopControl) -> Result<Self, Halted> {
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
            });
        }
        mark_addressed(&mut sentences);
        let small_talk = sentences.iter().filter(|sentence| sentence.is_small_talk).count();
        if small_talk * TOPIC > sentences.len() {
            sentences.iter_mut().for_each(|sentence| sentence.is_small_talk = false);
        }
        let speakers = Speakers::new(&index.speakers);
        Ok(Self { texts, index, sentences, speakers })
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
            let first = found.iter().take(MOST_PLACES).filter_map(|at| self.reference(*at, sources));
            let named: Vec<String> = first.map(|citation| place(&citation)).collect();
            let more = match found.len().saturating_sub(MOST_PLACES) {
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

impl PreparedSentence {
    /// Prepares a sentence without a heading or neighbours.
    pub fn alone(raw: &str, context: BlockContext) -> Self {
        let (label, words) = unmarked(raw);
        let lower = plain(&words);
        let (count, above) = (lower.split_whitespace().count(), Arc::default());
        Self {
            context,
            block: 0,
            words,
            lower,
            count,
            above,
            lead: None,
            speaker: None,
            is_small_talk: false,
            is_addressed: false,
            label,
        }
    }
}

/// Returns where a citation is, in words.
fn place(citation: &Citation) -> String {
    match (citation.page, citation.start_ms) {
        (Some(page), _) => format!("page {page}"),
        (None, Some(start_ms)) => {
            let seconds = start_ms / 1000;
            format!("{}:{:02} minutes from the start", seconds / 60, seconds % 60)
        }
        (None, None) => format!("characters {} to {}", citation.start_offset, citation.end_offset),
    }
}

/// Marks what addresses a machine, the rest of its block, and the list under it.
fn mark_addressed(sentences: &mut [PreparedSentence]) {
    let mut marked: Vec<bool> = Vec::with_capacity(sentences.len());
    let mut block = None;
    for sentence in sentences {
        let is_under = sentence.lead.is_some_and(|lead| marked.get(lead) == Some(&true));
        sentence.is_addressed = block == Some(sentence.block) || is_under || addressed::is_addressed(&sentence.lower);
        if sentence.is_addressed {
            block = Some(sentence.block);
        }
        marked.push(sentence.is_addressed);
    }
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

/// Converts to lower case with plain quotes and apostrophes.
pub fn plain(words: &str) -> String {
    words.to_lowercase().replace(['’', '‘', '´'], "'").replace(['“', '”', '„', '«', '»'], "\"")
}

/// Collapses white space and removes a bullet, a number or an identifier from the front; returns the identifier, if
/// any, and the remaining words.
fn unmarked(raw: &str) -> (Option<String>, String) {
    let words: Vec<&str> = raw.split_whitespace().collect();
    let mut words = words.as_slice();
    let mut label = None;
    while let [first, others @ ..] = words
        && !others.is_empty()
        && is_marker(first)
    {
        if first.chars().any(char::is_alphabetic) {
            label = Some(first.trim_matches(|character: char| !character.is_alphanumeric()).to_owned());
        }
        words = others;
    }
    (label, words.join(" "))
}

fn is_marker(word: &str) -> bool {
    if word.chars().all(|character| "-–—•*▪◦·>#☐☑".contains(character)) {
        return true;
    }
    let inner = word.trim_start_matches(['(', '[']).trim_end_matches([')', ']', '.', ':']);
    let closed = inner.len() < word.len();
    let has_digit = inner.chars().any(|character| character.is_ascii_digit());
    let numbering = inner.chars().all(|character| character.is_ascii_digit() || character == '.');
    // "2.4.1", "3." and "(b)", but not "24" of "24 users" nor "2.5" of "2.5 seconds".
    if numbering && has_digit {
        return closed || inner.matches('.').count() >= 2;
    }
    if closed && inner.len() == 1 && word.ends_with(')') {
        return true;
    }
    // "REQ-12", "FR3:", "NFR-07", "R-1.2"
    let prefix = inner.trim_end_matches(|character: char| character.is_ascii_digit() || "-._".contains(character));
    has_digit
        && !prefix.is_empty()
        && prefix.len() <= 8
        && prefix.chars().all(|character| character.is_ascii_uppercase() || character == '-' || character == '_')
        && (inner.contains('-') || closed || prefix.len() >= 2 && prefix.contains('R'))
}
