//! Detection of duplicate and of conflicting statements.
//!
//! Statements are compared by the words they share. To stay linear, a statement is compared only with those that share
//! one of its three rarest words, and with at most sixty of them for each word.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use super::super::loop_control::{Halted, LoopControl};

/// Maximum number of statements that are compared for each rare word.
const MAX_CANDIDATES: usize = 60;
/// Maximum number of conflicts recorded for each statement.
const MAX_CONFLICTS: usize = 20;
/// Minimum share of common words of duplicates, which must also have the same figures and negations. The same share
/// makes a conflict of two statements of which one is negated.
const DUPLICATE_SIMILARITY: f64 = 0.85;
/// Minimum share of common words from which different figures make a conflict.
const CONFLICT_SIMILARITY: f64 = 0.6;

/// The words of a statement, prepared for comparison.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    normalized: String,
    words: BTreeSet<String>,
    figures: BTreeSet<String>,
    negated: bool,
}

impl Fingerprint {
    pub fn of(statement: &str) -> Self {
        let plain = super::corpus::plain(statement);
        let all: Vec<&str> =
            plain.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let is_figure = |word: &str| word.chars().any(|character| character.is_ascii_digit());
        let figures = all.iter().filter(|word| is_figure(word)).map(|word| (*word).to_owned()).collect();
        let negated = all.iter().any(|word| matches!(*word, "not" | "no" | "never" | "mustn" | "cannot" | "without"))
            || plain.contains("n't");
        let words = all.iter().filter(|word| !STOP_WORDS.contains(*word)).map(|word| (*word).to_owned()).collect();
        Self { normalized: all.join(" "), words, figures, negated }
    }

    /// Returns the words in lower case, separated by single spaces.
    pub fn normalized(&self) -> &str {
        &self.normalized
    }

    /// Returns a key of 32 hex digits, equal for the same words and the same `kind`.
    pub fn key(&self, kind: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(kind);
        hasher.update([0]);
        hasher.update(&self.normalized);
        hex::encode(hasher.finalize()).chars().take(32).collect()
    }
}

/// Returns the fingerprints of the statements, in their order.
pub fn fingerprints<'a>(
    statements: impl Iterator<Item = &'a str>,
    control: &LoopControl,
) -> Result<Vec<Fingerprint>, Halted> {
    statements.map(|statement| control.check().map(|()| Fingerprint::of(statement))).collect()
}

/// Returns for each statement the first one that says the same, or `None` if it is the first itself.
pub fn originals(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<Vec<Option<usize>>, Halted> {
    let word_index = WordIndex::of(fingerprints, control)?;
    let mut exact: HashMap<&str, usize> = HashMap::new();
    let mut first: Vec<Option<usize>> = Vec::with_capacity(fingerprints.len());
    for (at, fingerprint) in fingerprints.iter().enumerate() {
        control.check()?;
        let known = exact
            .get(fingerprint.normalized())
            .copied()
            .or_else(|| word_index.before(at).find(|&other| word_index.is_same(at, other)));
        let root = known.map(|other| first.get(other).copied().flatten().unwrap_or(other));
        exact.entry(fingerprint.normalized()).or_insert(root.unwrap_or(at));
        first.push(root);
    }
    Ok(first)
}

/// Returns pairs of positions, the smaller first, of conflicting statements: similar words with different figures, or
/// with one of them negated.
pub fn conflicts(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<BTreeSet<(usize, usize)>, Halted> {
    let word_index = WordIndex::of(fingerprints, control)?;
    let mut pairs = BTreeSet::new();
    let mut noted = vec![0; fingerprints.len()];
    for at in 0..fingerprints.len() {
        control.check()?;
        for other in word_index.before(at).filter(|&other| word_index.conflict(at, other)) {
            let is_room = |at: usize| noted.get(at).is_some_and(|count| *count < MAX_CONFLICTS);
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
struct WordIndex<'a> {
    fingerprints: &'a [Fingerprint],
    /// Words of each statement, ascending.
    words: Vec<Vec<usize>>,
    /// Statements that contain each word, ascending.
    postings: Vec<Vec<usize>>,
}

impl<'a> WordIndex<'a> {
    fn of(fingerprints: &'a [Fingerprint], control: &LoopControl) -> Result<Self, Halted> {
        let mut alphabet: BTreeSet<&str> = BTreeSet::new();
        for fingerprint in fingerprints {
            control.check()?;
            alphabet.extend(fingerprint.words.iter().map(String::as_str));
        }
        let numbers: HashMap<&str, usize> = alphabet.into_iter().zip(0..).collect();
        let mut postings = vec![Vec::new(); numbers.len()];
        let mut words = Vec::with_capacity(fingerprints.len());
        for (at, fingerprint) in fingerprints.iter().enumerate() {
            control.check()?;
            let own: Vec<usize> =
                fingerprint.words.iter().filter_map(|word| numbers.get(word.as_str()).copied()).collect();
            for &word in &own {
                if let Some(postings) = postings.get_mut(word) {
                    postings.push(at);
                }
            }
            words.push(own);
        }
        Ok(Self { fingerprints, words, postings })
    }

    /// Returns the earlier statements that this one is compared with, ascending.
    fn before(&self, at: usize) -> impl Iterator<Item = usize> {
        let own = self.words.get(at).map(Vec::as_slice).unwrap_or_default();
        let mut rare: Vec<&Vec<usize>> = own.iter().filter_map(|&word| self.postings.get(word)).collect();
        rare.sort_by_key(|postings| postings.len());
        let candidates = rare.into_iter().take(3).flat_map(|postings| postings.iter().copied().take(MAX_CANDIDATES));
        let candidates: BTreeSet<usize> = candidates.filter(|&other| other < at).collect();
        candidates.into_iter()
    }

    /// Returns the share of common words among the words of both statements (Jaccard index).
    fn similarity(&self, one: usize, other: usize) -> f64 {
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
        let (Some(first), Some(second)) = (self.fingerprints.get(one), self.fingerprints.get(other)) else {
            return false;
        };
        first.normalized == second.normalized
            || (first.figures == second.figures
                && first.negated == second.negated
                && self.similarity(one, other) >= DUPLICATE_SIMILARITY)
    }

    fn conflict(&self, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.fingerprints.get(one), self.fingerprints.get(other)) else {
            return false;
        };
        let other_figures =
            first.figures != second.figures && !first.figures.is_empty() && first.figures.len() == second.figures.len();
        let opposed = first.negated != second.negated && first.figures == second.figures;
        let bound = if opposed { DUPLICATE_SIMILARITY } else { CONFLICT_SIMILARITY };
        (other_figures || opposed) && self.similarity(one, other) >= bound
    }
}

fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

const STOP_WORDS: [&str; 24] = [
    "the", "a", "an", "of", "to", "and", "or", "is", "are", "be", "in", "on", "at", "for", "by", "with", "that", "it",
    "its", "this", "and", "so", "uh", "um",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::CancelToken;

    #[test]
    fn what_differs_by_a_wrap_or_a_stop_is_one_and_other_figures_conflict() {
        let statements = [
            "The search shall answer within 2 seconds.",
            "The search shall\nanswer within 2 seconds",
            "The search shall answer within 5 seconds.",
            "Patients can cancel online.",
        ];
        let control = LoopControl::new(CancelToken::new());
        let fingerprints: Vec<Fingerprint> = statements.iter().map(|statement| Fingerprint::of(statement)).collect();
        assert_eq!(originals(&fingerprints, &control).unwrap(), [None, Some(0), None, None]);
        assert!(conflicts(&fingerprints, &control).unwrap().contains(&(0, 2)));
        assert!(!conflicts(&fingerprints, &control).unwrap().iter().any(|&(_, second)| second == 3));
    }
}
