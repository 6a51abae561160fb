//! Statements that say the same, nearly the same or the opposite.
//!
//! Only statements with the same words of meaning in the same order are one; what is merely alike is left to people, with
//! a hint. To stay linear, a statement is compared only with those that share one of its rarest words, and with at most
//! sixty of them for each word.

use std::collections::{BTreeSet, HashMap};

use super::super::glossary::ProjectTerms;
use super::super::loop_control::{Halted, LoopControl};
use super::choices;
use super::fingerprint::{Fingerprint, Stance};
use super::heads::{self, OPPOSED, TrainedHeads, of_pair};

/// Maximum number of statements that are compared for each rare word.
const MAX_CANDIDATES: usize = 60;
/// How many of a statement's rarest words bring it together with others.
const RARE_WORDS: usize = 4;
/// Maximum number of conflicts, and of statements that are nearly the same, recorded for each statement.
const MAX_RELATED: usize = 2;
/// Minimum likeness of statements that have anything to do with each other.
const RELATED: f64 = 0.08;
/// How many of the most alike statements of each one are looked at.
const MAX_ALIKE: usize = 8;
/// Likeness from which statements are nearly the same whatever the trained head says of it.
const ALIKE: f64 = 0.85;
/// Likeness from which a contradiction is one whatever the trained head says of it.
const SAME_DEMAND: f64 = 0.6;
const SAME_CHOICE: f64 = 0.5;
/// Probability by the trained head from which a contradiction with words that clash is said without being asked, if it is about the
/// same by [`is_about_the_same`]: of those, all ten hold in the five folds of `tests/corpus/train`, of all that the head takes for
/// one 52 of 94. No rule for repetitions reaches four in five there: they are never said without being asked.
const STRONG: f32 = 0.9;
const STRONG_HOLDING: f32 = 0.9;
/// How many words two statements share, and what share of the words of both, when they are about the same; of short ones the share
/// alone. Rare words count no more than others here: in a large project, every word but a few is rare.
const SAME_WORDS: (usize, f64) = (4, 0.45);
const SAME_SHARE: f64 = 0.6;
/// The share of pairs of each probability, from the first number on, that hold in these folds.
const OPPOSED_HOLDING: [(f32, f32); 4] = [(0.0, 0.2), (0.3, 0.29), (0.6, 0.35), (0.7, 0.64)];
const ALIKE_HOLDING: [(f32, f32); 2] = [(0.0, 0.22), (0.6, 0.44)];

/// Two statements that contradict each other, and why in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    pub one: usize,
    /// After `one`.
    pub other: usize,
    pub reason: String,
}

/// Two statements that may be nearly the same or against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelatedPair {
    pub one: usize,
    /// After `one`.
    pub other: usize,
    pub relation: DemandRelation,
    /// The share of such pairs that are what they are taken for, 0–1.
    pub confidence: f32,
    /// Whether that is enough to say it without being asked.
    pub is_strong: bool,
}

/// How statements relate to each other, by their positions.
#[derive(Debug, Default)]
pub struct DemandRelations {
    /// For each statement the first one that says nearly the same, if there is one.
    pub alike: Vec<Option<usize>>,
    pub contradictions: Vec<Contradiction>,
}

/// Returns the fingerprints of the statements, in their order. What a project's term is mistaken for counts as the term.
pub fn fingerprints<'a>(
    terms: &ProjectTerms,
    statements: impl Iterator<Item = &'a str>,
    control: &LoopControl,
) -> Result<Vec<Fingerprint>, Halted> {
    statements.map(|statement| control.check().map(|()| Fingerprint::of(&terms.respelled(statement)))).collect()
}

/// Returns for each statement the first one with the same words of meaning in the same order, or `None` if it is the
/// first itself.
pub fn originals(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<Vec<Option<usize>>, Halted> {
    let mut known: HashMap<&[String], usize> = HashMap::new();
    let mut first = Vec::with_capacity(fingerprints.len());
    for (at, fingerprint) in fingerprints.iter().enumerate() {
        control.check()?;
        let root = *known.entry(fingerprint.content()).or_insert(at);
        first.push((root != at).then_some(root));
    }
    Ok(first)
}

/// Returns which statements are alike and which contradict each other, as far as that is likely enough to be said without being
/// asked; `sources` says where each is from.
pub fn relations(
    heads: &TrainedHeads,
    fingerprints: &[Fingerprint],
    sources: &[&str],
    control: &LoopControl,
) -> Result<DemandRelations, Halted> {
    let mut relations = DemandRelations { alike: vec![None; fingerprints.len()], contradictions: Vec::new() };
    for pair in related_pairs(heads, fingerprints, sources, control)?.into_iter().filter(|pair| pair.is_strong) {
        let RelatedPair { one, other, relation, .. } = pair;
        let (Some(first), Some(second)) = (fingerprints.get(one), fingerprints.get(other)) else { continue };
        match relation {
            DemandRelation::Opposed => {
                let reason = reason(relation, first, second);
                relations.contradictions.push(Contradiction { one, other, reason });
            }
            DemandRelation::Alike => {
                if let Some(place @ None) = relations.alike.get_mut(other) {
                    *place = Some(one);
                }
            }
        }
    }
    Ok(relations)
}

/// Returns the pairs of statements that may be nearly the same or against each other, in the order of the later ones.
pub fn related_pairs(
    heads: &TrainedHeads,
    fingerprints: &[Fingerprint],
    sources: &[&str],
    control: &LoopControl,
) -> Result<Vec<RelatedPair>, Halted> {
    let mut judged: Vec<RelatedPair> = Vec::new();
    for pair in pairs(fingerprints, control)? {
        control.check()?;
        let (Some(first), Some(second)) = (fingerprints.get(pair.one), fingerprints.get(pair.other)) else { continue };
        let is_same_source = sources.get(pair.one) == sources.get(pair.other);
        judged.extend(judge(heads, &pair, (first, second), is_same_source));
    }
    judged.sort_by(|one, other| {
        let surer = other.is_strong.cmp(&one.is_strong).then(other.confidence.total_cmp(&one.confidence));
        surer.then((one.other, one.one).cmp(&(other.other, other.one)))
    });
    let mut noted = [vec![0; fingerprints.len()], vec![0; fingerprints.len()]];
    judged.retain(|RelatedPair { one, other, relation, .. }| {
        let [alike, opposed] = &mut noted;
        let noted = if *relation == DemandRelation::Alike { alike } else { opposed };
        if [*one, *other].iter().any(|at| noted.get(*at).is_none_or(|count| *count >= MAX_RELATED)) {
            return false;
        }
        noted.get_disjoint_mut([*one, *other]).into_iter().flatten().for_each(|count| *count += 1);
        true
    });
    judged.sort_by_key(|pair| (pair.other, pair.one));
    Ok(judged)
}

/// How two statements relate to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandRelation {
    Alike,
    Opposed,
}

/// Two statements that share a rare word.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub one: usize,
    /// After `one`.
    pub other: usize,
    /// The cosine of their words, the rare ones counting more, 0–1.
    pub likeness: f64,
    /// Which of the most alike statements of each one the other is, from 0.
    pub ranks: (usize, usize),
    /// How many words they share, and what share of the shorter one that is.
    pub shared: usize,
    pub overlap: f64,
    /// How rare the rarest word is that they share, 0–1.
    pub rarest: f64,
}

/// Compares each statement with those that share one of its rarest words; the most alike ones of each are returned.
pub fn pairs(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<Vec<Pair>, Halted> {
    let index = StemIndex::of(fingerprints, control)?;
    let mut best: Vec<Vec<(f64, usize)>> = vec![Vec::new(); fingerprints.len()];
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in 0..fingerprints.len() {
        control.check()?;
        for other in index.before(at) {
            let likeness = index.likeness(at, other);
            if likeness >= RELATED {
                for (own, partner) in [(at, other), (other, at)] {
                    if let Some(best) = best.get_mut(own) {
                        let place = best.partition_point(|(known, _)| *known >= likeness);
                        if place < MAX_ALIKE {
                            best.insert(place, (likeness, partner));
                            best.truncate(MAX_ALIKE);
                        }
                    }
                }
            }
        }
    }
    for (at, best) in best.iter().enumerate() {
        found.extend(best.iter().map(|(_, other)| (at.min(*other), at.max(*other))));
    }
    found.sort_unstable_by_key(|(one, other)| (*other, *one));
    found.dedup();
    let rank = |of: usize, among: usize| {
        let best = best.get(among).map(Vec::as_slice).unwrap_or_default();
        best.iter().position(|(_, other)| *other == of).unwrap_or(MAX_ALIKE)
    };
    let pair = |(one, other): (usize, usize)| {
        let Shared { count, share, rarest } = index.shared(one, other);
        let (likeness, ranks) = (index.likeness(one, other), (rank(other, one), rank(one, other)));
        Pair { one, other, likeness, ranks, shared: count, overlap: share, rarest }
    };
    Ok(found.into_iter().map(pair).collect())
}

/// What two statements are taken for, if they are taken for anything.
fn judge(
    heads: &TrainedHeads,
    pair: &Pair,
    (first, second): (&Fingerprint, &Fingerprint),
    is_same_source: bool,
) -> Option<RelatedPair> {
    let sight = of_pair(pair, first, second, is_same_source);
    let is_alike = pair.likeness >= ALIKE && first.stance == second.stance && is_same_amount(first, second);
    let relation = match heads.relations.relation(&sight) {
        _ if is_certain(pair, first, second) => DemandRelation::Opposed,
        _ if is_alike => DemandRelation::Alike,
        found => found?.0,
    };
    let (class, holding): (usize, &[(f32, f32)]) = match relation {
        DemandRelation::Opposed => (OPPOSED, &OPPOSED_HOLDING),
        DemandRelation::Alike => (heads::ALIKE, &ALIKE_HOLDING),
    };
    let likely = heads.relations.probabilities(&sight).get(class).copied().unwrap_or_default();
    let is_sure = likely >= STRONG && is_about_the_same(pair.shared, first, second);
    // All words of one of both are words of the other: it is about the same, whatever the head says of it.
    let says_nothing_else = is_certain(pair, first, second) && pair.overlap >= 1.0;
    let is_strong = relation == DemandRelation::Opposed && clash(first, second) && (is_sure || says_nothing_else);
    let share = holding.iter().rev().find(|(from, _)| likely >= *from).map_or(0.0, |(_, share)| *share);
    let confidence = if is_strong { STRONG_HOLDING } else { share };
    Some(RelatedPair { one: pair.one, other: pair.other, relation, confidence, is_strong })
}

/// Whether so many shared words make two statements be about the same.
fn is_about_the_same(shared: usize, one: &Fingerprint, other: &Fingerprint) -> bool {
    let share = 2.0 * count(shared) / count(one.stems.len() + other.stems.len()).max(1.0);
    share >= SAME_SHARE || (shared >= SAME_WORDS.0 && share >= SAME_WORDS.1)
}

/// Whether each of two statements has a figure, an alternative or a negation of its own.
fn clash(one: &Fingerprint, other: &Fingerprint) -> bool {
    let amounts = || one.quantities.iter().flat_map(|own| other.quantities.iter().map(move |theirs| (own, theirs)));
    let mut comparable = amounts().filter(|(own, theirs)| own.has_unit_of(theirs)).peekable();
    let differ = comparable.peek().is_some() && comparable.all(|(own, theirs)| !own.is_as_much_as(theirs));
    differ || one.stance != other.stance || choices::opposed(&one.choices, &other.choices).is_some()
}

/// Whether two statements about the same contradict each other beyond doubt.
pub fn is_certain(pair: &Pair, one: &Fingerprint, other: &Fingerprint) -> bool {
    let is_opposed = one.stance != other.stance && is_same_amount(one, other);
    (pair.likeness >= SAME_DEMAND && (differing(one, other).is_some() || is_opposed))
        || (pair.likeness >= SAME_CHOICE && differing_choice(one, other).is_some())
}

/// Returns two quantities of the same unit of which each statement has its own.
fn differing<'a>(one: &'a Fingerprint, other: &'a Fingerprint) -> Option<(&'a str, &'a str)> {
    one.quantities.iter().filter(|_| one.stance == other.stance).find_map(|quantity| {
        let mut comparable = other.quantities.iter().filter(|other| quantity.has_unit_of(other)).peekable();
        let first = comparable.peek().map(|first| first.words.as_str())?;
        let is_equal = comparable.any(|other| quantity.is_as_much_as(other));
        (!is_equal).then_some((quantity.words.as_str(), first))
    })
}

fn differing_choice(one: &Fingerprint, other: &Fingerprint) -> Option<(&'static str, &'static str)> {
    let is_possible = one.stance == other.stance && !one.is_addition && !other.is_addition;
    is_possible.then(|| choices::opposed(&one.choices, &other.choices)).flatten()
}

/// Returns in words why two statements are taken for what they are.
pub fn reason(relation: DemandRelation, one: &Fingerprint, other: &Fingerprint) -> String {
    if relation == DemandRelation::Alike {
        return "Both say nearly the same.".to_owned();
    }
    if let Some((first, second)) = differing(one, other) {
        return format!("One says {first}, the other {second}.");
    }
    if let Some((first, second)) = differing_choice(one, other) {
        return format!("One says {first}, the other {second}.");
    }
    match (one.stance, other.stance) {
        (first, second) if first == second => "Both are about the same, and only one of them can hold.".to_owned(),
        (Stance::Optional, _) | (_, Stance::Optional) => "One demands what the other leaves open.".to_owned(),
        _ => "One demands what the other rules out.".to_owned(),
    }
}

/// Whether both statements have the same quantities.
pub fn is_same_amount(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.quantities.len() == other.quantities.len()
        && one.quantities.iter().zip(&other.quantities).all(|(one, other)| one.is_as_much_as(other))
}

/// The words that two statements share.
struct Shared {
    count: usize,
    share: f64,
    rarest: f64,
}

/// An inverted index of the statements' stems. A stem is represented by its rank in alphabetical order, so that comparing
/// two statements is a single merge over numbers.
struct StemIndex {
    /// Stems of each statement, ascending.
    stems: Vec<Vec<usize>>,
    /// Statements that contain each stem, ascending.
    postings: Vec<Vec<usize>>,
    /// How much each stem tells: the rarer, the more.
    weights: Vec<f64>,
    /// The largest weight, 1 at least.
    most: f64,
    /// The sum of the squared weights of each statement's stems.
    norms: Vec<f64>,
}

impl StemIndex {
    fn of(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<Self, Halted> {
        let mut alphabet: BTreeSet<&str> = BTreeSet::new();
        for fingerprint in fingerprints {
            control.check()?;
            alphabet.extend(fingerprint.stems.iter().map(String::as_str));
        }
        let numbers: HashMap<&str, usize> = alphabet.into_iter().zip(0..).collect();
        let mut postings = vec![Vec::new(); numbers.len()];
        let mut stems = Vec::with_capacity(fingerprints.len());
        for (at, fingerprint) in fingerprints.iter().enumerate() {
            control.check()?;
            let own: Vec<usize> =
                fingerprint.stems.iter().filter_map(|stem| numbers.get(stem.as_str()).copied()).collect();
            for &stem in &own {
                if let Some(postings) = postings.get_mut(stem) {
                    postings.push(at);
                }
            }
            stems.push(own);
        }
        let all = count(fingerprints.len()) + 1.0;
        let weights: Vec<f64> =
            postings.iter().map(|postings: &Vec<usize>| 0.3 + (all / count(postings.len()).max(1.0)).ln()).collect();
        let weight = |stem: &usize| weights.get(*stem).copied().unwrap_or(0.0);
        let norms = stems.iter().map(|own: &Vec<usize>| own.iter().map(|stem| weight(stem).powi(2)).sum()).collect();
        let most = weights.iter().copied().fold(1.0, f64::max);
        Ok(Self { stems, postings, weights, most, norms })
    }

    /// Returns the earlier statements that this one is compared with, ascending.
    fn before(&self, at: usize) -> impl Iterator<Item = usize> {
        let own = self.stems.get(at).map(Vec::as_slice).unwrap_or_default();
        let mut rare: Vec<&Vec<usize>> = own.iter().filter_map(|&stem| self.postings.get(stem)).collect();
        rare.retain(|postings| postings.len() > 1);
        rare.sort_by_key(|postings| postings.len());
        let candidates =
            rare.into_iter().take(RARE_WORDS).flat_map(|postings| postings.iter().copied().take(MAX_CANDIDATES));
        let candidates: BTreeSet<usize> = candidates.filter(|&other| other < at).collect();
        candidates.into_iter()
    }

    /// Calls `each` with every stem that both statements have.
    fn common(&self, one: usize, other: usize, mut each: impl FnMut(usize)) {
        let stems = |at: usize| self.stems.get(at).map(Vec::as_slice).unwrap_or_default();
        let (mut first, mut second) = (stems(one), stems(other));
        while let ([left, rest @ ..], [right, others @ ..]) = (first, second) {
            if left == right {
                each(*left);
            }
            first = if left <= right { rest } else { first };
            second = if right <= left { others } else { second };
        }
    }

    fn weight(&self, stem: usize) -> f64 {
        self.weights.get(stem).copied().unwrap_or(0.0)
    }

    /// Returns the cosine of both statements' stems, weighted by how rare they are, 0–1.
    fn likeness(&self, one: usize, other: usize) -> f64 {
        let norm = |at: usize| self.norms.get(at).copied().unwrap_or(0.0);
        let mut shared = 0.0;
        self.common(one, other, |stem| shared += self.weight(stem).powi(2));
        let length = (norm(one) * norm(other)).sqrt();
        if length == 0.0 { 0.0 } else { shared / length }
    }

    fn shared(&self, one: usize, other: usize) -> Shared {
        let (mut number, mut rarest) = (0, 0.0_f64);
        self.common(one, other, |stem| {
            number += 1;
            rarest = rarest.max(self.weight(stem));
        });
        let shorter = [one, other].iter().filter_map(|at| self.stems.get(*at)).map(Vec::len).min().unwrap_or(0);
        Shared { count: number, share: count(number) / count(shorter).max(1.0), rarest: rarest / self.most }
    }
}

fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::CancelToken;

    fn related(statements: &[&str]) -> (Vec<Option<usize>>, DemandRelations) {
        let control = LoopControl::new(CancelToken::new());
        let fingerprints = fingerprints(&ProjectTerms::default(), statements.iter().copied(), &control).unwrap();
        let sources = vec!["one"; statements.len()];
        let relations = relations(TrainedHeads::trained(), &fingerprints, &sources, &control).unwrap();
        (originals(&fingerprints, &control).unwrap(), relations)
    }

    #[test]
    fn what_differs_by_a_wrap_or_a_stop_is_one_and_other_figures_contradict() {
        let (same, relations) = related(&[
            "The search shall answer within 2 seconds.",
            "The search shall\nanswer within 2 seconds",
            "The search shall answer within five seconds.",
            "Patients can cancel online.",
        ]);
        assert_eq!(same, [None, Some(0), None, None]);
        let first = &relations.contradictions[0];
        assert_eq!((first.one, first.other, first.reason.as_str()), (0, 2, "One says 2 seconds, the other 5 seconds."));
        assert!(relations.contradictions.iter().all(|found| found.other != 3));
    }

    #[test]
    fn who_does_what_to_whom_is_not_merged() {
        let (same, relations) = related(&["The nurse calls the doctor.", "The doctor calls the nurse."]);
        assert_eq!((same, relations.alike), (vec![None, None], vec![None, None]), "neither one, nor said to be");
    }

    #[test]
    fn opposed_demands_contradict() {
        let (_, relations) = related(&[
            "Guests shall register before they book a boat.",
            "Guests must not register before they book a boat.",
            "Guests need not register before they book a boat.",
        ]);
        let reasons: Vec<&str> = relations.contradictions.iter().map(|found| found.reason.as_str()).collect();
        assert_eq!(reasons.len(), 3);
        assert!(reasons.contains(&"One demands what the other rules out."));
        assert!(reasons.contains(&"One demands what the other leaves open."));
    }

    #[test]
    fn the_same_size_in_another_unit_is_no_contradiction() {
        let both = ["A session ends after 15 minutes.", "A session ends after 900 seconds."];
        let (_, relations) = related(&both);
        assert_eq!(
            (relations.contradictions.len(), relations.alike[1]),
            (0, None),
            "not sure enough to be said unasked"
        );
        let control = LoopControl::new(CancelToken::new());
        let fingerprints = fingerprints(&ProjectTerms::default(), both.into_iter(), &control).unwrap();
        let pairs = related_pairs(TrainedHeads::trained(), &fingerprints, &["one"; 2], &control).unwrap();
        assert_eq!(pairs.iter().map(|pair| pair.relation).collect::<Vec<_>>(), [DemandRelation::Alike]);
    }
}
