//! Where a model's quote stands in its chunk: letter by letter, but for case and punctuation, or but for a few words. The
//! citation of an item is always the sentence of the source itself, never the model's quote.

use super::super::corpus::{Corpus, plain};
use super::chunks::SourceChunk;
use super::statement::{has_negation, same_figures};

/// The most sentences of a quote. A longer one shows nothing in particular.
const MAX_SENTENCES: usize = 5;
/// The fewest words of a quote. In languages without spaces it has to have so many characters instead.
const MIN_WORDS: usize = 3;
const MIN_CHARACTERS: usize = 8;
/// The fewest and the most words of a quote that need not be found exactly, and one in how many may differ.
const FUZZY_WORDS: std::ops::RangeInclusive<usize> = 5..=200;
const ONE_IN: usize = 6;

/// How a quote was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Exact,
    Normalised,
    Fuzzy,
}

/// The sentences of a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Position in the corpus of the sentence with most of the quote.
    pub sentence: usize,
    /// The other sentences, ascending.
    pub also: Vec<usize>,
    pub tier: Tier,
}

/// The sentences of a chunk, prepared for finding quotes in them.
pub struct QuoteFinder {
    /// The words as they are sent, joined by spaces, and where each sentence begins and ends in them.
    joined: String,
    places: Vec<(usize, usize, usize)>,
    /// The words in lower case with the sentence of each.
    words: Vec<(String, usize)>,
    /// Names of speakers in lower case, which a model may put before a quote.
    speakers: Vec<String>,
}

impl QuoteFinder {
    pub fn new(corpus: &Corpus, chunk: &SourceChunk) -> Self {
        let mut finder = Self { joined: String::new(), places: Vec::new(), words: Vec::new(), speakers: Vec::new() };
        for &at in &chunk.sentences {
            let Some(sentence) = corpus.sentence(at) else { continue };
            if !finder.joined.is_empty() {
                finder.joined.push(' ');
            }
            let start = finder.joined.len();
            finder.joined.push_str(&sentence.words);
            finder.places.push((at, start, finder.joined.len()));
            finder.words.extend(words(&sentence.words).into_iter().map(|word| (word, at)));
            if let Some(speaker) = corpus.speaker(at).map(plain).filter(|name| !finder.speakers.contains(name)) {
                finder.speakers.push(speaker);
            }
        }
        finder
    }

    /// Returns the sentences of a quote; `None` if it does not stand in the chunk.
    pub fn find(&self, quote: &str) -> Option<Located> {
        let quote = self.without_speaker(quote.trim());
        let quoted = words(quote);
        let characters = quote.chars().filter(|letter| letter.is_alphabetic() && !letter.is_ascii()).count();
        if quoted.len() < MIN_WORDS && characters < MIN_CHARACTERS {
            return None;
        }
        self.exact(quote).or_else(|| self.normalised(&quoted)).or_else(|| self.fuzzy(&quoted))
    }

    fn without_speaker<'a>(&self, quote: &'a str) -> &'a str {
        match quote.split_once(':') {
            Some((name, words)) if self.speakers.contains(&plain(name.trim())) => words.trim(),
            _ => quote,
        }
    }

    fn exact(&self, quote: &str) -> Option<Located> {
        let start = self.joined.find(quote)?;
        let end = start + quote.len();
        let shares = self.places.iter().filter_map(|&(at, from, to)| {
            let share = to.min(end).saturating_sub(from.max(start));
            (share > 0).then_some((at, share))
        });
        located(shares.collect(), Tier::Exact)
    }

    fn normalised(&self, quoted: &[String]) -> Option<Located> {
        let is_same = |window: &[(String, usize)]| window.iter().map(|(word, _)| word).eq(quoted);
        let found = self.words.windows(quoted.len().max(1)).find(|window| is_same(window))?;
        located(shares(found), Tier::Normalised)
    }

    /// Finds the words that differ least from the quote, by insertions, deletions and replacements.
    fn fuzzy(&self, quoted: &[String]) -> Option<Located> {
        if !FUZZY_WORDS.contains(&quoted.len()) {
            return None;
        }
        let most = (quoted.len() / ONE_IN).max(1);
        // Each column has the cost of the quote's first words against the words that end here, and where those begin.
        let mut column: Vec<(usize, usize)> = (0..=quoted.len()).map(|cost| (cost, 0)).collect();
        let mut best: Option<(usize, usize, usize)> = None;
        for (at, (word, _)) in self.words.iter().enumerate() {
            let mut next: Vec<(usize, usize)> = Vec::with_capacity(column.len());
            next.push((0, at + 1));
            for (row, quoted) in quoted.iter().enumerate() {
                let both = column.get(row).map(|&(cost, from)| (cost + usize::from(quoted != word), from));
                let more = column.get(row + 1).map(|&(cost, from)| (cost + 1, from));
                let less = next.last().map(|&(cost, from)| (cost + 1, from));
                next.extend([both, more, less].into_iter().flatten().min_by_key(|(cost, _)| *cost));
            }
            let &(cost, from) = next.last()?;
            if cost <= most && best.is_none_or(|(lowest, _, _)| cost < lowest) {
                best = Some((cost, from, at + 1));
            }
            column = next;
        }
        let (_, from, to) = best?;
        let found = self.words.get(from..to)?;
        let actual = found.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ");
        let quoted = quoted.join(" ");
        let says_the_same = same_figures(&quoted, &actual) && has_negation(&quoted) == has_negation(&actual);
        if says_the_same { located(shares(found), Tier::Fuzzy) } else { None }
    }
}

/// Returns how many words each sentence has.
fn shares(found: &[(String, usize)]) -> Vec<(usize, usize)> {
    let mut shares: Vec<(usize, usize)> = Vec::new();
    for (_, at) in found {
        match shares.last_mut() {
            Some((last, count)) if last == at => *count += 1,
            _ => shares.push((*at, 1)),
        }
    }
    shares
}

fn located(shares: Vec<(usize, usize)>, tier: Tier) -> Option<Located> {
    if shares.len() > MAX_SENTENCES {
        return None;
    }
    // Of equal shares the first.
    let (sentence, _) = *shares.iter().rev().max_by_key(|(_, share)| *share)?;
    let also = shares.iter().map(|(at, _)| *at).filter(|at| *at != sentence).collect();
    Some(Located { sentence, also, tier })
}

/// The words in lower case, without marks: what remains equal when quotes, dashes, case and spaces are changed.
fn words(text: &str) -> Vec<String> {
    let lower = plain(text);
    let words = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::corpus_of;
    use super::*;

    const TEXT: &str = "The system shall let a patient book an appointment within 30 minutes. It's the clinic’s “first” wish – \
        nothing else. The search must not show names of other patients to anybody.\n\nNobody else was there.\n";

    fn find(quote: &str) -> Option<(Tier, usize)> {
        let (corpus, chunks) = corpus_of(TEXT);
        let located = QuoteFinder::new(&corpus, &chunks[0]).find(quote)?;
        Some((located.tier, 1 + located.also.len()))
    }

    #[test]
    fn a_quote_is_found_in_three_ways_and_what_is_not_there_in_none() {
        assert_eq!(
            find("The system shall let a patient book an appointment within 30 minutes."),
            Some((Tier::Exact, 1))
        );
        assert_eq!(find("let a patient book an appointment"), Some((Tier::Exact, 1)));
        assert_eq!(find("within 30 minutes. It's the clinic’s “first” wish"), Some((Tier::Exact, 2)));
        assert_eq!(find("it's the clinic's \"first\" wish - Nothing  else"), Some((Tier::Normalised, 1)));
        assert_eq!(
            find("The system must let a patient book an appointment within 30 minutes"),
            Some((Tier::Fuzzy, 1)),
            "one word of eleven"
        );
        assert_eq!(find("The search must not show the names of other patients to anybody"), Some((Tier::Fuzzy, 1)));
        for invented in [
            "",
            "the",
            "30 minutes",
            "The system shall delete all projects of the clinic.",
            "The system shall let a patient book an appointment within 60 minutes.",
            "The search must show names of other patients to anybody.",
            "The app needs to allow clients to reserve a visit in half an hour.",
        ] {
            assert_eq!(find(invented), None, "{invented}");
        }
    }

    #[test]
    fn the_whole_text_is_no_quote() {
        let many = "The tool must print a list. ".repeat(12);
        let (corpus, chunks) = corpus_of(&many);
        let finder = QuoteFinder::new(&corpus, &chunks[0]);
        assert_eq!(finder.find(many.trim()), None);
        assert!(finder.find("The tool must print a list.").is_some());
    }
}
