//! What the heads see of a sentence: its words, the rules it meets, and what stands around it, as hashes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::NaiveDate;

use super::super::super::loop_control::{Halted, LoopControl};
use super::super::corpus::{Corpus, Headings, PreparedSentence};
use super::super::index::BlockContext;
use super::super::tokens::tokens;
use super::super::{action, assignee, cues, dates, decision, exclusions, kinds, need, question, risk};

/// The features of one sentence, as hashes of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features(Vec<u32>);

/// What is known of a whole corpus before its sentences are looked at one by one.
#[derive(Debug)]
pub struct CorpusContext {
    /// The cues of each sentence.
    cues: Vec<u64>,
    /// The judgement of the rules on requirements, for each sentence.
    needs: Vec<f64>,
    /// Spoken questions that are left open.
    left_open: Vec<usize>,
    /// The cues of headings, by the address of what the sentences under them share.
    headings: HashMap<usize, u64>,
    /// Share of sentences with a binding verb, by source, in tenths.
    binding: HashMap<usize, usize>,
    /// Words in lower case that are always written with a capital, also within sentences, by source.
    names: HashMap<usize, HashSet<String>>,
}

impl CorpusContext {
    pub fn new(corpus: &Corpus, control: &LoopControl) -> Result<Self, Halted> {
        let sentences = corpus.sentences();
        let needs = need::likelihoods(corpus, control)?;
        let left_open = question::left_open(corpus, control)?;
        let mut cues = Vec::with_capacity(sentences.len());
        let mut headings = HashMap::new();
        let mut counts: HashMap<usize, (usize, usize)> = HashMap::new();
        for (at, sentence) in sentences.iter().enumerate() {
            control.check()?;
            let own = cues::of(sentence);
            cues.push(own);
            headings.entry(address(&sentence.above)).or_insert_with(|| cues::of_heading(&sentence.above.innermost));
            let (all, binding) = counts.entry(corpus.slot(at).unwrap_or_default()).or_default();
            *all += 1;
            *binding += usize::from(cues::is_binding(own));
        }
        let binding = counts.into_iter().map(|(slot, (all, binding))| (slot, binding * 10 / all.max(1))).collect();
        let names = names(corpus, control)?;
        Ok(Self { cues, needs, left_open, headings, binding, names })
    }

    /// Returns the rules' judgement on whether the sentence is a requirement, 0–1.
    pub fn need(&self, at: usize) -> f64 {
        self.needs.get(at).copied().unwrap_or(0.0)
    }

    /// Whether a word in lower case is a name in this source.
    fn is_name(&self, slot: Option<usize>, word: &str) -> bool {
        slot.and_then(|slot| self.names.get(&slot)).is_some_and(|names| names.contains(word))
    }

    /// Whether a later sentence says that this spoken question stays open.
    pub fn is_left_open(&self, at: usize) -> bool {
        self.left_open.binary_search(&at).is_ok()
    }
}

/// Returns the words of each source that begin with a capital wherever they stand, and do so within a sentence.
fn names(corpus: &Corpus, control: &LoopControl) -> Result<HashMap<usize, HashSet<String>>, Halted> {
    let mut names: HashMap<usize, HashSet<String>> = HashMap::new();
    let mut small: HashMap<usize, HashSet<&str>> = HashMap::new();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.check()?;
        let Some(slot) = corpus.slot(at) else { continue };
        for (position, word) in sentence.words.split(|c: char| !c.is_alphabetic() && c != '\'').enumerate() {
            let is_capital = word.chars().next().is_some_and(char::is_uppercase);
            let is_shouted = word.chars().skip(1).any(char::is_uppercase);
            if is_capital && position > 0 && !is_shouted && word.len() > 1 {
                names.entry(slot).or_default().insert(word.trim_end_matches("'s").to_lowercase());
            } else if !is_capital && word.len() > 1 {
                small.entry(slot).or_default().insert(word);
            }
        }
    }
    for (slot, names) in &mut names {
        if let Some(small) = small.get(slot) {
            names.retain(|name| !small.contains(name.as_str()));
        }
    }
    Ok(names)
}

impl Features {
    /// The hashes, each once.
    pub fn hashes(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    /// Adds the judgement of a head, in tenths.
    pub fn with_probabilities(mut self, name: &str, probabilities: &[f32]) -> Self {
        for (class, probability) in probabilities.iter().enumerate() {
            let class = NUMBERS.get(class).copied().unwrap_or_default();
            self.add(name, &[class, likely(f64::from(*probability))]);
        }
        self.finish()
    }

    pub(super) fn add(&mut self, name: &str, parts: &[&str]) {
        let mut hash = 0x811C_9DC5_u32;
        let mut take = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
            }
        };
        take(name.as_bytes());
        for part in parts {
            take(&[0]);
            take(part.as_bytes());
        }
        // The lower bits of this hash alone are weak.
        self.0.push(hash ^ (hash >> 15));
    }

    fn add_bits(&mut self, name: &str, mut bits: u64) {
        while bits != 0 {
            self.add(
                name,
                &[NUMBERS.get(usize::try_from(bits.trailing_zeros()).unwrap_or(0)).copied().unwrap_or_default()],
            );
            bits &= bits - 1;
        }
    }

    pub(super) fn finish(mut self) -> Self {
        self.0.sort_unstable();
        self.0.dedup();
        self
    }
}

/// The numbers from 0 to 63 as words.
pub(super) const NUMBERS: [&str; 64] = [
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20",
    "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39",
    "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58",
    "59", "60", "61", "62", "63",
];

/// Stands for every number.
pub(super) fn plain_token(token: &str) -> &str {
    if token.starts_with(|character: char| character.is_ascii_digit()) { "0" } else { token }
}

pub(super) fn stem(token: &str) -> &str {
    token.char_indices().nth(5).and_then(|(end, _)| token.get(..end)).unwrap_or(token)
}

fn ending(token: &str) -> &str {
    let from = token.char_indices().rev().nth(1).map_or(0, |(from, _)| from);
    token.get(from..).unwrap_or_default()
}

/// Returns the number of a value among growing bounds.
fn grade(value: usize, bounds: &[usize]) -> &'static str {
    let at = bounds.iter().take_while(|&&bound| value > bound).count();
    NUMBERS.get(at).copied().unwrap_or_default()
}

fn name_of(context: BlockContext) -> &'static str {
    match context {
        BlockContext::Heading => "heading",
        BlockContext::Prose => "prose",
        BlockContext::Item => "item",
        BlockContext::Cell => "cell",
        BlockContext::Speech => "speech",
        BlockContext::Quote => "quote",
        BlockContext::Code => "code",
        BlockContext::Boilerplate => "boilerplate",
    }
}

/// Returns the features of a sentence of which nothing else is known.
pub fn alone(sentence: &PreparedSentence) -> Features {
    let mut features = Features::default();
    let alone = if exclusions::is_excluded(sentence) { 0.0 } else { need::likelihood(sentence) };
    own(&mut features, sentence, cues::of(sentence), alone);
    features.finish()
}

/// The features of the sentence itself.
fn own(features: &mut Features, sentence: &PreparedSentence, cues: u64, need: f64) {
    features.add("bias", &[]);
    let words: Vec<&str> = tokens(&sentence.lower).take(80).map(plain_token).collect();
    for word in &words {
        features.add("w", &[word]);
        features.add("s", &[stem(word)]);
    }
    for pair in words.windows(2) {
        features.add("b", pair);
    }
    for three in words.windows(3) {
        if let [first, _, third] = three {
            features.add("k", &[first, third]);
        }
    }
    for (at, name) in ["f1", "f2", "f3"].into_iter().enumerate() {
        features.add(name, words.get(..=at).unwrap_or_default());
    }
    if let [first, second, ..] = words.as_slice() {
        features.add("fe", &[ending(first), stem(second)]);
        features.add("fend", &[ending(first)]);
    }
    features.add("last", &[words.last().copied().unwrap_or_default()]);
    features.add("count", &[grade(sentence.count, &[2, 4, 6, 9, 13, 18, 25, 35])]);
    features.add("label", &[if sentence.label.is_some() { "1" } else { "0" }]);
    features.add_bits("c", cues);
    let mut bits = cues;
    while bits != 0 {
        let one = bits.trailing_zeros();
        bits &= bits - 1;
        let first = NUMBERS.get(usize::try_from(one).unwrap_or(0)).copied().unwrap_or_default();
        let mut others = bits;
        while others != 0 {
            let other = NUMBERS.get(usize::try_from(others.trailing_zeros()).unwrap_or(0)).copied().unwrap_or_default();
            features.add("cc", &[first, other]);
            others &= others - 1;
        }
    }
    features.add("need", &[likely(need)]);
    features.add("decision", &[likely(decision::likelihood(sentence))]);
    features.add("risk", &[likely(risk::likelihood(sentence))]);
    features.add("question", &[likely(question::likelihood(sentence))]);
}

/// Returns a likelihood in tenths.
fn likely(likelihood: f64) -> &'static str {
    let grades = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
    let at = grades.iter().take_while(|&&grade| likelihood > grade).count();
    NUMBERS.get(at).copied().unwrap_or_default()
}

fn address(headings: &Arc<Headings>) -> usize {
    Arc::as_ptr(headings).addr()
}

/// Returns the features of a sentence with what stands around it.
pub fn in_context(corpus: &Corpus, context: &CorpusContext, at: usize) -> Features {
    let mut features = Features::default();
    let Some(sentence) = corpus.sentence(at) else { return features };
    let cues = context.cues.get(at).copied().unwrap_or(0);
    own(&mut features, sentence, cues, context.need(at));
    let action = action::likelihood(sentence, corpus.speakers());
    features.add("action", &[likely(action)]);
    let place = name_of(sentence.context);
    features.add("in", &[place]);
    let mut bits = cues;
    while bits != 0 {
        let cue = NUMBERS.get(usize::try_from(bits.trailing_zeros()).unwrap_or(0)).copied().unwrap_or_default();
        features.add("inc", &[place, cue]);
        bits &= bits - 1;
    }
    features.add("inneed", &[place, likely(context.need(at))]);
    people(&mut features, corpus, context, at, sentence, place);
    around(&mut features, corpus, context, at, sentence);
    heading(&mut features, context, sentence, place);
    if sentence.lower.ends_with('?') {
        asked(&mut features, corpus, context, at, sentence, place);
    }
    features.finish()
}

/// The features of a question: where it stands, and what follows it.
fn asked(
    features: &mut Features,
    corpus: &Corpus,
    context: &CorpusContext,
    at: usize,
    sentence: &PreparedSentence,
    place: &'static str,
) {
    features.add("asks", &[place]);
    let bits = context.headings.get(&address(&sentence.above)).copied().unwrap_or(0);
    features.add_bits("asksh", bits);
    let mut follows = "nothing";
    let mut is_unknown = false;
    for later in 1..=2 {
        let next = Some(at + later).filter(|&next| corpus.slot(next) == corpus.slot(at));
        let Some(next) = next.and_then(|next| corpus.sentence(next)) else { break };
        is_unknown |= question::is_unknowing(next);
        if later == 1 {
            follows = match (next.block == sentence.block, next.lower.ends_with('?')) {
                (true, true) => "question in block",
                (true, false) => "answer in block",
                (false, true) => "question",
                (false, false) => "other",
            };
            let first = tokens(&next.lower).next().unwrap_or_default();
            features.add("asksn", &[first, follows]);
        }
    }
    features.add("asksf", &[place, follows, if is_unknown { "unknown" } else { "" }]);
    features.add("asksu", &[if is_unknown { "unknown" } else { "" }]);
}

/// The features of who is to do it and by when.
fn people(
    features: &mut Features,
    corpus: &Corpus,
    context: &CorpusContext,
    at: usize,
    sentence: &PreparedSentence,
    place: &'static str,
) {
    let is_given = assignee::of(corpus, at).is_some();
    let has_date = dates::due(&sentence.lower, Some(ANY_DAY)).is_some();
    let (mut in_row, mut by_row) = (false, false);
    for (column, cell) in corpus.row(at) {
        in_row |= assignee::is_column_of_people(column);
        by_row |= dates::due(&cell.lower, Some(ANY_DAY)).is_some();
    }
    let is_person = sentence.column.as_deref().is_some_and(assignee::is_column_of_people);
    let flag = |is: bool| if is { "1" } else { "0" };
    features.add("given", &[flag(is_given), flag(has_date), place]);
    features.add("row", &[flag(in_row), flag(by_row), flag(is_person)]);
    let mut words = tokens(&sentence.lower).filter(|token| token.contains(char::is_alphanumeric));
    let mut first = words.next().unwrap_or_default();
    if TITLES.contains(&first) {
        first = words.next().unwrap_or_default();
    }
    if context.is_name(corpus.slot(at), first) {
        let second = words.next().unwrap_or_default();
        features.add("name", &["first", place]);
        features.add("name", &["second", second]);
        features.add("name", &["ending", ending(second)]);
    }
}

/// Any day will do to see whether a sentence names one.
const ANY_DAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
const TITLES: [&str; 8] = ["mr", "mrs", "ms", "dr", "miss", "sir", "captain", "cllr"];

/// The features of the sentences before and after, of the lead-in and of the column.
fn around(features: &mut Features, corpus: &Corpus, context: &CorpusContext, at: usize, sentence: &PreparedSentence) {
    let slot = corpus.slot(at);
    let cues_at = |other: usize| context.cues.get(other).copied().unwrap_or(0);
    for (name, other) in [("p", at.checked_sub(1)), ("n", Some(at + 1)), ("nn", Some(at + 2))] {
        let neighbour = other.filter(|&other| corpus.slot(other) == slot);
        let Some((other, near)) = neighbour.and_then(|other| Some((other, corpus.sentence(other)?))) else {
            features.add(name, &["none"]);
            continue;
        };
        let is_same_block = near.block == sentence.block;
        let is_same_speaker = near.speaker == sentence.speaker;
        let relation = match (is_same_block, is_same_speaker) {
            (true, _) => "block",
            (_, true) => "speaker",
            _ => "other",
        };
        features.add(name, &["is", relation]);
        features.add_bits(&format!("{name}c"), cues_at(other));
        features.add(name, &["need", likely(context.need(other))]);
        features.add(name, &["count", grade(near.count, &[2, 4, 8, 16])]);
        let mut words = tokens(&near.lower).map(plain_token);
        let first = words.next().unwrap_or_default();
        features.add(name, &["first", first]);
        features.add(name, &["first", first, words.next().unwrap_or_default()]);
        if question::is_unknowing(near) {
            features.add(name, &["unknowing", relation]);
        }
        if near.lower.ends_with('?') {
            features.add(name, &["asks", relation]);
        }
    }
    if let Some((lead_at, lead)) = sentence.lead.and_then(|lead| Some((lead, corpus.sentence(lead)?))) {
        features.add_bits("lc", cues_at(lead_at));
        features.add("lead", &["need", likely(context.need(lead_at))]);
        for word in tokens(&lead.lower).take(30) {
            features.add("lw", &[stem(word)]);
        }
    } else {
        features.add("lead", &["none"]);
    }
    for word in tokens(sentence.column.as_deref().unwrap_or_default()).take(8) {
        features.add("col", &[stem(word)]);
    }
    features.add("open", &[if context.is_left_open(at) { "1" } else { "0" }]);
    features.add("retracted", &[if exclusions::is_retracted(corpus, at) { "1" } else { "0" }]);
    let binding = slot.and_then(|slot| context.binding.get(&slot)).copied().unwrap_or(0);
    features.add("binding", &[grade(binding, &[0, 1, 2, 4, 6])]);
}

fn heading(features: &mut Features, context: &CorpusContext, sentence: &PreparedSentence, place: &str) {
    let above = &sentence.above;
    for word in tokens(&above.innermost).take(12) {
        features.add("h", &[stem(word)]);
    }
    features.add("excluded", &[if above.excluded { "1" } else { "0" }]);
    features.add("about", &[if above.about_requirements { "1" } else { "0" }]);
    let bits = context.headings.get(&address(above)).copied().unwrap_or(0);
    features.add_bits("hc", bits);
    if bits != 0 {
        features.add(
            "hin",
            &[place, NUMBERS.get(usize::try_from(bits.trailing_zeros()).unwrap_or(0)).copied().unwrap_or_default()],
        );
    }
}

/// Returns the features for the type of a requirement; `section` are the headings above it in lower case, `common` words
/// that tell nothing in its document.
pub fn of_requirement(statement: &str, section: &str, common: Option<&HashSet<String>>) -> Features {
    let (kind, category) = kinds::of(statement, section);
    let heading = exclusions::innermost(section);
    let mut features = Features::default();
    features.add("bias", &[]);
    let lower = super::super::corpus::plain(statement);
    let is_known = |token: &&str| !common.is_some_and(|common| common.contains(*token));
    let words: Vec<&str> = tokens(&lower).filter(is_known).take(80).map(plain_token).collect();
    for word in &words {
        features.add("w", &[word]);
        features.add("s", &[stem(word)]);
    }
    for pair in words.windows(2) {
        features.add("b", pair);
    }
    features.add("f", words.get(..2).unwrap_or_default());
    features.add("number", &[if words.contains(&"0") { "1" } else { "0" }]);
    features.add_bits("c", kinds::cues(&words.join(" ")));
    for word in tokens(heading).take(12) {
        features.add("h", &[stem(word)]);
    }
    features.add_bits("hc", cues::of_heading(heading));
    features.add("rule", &[kind.into_str()]);
    features.add("rule", &[kind.into_str(), category.map_or("", |category| category.into_str())]);
    features.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_sentence_has_the_same_features() {
        let sentence = PreparedSentence::alone("The system shall print 24 pages.", BlockContext::Prose);
        let other = PreparedSentence::alone("The system shall print 25 pages.", BlockContext::Prose);
        assert_eq!(alone(&sentence), alone(&other));
        assert!(alone(&sentence).hashes().count() > 20);
    }
}
