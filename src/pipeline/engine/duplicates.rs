//! Detection of duplicate and of conflicting statements.
//!
//! Statements are compared by the words they share. To stay linear, a statement is compared only with those that share
//! one of its three rarest words, and with at most sixty of them for each word.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use super::super::loop_control::{Halted, LoopControl};

/// Maximum number of statements that are compared for each rare word.
const NEAR: usize = 60;
/// Maximum number of conflicts recorded for each statement.
const MOST_CONFLICTS: usize = 20;
/// Minimum share of common words of duplicates, which must also have the same figures and negations. The same share
/// makes a conflict of two statements of which one is negated.
const SAME: f64 = 0.85;
/// Minimum share of common words from which different figures make a conflict.
const AKIN: f64 = 0.6;

/// The words of a statement, prepared for comparison.
#[derive(Debug, Clone)]
pub struct Gist {
    normal: String,
    words: BTreeSet<String>,
    figures: BTreeSet<String>,
    negated: bool,
}

impl Gist {
    pub fn of(statement: &str) -> Self {
        let plain = super::book::plain(statement);
        let all: Vec<&str> =
            plain.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_figure = |word: &str| word.chars().any(|letter| letter.is_ascii_digit());
        let figures = all.iter().filter(|word| is_figure(word)).map(|word| (*word).to_owned()).collect();
        let negated = all.iter().any(|word| matches!(*word, "not" | "no" | "never" | "mustn" | "cannot" | "without"))
            || plain.contains("n't");
        let words = all.iter().filter(|word| !STOP.contains(*word)).map(|word| (*word).to_owned()).collect();
        Self { normal: all.join(" "), words, figures, negated }
    }

    /// Returns the words in lower case, separated by single spaces.
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// Returns a key of 32 hex digits, equal for the same words and the same `kind`.
    pub fn key(&self, kind: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(kind);
        hasher.update([0]);
        hasher.update(&self.normal);
        hex::encode(hasher.finalize()).chars().take(32).collect()
    }
}

/// Returns the gists of the statements, in their order.
pub fn gists<'a>(statements: impl Iterator<Item = &'a str>, pace: &LoopControl) -> Result<Vec<Gist>, Halted> {
    statements.map(|statement| pace.look().map(|()| Gist::of(statement))).collect()
}

/// Returns for each statement the first one that says the same, or `None` if it is the first itself.
pub fn firsts(gists: &[Gist], pace: &LoopControl) -> Result<Vec<Option<usize>>, Halted> {
    let shelf = Shelf::of(gists, pace)?;
    let mut exact: HashMap<&str, usize> = HashMap::new();
    let mut first: Vec<Option<usize>> = Vec::with_capacity(gists.len());
    for (at, gist) in gists.iter().enumerate() {
        pace.look()?;
        let known =
            exact.get(gist.normal()).copied().or_else(|| shelf.before(at).find(|&other| shelf.is_same(at, other)));
        let root = known.map(|other| first.get(other).copied().flatten().unwrap_or(other));
        exact.entry(gist.normal()).or_insert(root.unwrap_or(at));
        first.push(root);
    }
    Ok(first)
}

/// Returns pairs of positions, the smaller first, of conflicting statements: similar words with different figures, or
/// with one of them negated.
pub fn conflicts(gists: &[Gist], pace: &LoopControl) -> Result<BTreeSet<(usize, usize)>, Halted> {
    let shelf = Shelf::of(gists, pace)?;
    let mut pairs = BTreeSet::new();
    let mut noted = vec![0; gists.len()];
    for at in 0..gists.len() {
        pace.look()?;
        for other in shelf.before(at).filter(|&other| shelf.conflict(at, other)) {
            let is_room = |at: usize| noted.get(at).is_some_and(|count| *count < MOST_CONFLICTS);
            if is_room(at) && is_room(other) {
                pairs.insert((other, at));
                for count in noted.get_disjoint_mut([at, other]).into_iter().flatten() {
                    *count += 1;
                }
            }
        }
    }
    Ok(pairs)
}

/// An inverted index of the statements' words. A word is represented by its rank in alphabetical order, so that
/// comparing two statements is a single merge over numbers.
struct Shelf<'a> {
    gists: &'a [Gist],
    /// Words of each statement, ascending.
    words: Vec<Vec<usize>>,
    /// Statements that contain each word, ascending.
    places: Vec<Vec<usize>>,
}

impl<'a> Shelf<'a> {
    fn of(gists: &'a [Gist], pace: &LoopControl) -> Result<Self, Halted> {
        let mut alphabet: BTreeSet<&str> = BTreeSet::new();
        for gist in gists {
            pace.look()?;
            alphabet.extend(gist.words.iter().map(String::as_str));
        }
        let numbers: HashMap<&str, usize> = alphabet.into_iter().zip(0..).collect();
        let mut places = vec![Vec::new(); numbers.len()];
        let mut words = Vec::with_capacity(gists.len());
        for (at, gist) in gists.iter().enumerate() {
            pace.look()?;
            let own: Vec<usize> = gist.words.iter().filter_map(|word| numbers.get(word.as_str()).copied()).collect();
            for &word in &own {
                if let Some(places) = places.get_mut(word) {
                    places.push(at);
                }
            }
            words.push(own);
        }
        Ok(Self { gists, words, places })
    }

    /// Returns the earlier statements that this one is compared with, ascending.
    fn before(&self, at: usize) -> impl Iterator<Item = usize> {
        let own = self.words.get(at).map(Vec::as_slice).unwrap_or_default();
        let mut rare: Vec<&Vec<usize>> = own.iter().filter_map(|&word| self.places.get(word)).collect();
        rare.sort_by_key(|places| places.len());
        let near = rare.into_iter().take(3).flat_map(|places| places.iter().copied().take(NEAR));
        let near: BTreeSet<usize> = near.filter(|&other| other < at).collect();
        near.into_iter()
    }

    /// Returns the share of common words among the words of both statements (Jaccard index).
    fn likeness(&self, one: usize, other: usize) -> f64 {
        let words = |at: usize| self.words.get(at).map(Vec::as_slice).unwrap_or_default();
        let (mut one, mut other) = (words(one), words(other));
        let all = one.len() + other.len();
        let mut shared = 0;
        while let ([first, rest @ ..], [second, others @ ..]) = (one, other) {
            shared += usize::from(first == second);
            one = if first <= second { rest } else { one };
            other = if second <= first { others } else { other };
        }
        if all == 0 { 0.0 } else { count(shared) / count(all - shared) }
    }

    fn is_same(&self, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.gists.get(one), self.gists.get(other)) else { return false };
        first.normal == second.normal
            || (first.figures == second.figures && first.negated == second.negated && self.likeness(one, other) >= SAME)
    }

    fn conflict(&self, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.gists.get(one), self.gists.get(other)) else { return false };
        let other_figures =
            first.figures != second.figures && !first.figures.is_empty() && first.figures.len() == second.figures.len();
        let opposed = first.negated != second.negated && first.figures == second.figures;
        let bound = if opposed { SAME } else { AKIN };
        (other_figures || opposed) && self.likeness(one, other) >= bound
    }
}

fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

const STOP: [&str; 24] = [
    "the", "a", "an", "of", "to", "and", "or", "is", "are", "be", "in", "on", "at", "for", "by", "with", "that", "it",
    "its", "this", "and", "so", "uh", "um",
];

#[cfg(test)]
mod tests {
    use super::super::super::request::CancelToken;
    use super::*;

    #[test]
    fn what_differs_by_a_wrap_or_a_stop_is_one_and_other_figures_conflict() {
        let said = [
            "The search shall answer within 2 seconds.",
            "The search shall\nanswer within 2 seconds",
            "The search shall answer within 5 seconds.",
            "Patients can cancel online.",
        ];
        let pace = LoopControl::new(CancelToken::new());
        let gists: Vec<Gist> = said.iter().map(|statement| Gist::of(statement)).collect();
        assert_eq!(firsts(&gists, &pace).unwrap(), [None, Some(0), None, None]);
        assert!(conflicts(&gists, &pace).unwrap().contains(&(0, 2)));
        assert!(!conflicts(&gists, &pace).unwrap().iter().any(|&(_, second)| second == 3));
    }
}
