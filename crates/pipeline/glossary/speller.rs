//! Corrects what a recognizer wrote: a spelling that a glossary lists becomes its term.
//!
//! ```text
//! text ── words ── numbers of the words that the glossary knows ── walk over a trie of phrases ── longest phrase ── term
//! ```
//! Words are those of Unicode (UAX #29), and an apostrophe ends one, so that a phrase is found in `the phrase's` too. In
//! scripts without spaces each ideograph is a word. A walk ends after the longest phrase, which has at most a hundred
//! characters, so the time is proportional to the text.

use std::collections::HashMap;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::{GlossaryEntry, fold};

/// The number of a word that occurs in a phrase.
type KnownWord = usize;
/// The number of a node of the trie.
type TrieNode = usize;
const ROOT: TrieNode = 0;

/// The phrases of a glossary, each with the term that is written in its place.
#[derive(Debug, Default)]
pub struct Speller {
    /// The known words, folded.
    words: HashMap<String, KnownWord>,
    /// The trie: the node that a word leads to from a node.
    edges: HashMap<(TrieNode, KnownWord), TrieNode>,
    /// The terms of the phrases that end at a node.
    terms: HashMap<TrieNode, String>,
}

impl Speller {
    #[must_use]
    pub fn new(entries: &[GlossaryEntry]) -> Self {
        // A plain word may begin a sentence; a name or a phrase has one form.
        Self::of(entries, |term| term.chars().any(|sign| sign.is_uppercase() || sign.is_whitespace()))
    }

    /// Returns a speller that finds every term, plain words too.
    #[must_use]
    pub fn of_every_term(entries: &[GlossaryEntry]) -> Self {
        Self::of(entries, |_| true)
    }

    fn of(entries: &[GlossaryEntry], is_found_itself: impl Fn(&str) -> bool) -> Self {
        let mut speller = Self::default();
        for GlossaryEntry { term, spellings, .. } in entries {
            for spelling in spellings {
                speller.add(spelling, term);
            }
            if is_found_itself(term) {
                speller.add(term, term);
            }
        }
        speller
    }

    fn add(&mut self, phrase: &str, term: &str) {
        let mut node = ROOT;
        for word in words(phrase) {
            let known = self.words.len();
            let word = *self.words.entry(fold(word)).or_insert(known);
            let next = self.edges.len() + 1;
            node = *self.edges.entry((node, word)).or_insert(next);
        }
        self.terms.insert(node, term.to_owned());
    }

    /// Replaces every phrase of the glossary, in any letter case, by its term; of phrases that overlap the first one, and
    /// of those that start together the longest. All else stays as it is.
    #[must_use]
    pub fn respell(&self, text: &str) -> String {
        let mut written = String::with_capacity(text.len());
        let mut from = 0;
        for (place, term) in self.occurrences(text) {
            written.push_str(text.get(from..place.start).unwrap_or_default());
            written.push_str(term);
            from = place.end;
        }
        written.push_str(text.get(from..).unwrap_or_default());
        written
    }

    /// Returns where the glossary's phrases stand in a text, in bytes and in their order, each with its term.
    #[must_use]
    pub fn occurrences(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let known = |word| (word, self.words.get(&fold(word)).copied());
        let words: Vec<(&str, Option<KnownWord>)> = words(text).map(known).collect();
        let mut rest = words.as_slice();
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(((word, _), after)) = rest.split_first() {
            let Some((term, count)) = self.longest(rest) else {
                at += word.len();
                rest = after;
                continue;
            };
            let (phrase, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let end = at + phrase.iter().map(|(word, _)| word.len()).sum::<usize>();
            found.push((at..end, term));
            (at, rest) = (end, after);
        }
        found
    }

    /// Returns the term of the longest phrase at the start of `words`, and its number of words.
    fn longest(&self, words: &[(&str, Option<KnownWord>)]) -> Option<(&str, usize)> {
        let mut node = ROOT;
        let mut longest = None;
        for (index, (_, word)) in words.iter().enumerate() {
            let Some(next) = word.and_then(|word| self.edges.get(&(node, word))) else { break };
            node = *next;
            if let Some(term) = self.terms.get(&node) {
                longest = Some((term.as_str(), index + 1));
            }
        }
        longest
    }
}

/// Splits a text into its words and what stands between them. Nothing is left out.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_word_bounds().flat_map(|word| word.split_inclusive(is_apostrophe)).flat_map(|part| {
        let before = part.trim_end_matches(is_apostrophe);
        let (before, apostrophe) = part.split_at_checked(before.len()).unwrap_or((part, ""));
        [before, apostrophe].into_iter().filter(|part| !part.is_empty())
    })
}

const fn is_apostrophe(sign: char) -> bool {
    matches!(sign, '\'' | '’')
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn speller(entries: &[(&str, &[&str])]) -> Speller {
        let entry = |(term, spellings): &(&str, &[&str])| GlossaryEntry {
            term: (*term).to_owned(),
            definition: None,
            spellings: spellings.iter().map(|spelling| (*spelling).to_owned()).collect(),
        };
        Speller::new(&entries.iter().map(entry).collect::<Vec<_>>())
    }

    #[test]
    fn spellings_become_terms_and_all_else_stays() {
        let speller = speller(&[
            ("OAuth", &["o auth", "oath", "O-Auth"]),
            ("Überweisung", &["über Weisung"]),
            (".NET", &["dot net"]),
            ("C++", &["see plus plus"]),
            ("要件定義", &["用件定義"]),
        ]);
        for (heard, written) in [
            ("We use O Auth, not oath.", "We use OAuth, not OAuth."),
            ("o-auth's  scopes\r\n\tand OATH", "OAuth's  scopes\r\n\tand OAuth"),
            ("l'oath et d’o auth", "l'OAuth et d’OAuth"),
            ("Der ÜBER WEISUNG nach", "Der Überweisung nach"),
            ("der u\u{308}ber Weisung nach e\u{301}", "der Überweisung nach e\u{301}"),
            ("Dot net or see plus plus11", ".NET or see plus plus11"),
            ("(see plus plus)", "(C++)"),
            ("次の用件定義書", "次の要件定義書"),
            ("oaths, oath_, boath, o  auth, o\nauth", "oaths, oath_, boath, o  auth, o\nauth"),
            ("", ""),
        ] {
            assert_eq!(speller.respell(heard), written);
        }
    }

    #[test]
    fn the_longest_phrase_wins_and_none_overlap() {
        let speller = speller(&[
            ("A", &["one"]),
            ("B", &["one two"]),
            ("C", &["one two three four"]),
            ("D", &["two three"]),
            ("E", &["four five"]),
        ]);
        assert_eq!(speller.respell("one two three"), "B three");
        assert_eq!(speller.respell("one two three four five"), "C five");
        assert_eq!(speller.respell("one one two two three four five"), "A B D E");
        assert_eq!(speller.respell("one two threes"), "B threes");
    }

    #[test]
    fn a_term_with_a_capital_or_a_space_is_written_as_it_is_and_a_plain_word_is_left_alone() {
        let speller = speller(&[("JSON", &[]), ("user story", &[]), ("sprint", &[]), ("iPhone", &["iphone"])]);
        let heard = "Json and json, USER Story, Sprint, SPRINT, IPhone";
        assert_eq!(speller.respell(heard), "JSON and JSON, user story, Sprint, SPRINT, iPhone");
    }

    proptest! {
        #[test]
        fn a_text_is_the_sum_of_its_words(text in any::<String>()) {
            prop_assert_eq!(words(&text).collect::<String>(), text);
        }

        #[test]
        fn a_text_without_a_known_word_stays_byte_for_byte(text in any::<String>()) {
            let speller = speller(&[("Zz", &["zzz qqq"])]);
            prop_assume!(!text.to_lowercase().contains("zz"));
            prop_assert_eq!(speller.respell(&text), text);
        }
    }

    /// The worst case: at every word a walk as long as the longest phrase.
    #[test]
    fn the_time_is_proportional_to_the_text() {
        let longest = "a ".repeat(50);
        let speller = speller(&[("x", &[longest.trim_end()]), ("y", &["a a b"])]);
        let text = "a a a b a ".repeat(40_000);
        let begun = Instant::now();
        assert!(speller.respell(&text) == "a y a ".repeat(40_000));
        let near = ("a ".repeat(49) + "c ").repeat(2_000);
        assert!(speller.respell(&near) == near);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
