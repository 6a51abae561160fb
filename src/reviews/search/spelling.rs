//! Which words a misspelt one may stand for.
//!
//! The words of a project are sorted, and there may be a million of them. They are read page by page, and what can't be
//! near is passed over: as soon as the beginning of a word has more faults than allowed, all words with that beginning
//! are left out, and the next page starts behind them.
//!
//! ```text
//!  misspelt “appointmnet”:  appo… ─▶ the rest of a… ─▶ p…        where a fault is most likely comes first
//!                           a page ─▶ … apply, appo│intment, …, apt: too far, as all of apt…; next page from apu
//! ```
//! This only says what is to be read, and compares what was read: it costs a computation outside of the read.

/// Shorter words are taken as they are: too many are near.
const SHORTEST: usize = 4;
/// From so many letters on, a word may differ in two places.
const LONG: usize = 8;
/// How many near words are looked for.
const NEAR: usize = 8;
/// Above every letter, so that it ends the range of the words that begin with something.
pub const ABOVE_ALL: char = '\u{10ffff}';
/// Below every letter: a word followed by it comes just after the word.
const BELOW_ALL: char = '\u{1}';

/// How many letters may be wrong, missing, added or exchanged with the next one in a word.
#[must_use]
pub fn tolerance(word: &str) -> usize {
    match word.chars().count() {
        ..SHORTEST => 0,
        SHORTEST..LONG => 1,
        LONG.. => 2,
    }
}

/// Whether a word can be looked up in the list of words, and belongs there.
#[must_use]
pub fn is_listed(word: &str) -> bool {
    tolerance(word) > 0 && !word.chars().all(|sign| sign.is_ascii_digit())
}

/// A part of the sorted words; the end is exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordRange {
    pub from: String,
    pub to: String,
}

/// The search for the words that are near to a misspelt one: asks for pages of the sorted words, and takes them.
///
/// Near words begin with the first letter of the misspelt one, or with its second one, in case the first was added or
/// exchanged with it.
#[derive(Debug)]
pub struct NearWords {
    beginning: ComparedBeginning,
    /// What is still to be read; the first part is next.
    ranges: Vec<WordRange>,
    /// With their distances, nearest first.
    found: Vec<(usize, String)>,
}

impl NearWords {
    #[must_use]
    pub fn of(word: &str) -> Self {
        let letters: Vec<char> = word.chars().collect();
        let half: String = letters.iter().take(letters.len() / 2).collect();
        let [first, second] = [0, 1].map(|at| letters.get(at).map(ToString::to_string).unwrap_or_default());
        let range = |from: &str, to: String| WordRange { from: from.to_owned(), to };
        let end = |beginning: &str| format!("{beginning}{ABOVE_ALL}");
        let mut ranges = vec![
            range(&half, end(&half)),
            range(&first, half.clone()),
            range(&end(&half), end(&first)),
            range(&second, end(&second)),
        ];
        if first == second {
            ranges.pop();
        }
        let beginning = ComparedBeginning::of(letters, tolerance(word));
        Self { beginning, ranges, found: Vec::new() }
    }

    /// What is to be read next, in order and as many as fit a page; `None` if there is nothing more.
    #[must_use]
    pub fn next(&self) -> Option<&WordRange> {
        self.ranges.first()
    }

    /// Compares the words of a page. `is_end`: there are no more in what was asked for.
    pub fn take(&mut self, page: Vec<String>, is_end: bool) {
        self.beginning.clear();
        let mut last = None;
        for word in page {
            if let Some(distance) = self.beginning.compare(&word) {
                self.found.push((distance, word.clone()));
            }
            last = Some(word);
        }
        self.found.sort_unstable();
        self.found.truncate(NEAR);
        let Some(range) = self.ranges.first_mut() else { return };
        let next = if is_end { None } else { last.and_then(|last| self.beginning.after(&last)) };
        match next {
            Some(from) if from < range.to => range.from = from,
            _ => drop(self.ranges.remove(0)),
        }
    }

    /// The words that were found, nearest first.
    #[must_use]
    pub fn found(self) -> Vec<String> {
        self.found.into_iter().map(|(_, word)| word).collect()
    }
}

/// The beginning of the word that is compared with the misspelt one, with a row of distances for each of its letters: the
/// next word mostly begins alike. (Distances are those of optimal string alignment.)
#[derive(Debug)]
struct ComparedBeginning {
    misspelt: Vec<char>,
    /// How many faults there may be.
    most: usize,
    letters: Vec<char>,
    /// For each number of letters, from none on, the distances from the beginnings of the misspelt word.
    rows: Vec<Vec<usize>>,
}

impl ComparedBeginning {
    fn of(misspelt: Vec<char>, most: usize) -> Self {
        let rows = vec![(0..=misspelt.len()).collect()];
        Self { misspelt, most, letters: Vec::new(), rows }
    }

    fn clear(&mut self) {
        self.shorten(0);
    }

    fn shorten(&mut self, to: usize) {
        self.letters.truncate(to);
        self.rows.truncate(to + 1);
    }

    /// Whether a word that begins so may still be near.
    fn is_near(&self) -> bool {
        self.rows.last().is_some_and(|row| row.iter().any(|far| *far <= self.most))
    }

    /// Adds a letter. Only distances about the diagonal are computed: all others are too far.
    fn add(&mut self, letter: char) {
        let far = self.most + 1;
        let mut row = vec![far; self.misspelt.len() + 1];
        let at = self.letters.len();
        let above = self.rows.last().map_or(&[][..], Vec::as_slice);
        let before = at.checked_sub(1).and_then(|row| self.rows.get(row));
        let previous = self.letters.last();
        let get = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(far);
        let first = (at + 1).saturating_sub(self.most);
        let last = (at + 1 + self.most).min(self.misspelt.len());
        for column in first..=last {
            let mut least = get(above, column) + 1;
            if let Some(left) = column.checked_sub(1) {
                let own = self.misspelt.get(left);
                least = least.min(get(&row, left) + 1).min(get(above, left) + usize::from(own != Some(&letter)));
                let is_exchanged = column >= 2 && own == previous && self.misspelt.get(column - 2) == Some(&letter);
                if let (true, Some(before)) = (is_exchanged, before) {
                    least = least.min(get(before, column - 2) + 1);
                }
            }
            if let Some(cell) = row.get_mut(column) {
                *cell = least.min(far);
            }
        }
        self.letters.push(letter);
        self.rows.push(row);
    }

    /// The distance of a word; `None` if it is too far. Keeps as much of its beginning as it takes to know that.
    fn compare(&mut self, word: &str) -> Option<usize> {
        let shared = word.chars().zip(&self.letters).take_while(|(letter, own)| letter == *own).count();
        self.shorten(shared);
        for letter in word.chars().skip(shared) {
            if !self.is_near() {
                return None;
            }
            self.add(letter);
        }
        self.rows.last().and_then(|row| row.last()).copied().filter(|far| *far <= self.most)
    }

    /// Where words may be near again after one that was compared last; `None` if none can be.
    fn after(&mut self, word: &str) -> Option<String> {
        if self.is_near() {
            return Some(format!("{word}{BELOW_ALL}"));
        }
        while let Some(letter) = self.letters.last().copied() {
            self.shorten(self.letters.len() - 1);
            if let Some(next) = self.next_letter(letter) {
                return Some(self.letters.iter().chain([&next]).collect());
            }
        }
        None
    }

    /// The first letter after another one with which a near word may go on.
    fn next_letter(&mut self, letter: char) -> Option<char> {
        // Any that the misspelt word does not have, if there may be one more fault.
        if self.may_go_on(BELOW_ALL) {
            return (letter..ABOVE_ALL).nth(1);
        }
        let mut own: Vec<char> = self.misspelt.iter().copied().filter(|own| *own > letter).collect();
        own.sort_unstable();
        own.dedup();
        own.into_iter().find(|own| self.may_go_on(*own))
    }

    fn may_go_on(&mut self, letter: char) -> bool {
        self.add(letter);
        let may = self.is_near();
        self.shorten(self.letters.len() - 1);
        may
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use strsim::osa_distance;

    use super::{NearWords, tolerance};

    /// The near words among those that are known, and how many pages and words were read for it.
    fn read(word: &str, known: &BTreeSet<String>, size: usize) -> (Vec<String>, usize, usize) {
        let mut search = NearWords::of(word);
        let (mut pages, mut words) = (0, 0);
        while let Some(range) = search.next() {
            let page: Vec<String> = known.range(range.from.clone()..range.to.clone()).take(size).cloned().collect();
            pages += 1;
            words += page.len();
            let is_end = page.len() < size;
            search.take(page, is_end);
        }
        (search.found(), pages, words)
    }

    fn near(word: &str, known: &[&str]) -> Vec<String> {
        read(word, &known.iter().map(|&word| word.to_owned()).collect(), 3).0
    }

    #[test]
    fn a_word_may_be_wrong_in_one_place_and_a_long_one_in_two() {
        assert_eq!(near("logn", &["login", "logic", "long"]), ["login", "long"]);
        assert_eq!(
            near("appointmnet", &["appointment", "appointments", "department"]),
            ["appointment", "appointments"]
        );
        assert_eq!(near("appoinmnet", &["appointment"]), ["appointment"]);
        assert_eq!(near("paplication", &["application"]), ["application"], "the first letters are exchanged");
        assert_eq!(near("xlogin", &["login"]), ["login"], "a letter was added before it");
        assert_eq!(near("مستخدن", &["مستخدم"]), ["مستخدم"]);
    }

    proptest! {
        #[test]
        fn exactly_the_words_are_found_that_are_near_and_begin_alike(
            word in "[abc]{4,10}",
            known in prop::collection::btree_set("[abcd]{1,11}", 0..200),
            size in 1_usize..20,
        ) {
            let initials: Vec<char> = word.chars().take(2).collect();
            let mut expected: Vec<(usize, &String)> = known
                .iter()
                .filter(|other| other.chars().next().is_some_and(|first| initials.contains(&first)))
                .map(|other| (osa_distance(&word, other), other))
                .filter(|(far, _)| *far <= tolerance(&word))
                .collect();
            expected.sort_unstable();
            let expected: Vec<&String> = expected.into_iter().map(|(_, other)| other).take(super::NEAR).collect();
            let (found, ..) = read(&word, &known, size);
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn of_a_million_words_that_begin_alike_hardly_any_are_read() {
        let known: BTreeSet<String> =
            (0..1_000_000).map(|number| format!("word{number:06}")).chain(["wordsmiths".to_owned()]).collect();
        let (found, pages, words) = read("wrodsmihts", &known, 256);
        assert_eq!(found, ["wordsmiths"], "past all the others");
        assert!(pages < 20 && words < 5_000, "{pages} pages, {words} words");
    }
}
