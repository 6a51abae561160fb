//! The same thing said twice, and two things that can't both hold.
//!
//! Two statements are alike by the words they share. To stay linear, a statement is compared only with those that share one of
//! its three rarest words, and with at most sixty of them.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

/// How many statements per rare word are looked at.
const NEAR: usize = 60;
/// Share of words in common from which two statements, with the same figures and negations, are one.
const SAME: f64 = 0.85;
/// Share of words in common from which other figures or a negation make a conflict.
const AKIN: f64 = 0.6;

/// A statement's words, ready to be compared.
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

    /// The words in lower case, one space between.
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// 32 hex digits, the same for the same words of the same kind.
    pub fn key(&self, kind: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(kind);
        hasher.update([0]);
        hasher.update(&self.normal);
        hex::encode(hasher.finalize()).chars().take(32).collect()
    }

    fn likeness(&self, other: &Self) -> f64 {
        let shared = count(self.words.intersection(&other.words).count());
        let all = count(self.words.union(&other.words).count());
        if all == 0.0 { 0.0 } else { shared / all }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.normal == other.normal
            || (self.figures == other.figures && self.negated == other.negated && self.likeness(other) >= SAME)
    }

    fn conflicts(&self, other: &Self) -> bool {
        let other_figures =
            self.figures != other.figures && !self.figures.is_empty() && self.figures.len() == other.figures.len();
        let opposed = self.negated != other.negated && self.figures == other.figures;
        let bound = if opposed { SAME } else { AKIN };
        (other_figures || opposed) && self.likeness(other) >= bound
    }
}

/// For every statement the first one that says the same, if it is not itself the first.
pub fn firsts(gists: &[Gist]) -> Vec<Option<usize>> {
    let neighbours = Neighbours::of(gists);
    let mut exact: HashMap<&str, usize> = HashMap::new();
    let mut first = vec![None; gists.len()];
    for (at, gist) in gists.iter().enumerate() {
        let known = exact.get(gist.normal()).copied().or_else(|| {
            let earlier = neighbours.of_gist(gist).filter(|&other| other < at);
            earlier.filter(|&other| gists.get(other).is_some_and(|earlier| gist.is_same(earlier))).min()
        });
        let root = known.map(|other| first.get(other).copied().flatten().unwrap_or(other));
        exact.entry(gist.normal()).or_insert(root.unwrap_or(at));
        if let Some(slot) = first.get_mut(at) {
            *slot = root;
        }
    }
    first
}

/// Pairs of positions, the smaller first, that can't both hold: much the same words with other figures, or one of them negated.
pub fn conflicts(gists: &[Gist]) -> BTreeSet<(usize, usize)> {
    let neighbours = Neighbours::of(gists);
    let mut pairs = BTreeSet::new();
    for (at, gist) in gists.iter().enumerate() {
        for other in neighbours.of_gist(gist).filter(|&other| other < at) {
            if gists.get(other).is_some_and(|earlier| gist.conflicts(earlier)) {
                pairs.insert((other, at));
            }
        }
    }
    pairs
}

struct Neighbours<'a> {
    by_word: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Neighbours<'a> {
    fn of(gists: &'a [Gist]) -> Self {
        let mut by_word: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, gist) in gists.iter().enumerate() {
            for word in &gist.words {
                by_word.entry(word).or_default().push(at);
            }
        }
        Self { by_word }
    }

    fn of_gist(&self, gist: &Gist) -> impl Iterator<Item = usize> {
        let mut rare: Vec<&Vec<usize>> = gist.words.iter().filter_map(|word| self.by_word.get(word.as_str())).collect();
        rare.sort_by_key(|places| places.len());
        let near: BTreeSet<usize> =
            rare.into_iter().take(3).flat_map(|places| places.iter().copied().take(NEAR)).collect();
        near.into_iter()
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
    use super::*;

    #[test]
    fn what_differs_by_a_wrap_or_a_stop_is_one_and_other_figures_conflict() {
        let said = [
            "The search shall answer within 2 seconds.",
            "The search shall\nanswer within 2 seconds",
            "The search shall answer within 5 seconds.",
            "Patients can cancel online.",
        ];
        let gists: Vec<Gist> = said.iter().map(|statement| Gist::of(statement)).collect();
        assert_eq!(firsts(&gists), [None, Some(0), None, None]);
        assert!(conflicts(&gists).contains(&(0, 2)));
        assert!(!conflicts(&gists).iter().any(|&(_, second)| second == 3));
    }
}
