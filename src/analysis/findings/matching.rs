//! Which findings of a run say something else about the same thing as which items: by their places in the sources, and by their words.
//!
//! The words of a text are compared by their beginnings, so that forms of a word are one. To stay linear, a finding is compared
//! only with items at the same place, and with those that share one of its rarest words: at most [`MAX_CANDIDATES`] for each.
//!
//! In another source, a text has to be closer to count: what two meetings say in similar sentences is mostly about two things.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

/// Minimum likeness of texts in one source that say nearly the same, 0–1.
const ALIKE: f64 = 0.6;
/// Minimum likeness of texts in different sources that say nearly the same.
const ALIKE_ELSEWHERE: f64 = 0.75;
/// Maximum number of figures in which texts of different sources may differ: with more, they are about different things.
const MAX_OTHER_FIGURES: usize = 1;
/// Minimum likeness of texts at the same place: anything less is about something else.
const ALIKE_IN_PLACE: f64 = 0.25;
/// How many of a finding's rarest words bring it together with items.
const RARE_WORDS: usize = 4;
/// Maximum number of items that are compared for each of these words, and for each place.
const MAX_CANDIDATES: usize = 60;
/// How many characters of a word count.
const STEM: usize = 6;
/// Words that tell no requirement from another one, besides those of one or two letters that are no numbers.
const COMMON: [&str; 16] = [
    "the", "and", "for", "that", "with", "shall", "must", "should", "will", "can", "may", "has", "have", "want", "are",
    "system",
];
/// Words that change nothing about what is demanded.
const FILLERS: [&str; 9] = ["a", "an", "the", "shall", "must", "will", "please", "also", "then"];
/// Numbers in words, as long as a beginning of a word is.
const NUMBER_WORDS: [&str; 20] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fiftee",
    "twenty", "thirty", "forty", "fifty", "sixty", "ninety", "hundre",
];
/// How many of the places of an item or a finding count: its first ones.
const MAX_PLACES: usize = 20;

/// A part of a source: characters of a document, or milliseconds of a recording, whose text may be made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourcePlace {
    pub source: Uuid,
    pub start: u64,
    pub end: u64,
}

impl SourcePlace {
    /// Of the times where there are any: the offsets of what was said move when it is transcribed anew.
    #[must_use]
    pub fn at(source: Uuid, offsets: (usize, usize), times: Option<(u64, u64)>) -> Option<Self> {
        let (start, end) = match times {
            Some(times) => times,
            None => (u64::try_from(offsets.0).ok()?, u64::try_from(offsets.1).ok()?),
        };
        Some(Self { source, start, end })
    }

    /// Whether half of the shorter one is in the other.
    fn is_same(&self, other: &Self) -> bool {
        let shared = self.end.min(other.end).saturating_sub(self.start.max(other.start));
        let shorter = self.end.saturating_sub(self.start).min(other.end.saturating_sub(other.start));
        self.source == other.source && shared > 0 && shared * 2 >= shorter
    }
}

/// The words and places of an item or a finding.
#[derive(Debug, Clone, Default)]
pub struct Likened {
    /// Beginnings of words, ascending.
    stems: Vec<Box<str>>,
    /// Those of them that are figures.
    figures: BTreeSet<Box<str>>,
    /// All words but fillers, ascending, each as often as it is said.
    said: String,
    places: Vec<SourcePlace>,
}

/// How a text differs from another one about the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherText {
    /// Only in its figures.
    Figures,
    /// In its words, at the same place of a source.
    InPlace,
    Words,
}

impl Likened {
    #[must_use]
    pub fn new(text: &str, mut places: Vec<SourcePlace>) -> Self {
        places.truncate(MAX_PLACES);
        let lower = text.to_lowercase();
        let is_telling = |word: &&str| {
            let is_short = word.chars().nth(2).is_none() && !word.contains(char::is_numeric);
            let is_ideographic = !word.is_ascii();
            !word.is_empty() && (!is_short || is_ideographic) && !COMMON.contains(word)
        };
        let words = lower.split(|sign: char| !sign.is_alphanumeric()).filter(is_telling);
        let stem = |word: &str| -> Box<str> {
            // Numbers and names with numbers are what they are as a whole.
            let length = if word.contains(char::is_numeric) { usize::MAX } else { STEM };
            word.chars().take(length).collect()
        };
        let stems: BTreeSet<Box<str>> = words.map(stem).collect();
        let is_figure = |stem: &str| stem.contains(char::is_numeric) || NUMBER_WORDS.contains(&stem);
        let figures = stems.iter().filter(|stem| is_figure(stem)).cloned().collect();
        let mut said: Vec<&str> = lower
            .split(|sign: char| !sign.is_alphanumeric())
            .filter(|word| !word.is_empty() && !FILLERS.contains(word))
            .collect();
        said.sort_unstable();
        Self { stems: stems.into_iter().collect(), figures, said: said.join(" "), places }
    }

    /// What is said, whatever the order of the words: equal for texts that say the same.
    #[must_use]
    pub fn said(&self) -> &str {
        &self.said
    }

    /// Adds the places of another text that says the same.
    pub fn add_places(&mut self, other: &Self) {
        self.places.extend(&other.places);
        self.places.truncate(MAX_PLACES);
    }

    /// The documents and recordings of its places.
    #[must_use]
    pub fn sources(&self) -> HashSet<Uuid> {
        self.places.iter().map(|place| place.source).collect()
    }

    /// Twice the shared words among all words of both, 0–1.
    fn likeness(&self, other: &Self) -> f64 {
        let (mut own, mut others, mut shared) = (self.stems.as_slice(), other.stems.as_slice(), 0);
        while let ([left, rest @ ..], [right, more @ ..]) = (own, others) {
            shared += usize::from(left == right);
            own = if left <= right { rest } else { own };
            others = if right <= left { more } else { others };
        }
        let all = self.stems.len() + other.stems.len();
        if all == 0 { 0.0 } else { count(2 * shared) / count(all) }
    }

    fn is_at_place_of(&self, other: &Self) -> bool {
        self.places.iter().any(|place| other.places.iter().any(|other| place.is_same(other)))
    }

    fn shares_source_with(&self, other: &Self) -> bool {
        self.places.iter().any(|place| other.places.iter().any(|other| place.source == other.source))
    }

    /// How an item differs from this finding, and how alike they are; `None` if it is about something else.
    fn difference(&self, item: &Self) -> Option<(OtherText, f64)> {
        let (likeness, is_in_place) = (self.likeness(item), self.is_at_place_of(item));
        let other_figures = self.figures.difference(&item.figures).count();
        let has_other_figures = other_figures > 0 && item.figures.difference(&self.figures).count() > 0;
        let is_alike = match (is_in_place, self.shares_source_with(item)) {
            (true, _) => likeness >= ALIKE_IN_PLACE,
            (false, true) => likeness >= ALIKE,
            (false, false) => likeness >= ALIKE_ELSEWHERE && other_figures <= MAX_OTHER_FIGURES,
        };
        let differs_in_figures = has_other_figures && {
            let words = |text: &Self| -> Vec<Box<str>> {
                text.stems.iter().filter(|stem| !text.figures.contains(*stem)).cloned().collect()
            };
            words(self) == words(item)
        };
        let how = match (differs_in_figures, is_in_place) {
            (true, _) => OtherText::Figures,
            (false, true) => OtherText::InPlace,
            (false, false) => OtherText::Words,
        };
        is_alike.then_some((how, likeness))
    }
}

fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

/// Returns for each finding the position of the item that it is a change of, if there is one, and how it differs. Each item is
/// matched once: the pairs at one place come first, then those with more words in common, then by position.
#[must_use]
pub fn matched(findings: &[&Likened], items: &[&Likened]) -> Vec<Option<(usize, OtherText)>> {
    let index = ItemIndex::of(items);
    let mut pairs: Vec<(bool, f64, usize, usize, OtherText)> = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        for other in index.candidates(finding) {
            let Some(item) = items.get(other) else { continue };
            if let Some((how, likeness)) = finding.difference(item) {
                pairs.push((finding.is_at_place_of(item), likeness, at, other, how));
            }
        }
    }
    pairs.sort_by(
        |(place, likeness, finding, item, _), (other_place, other_likeness, other_finding, other_item, _)| {
            let better = other_place.cmp(place).then(other_likeness.total_cmp(likeness));
            better.then(finding.cmp(other_finding)).then(item.cmp(other_item))
        },
    );
    let mut matches = vec![None; findings.len()];
    let mut is_taken = vec![false; items.len()];
    for (_, _, finding, item, how) in pairs {
        if let (Some(place @ None), Some(taken @ false)) = (matches.get_mut(finding), is_taken.get_mut(item)) {
            (*place, *taken) = (Some((item, how)), true);
        }
    }
    matches
}

/// The items by their words, and by their places.
struct ItemIndex<'a> {
    by_word: HashMap<&'a str, Vec<usize>>,
    /// In each source, by the start: the end and the item.
    by_source: HashMap<Uuid, Vec<(u64, u64, usize)>>,
}

impl<'a> ItemIndex<'a> {
    fn of(items: &[&'a Likened]) -> Self {
        let mut index = Self { by_word: HashMap::new(), by_source: HashMap::new() };
        for (at, item) in items.iter().enumerate() {
            for stem in &item.stems {
                index.by_word.entry(stem).or_default().push(at);
            }
            for SourcePlace { source, start, end } in &item.places {
                index.by_source.entry(*source).or_default().push((*start, *end, at));
            }
        }
        index.by_source.values_mut().for_each(|places| places.sort_unstable());
        index
    }

    /// Returns the items that a finding is compared with, ascending.
    fn candidates(&self, finding: &Likened) -> BTreeSet<usize> {
        let mut rare: Vec<&Vec<usize>> =
            finding.stems.iter().filter_map(|stem| self.by_word.get(stem.as_ref())).collect();
        rare.sort_by_key(|items| items.len());
        let by_word = rare.into_iter().take(RARE_WORDS).flat_map(|items| items.iter().take(MAX_CANDIDATES)).copied();
        by_word.chain(finding.places.iter().flat_map(|place| self.around(place))).collect()
    }

    /// Returns items whose places start in a place, and some that start before.
    fn around(&self, place: &SourcePlace) -> impl Iterator<Item = usize> {
        let places = self.by_source.get(&place.source).map(Vec::as_slice).unwrap_or_default();
        let behind = places.partition_point(|(start, _, _)| *start < place.end);
        let before = places.get(..behind).unwrap_or_default();
        before.iter().rev().take(MAX_CANDIDATES).map(|(_, _, item)| *item)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(source: u128, start: u64, end: u64) -> SourcePlace {
        SourcePlace { source: Uuid::from_u128(source), start, end }
    }

    fn text(words: &str) -> Likened {
        Likened::new(words, Vec::new())
    }

    /// Which item each finding is a change of.
    fn matches(findings: &[Likened], items: &[Likened]) -> Vec<Option<usize>> {
        let (findings, items): (Vec<_>, Vec<_>) = (findings.iter().collect(), items.iter().collect());
        matched(&findings, &items).into_iter().map(|found| found.map(|(item, _)| item)).collect()
    }

    #[test]
    fn nearly_the_same_words_are_a_change_and_others_are_not() {
        let items = [text("The search shall answer within two seconds."), text("Clerks print the list of the day.")];
        let findings = [
            text("Visitors may park for free."),
            text("The search shall answer within five seconds."),
            text("Clerks can print a list of each day."),
        ];
        assert_eq!(matches(&findings, &items), [None, Some(0), Some(1)]);
    }

    #[test]
    fn the_same_place_needs_fewer_words_and_comes_first() {
        let items = [Likened::new("A patient cancels online until noon.", vec![at(1, 10, 60)])];
        let findings = [
            text("A patient cancels online until two."),
            Likened::new("A patient withdraws bookings online.", vec![at(1, 10, 50)]),
            Likened::new("The lift is red.", vec![at(1, 10, 60)]),
        ];
        assert_eq!(matches(&findings, &items), [None, Some(0), None]);
        let elsewhere = [Likened::new("A patient withdraws bookings online.", vec![at(2, 10, 50)])];
        assert_eq!(matches(&elsewhere, &items), [None], "the same offsets of another source");
    }

    #[test]
    fn an_item_is_matched_once_by_what_is_most_alike() {
        let items = [text("The desk prints the list of ward 5 within 9 seconds.")];
        let findings = [
            text("The desk prints a list of ward 5 in 8 seconds."),
            text("The desk prints the list of ward 5 within 8 seconds."),
        ];
        assert_eq!(matches(&findings, &items), [None, Some(0)]);
        let twice = [findings[1].clone(), findings[1].clone()];
        assert_eq!(matches(&twice, &items), [Some(0), None], "the first of equals");
    }

    #[test]
    fn in_another_source_two_other_figures_are_another_thing() {
        let item = Likened::new("The desk prints the list of ward 5 within 9 seconds.", vec![at(1, 0, 50)]);
        let found = |text: &str, source: u128| {
            matches(&[Likened::new(text, vec![at(source, 900, 950)])], std::slice::from_ref(&item))
        };
        let (one, two) = (
            "The desk prints the list of ward 5 within 7 seconds.",
            "The desk prints the list of ward 6 within 7 seconds.",
        );
        assert_eq!((found(one, 2), found(two, 2), found(two, 1)), (vec![Some(0)], vec![None], vec![Some(0)]));
    }

    #[test]
    fn what_differs_is_said() {
        let how = |item: &str, finding: &str, place: u64| {
            let (item, finding) =
                (Likened::new(item, vec![at(1, 0, 50)]), Likened::new(finding, vec![at(1, place, place + 50)]));
            matched(&[&finding], &[&item])[0].map(|(_, how)| how)
        };
        let two = "The search answers within two seconds.";
        assert_eq!(how(two, "The search answers within five seconds.", 0), Some(OtherText::Figures));
        assert_eq!(how(two, "The search answers readers within two seconds.", 0), Some(OtherText::InPlace));
        assert_eq!(how(two, "The search answers readers within two seconds.", 99), Some(OtherText::Words));
        assert_eq!(how(two, "The lift is red.", 0), None);
    }

    #[test]
    fn the_same_words_in_another_order_say_the_same_and_a_negation_does_not() {
        let said = |words: &str| text(words).said().to_owned();
        assert_eq!(
            said("Within two seconds, the search must answer."),
            said("The search shall answer within two seconds.")
        );
        assert_ne!(said("The search must not answer."), said("The search must answer."));
        assert_ne!(said("The search should answer."), said("The search must answer."));
        assert_ne!(said("No search must answer."), said("The search must answer."));
    }

    #[test]
    fn twice_as_many_take_about_twice_as_long() {
        // Words that all share: what is compared is bounded for each of them.
        let texts = |count: usize, salt: usize| -> Vec<Likened> {
            let one =
                |number| Likened::new(&format!("The desk prints list {number} of ward {salt}"), vec![at(1, 0, 9)]);
            (0..count).map(one).collect()
        };
        let compared = |count: usize| -> usize {
            let (findings, items) = (texts(count, 1), texts(count, 2));
            let items: Vec<&Likened> = items.iter().collect();
            let index = ItemIndex::of(&items);
            findings.iter().map(|finding| index.candidates(finding).len()).sum()
        };
        let (once, twice) = (compared(1_000), compared(2_000));
        assert!(once <= 1_000 * (RARE_WORDS + 1) * MAX_CANDIDATES, "{once}");
        assert!(twice <= once * 2 + 2_000, "{once} then {twice}");
    }

    proptest! {
        #[test]
        fn each_item_is_matched_at_most_once_and_always_alike(
            findings in proptest::collection::vec("[a-c]{3}( [a-c]{3}){0,4}", 0..12),
            items in proptest::collection::vec("[a-c]{3}( [a-c]{3}){0,4}", 0..12),
        ) {
            let findings: Vec<Likened> = findings.iter().map(|words| text(words)).collect();
            let items: Vec<Likened> = items.iter().map(|words| text(words)).collect();
            let found = matches(&findings, &items);
            let mut taken: Vec<usize> = found.iter().flatten().copied().collect();
            let all = taken.len();
            taken.sort_unstable();
            taken.dedup();
            prop_assert_eq!(taken.len(), all);
            for (finding, item) in found.iter().enumerate().filter_map(|(at, item)| Some((at, (*item)?))) {
                prop_assert!(findings[finding].likeness(&items[item]) >= ALIKE_ELSEWHERE);
            }
            prop_assert_eq!(found, matches(&findings, &items));
        }
    }
}
