//! Statements that say the same, nearly the same or the opposite.
//!
//! Only statements with the same words of meaning in the same order are one; what is merely alike is left to people, with
//! a hint. To stay linear, a statement is compared only with those that share one of its rarest words, and with at most
//! sixty of them for each word.

use std::collections::{BTreeSet, HashMap};

use super::super::loop_control::{Halted, LoopControl};
use super::choices;
use super::fingerprint::{Fingerprint, Stance};

/// Maximum number of statements that are compared for each rare word.
const MAX_CANDIDATES: usize = 60;
/// How many of a statement's rarest words bring it together with others.
const RARE_WORDS: usize = 4;
/// Maximum number of conflicts recorded for each statement.
const MAX_CONFLICTS: usize = 20;
/// Minimum likeness of statements that have anything to do with each other.
const RELATED: f64 = 0.2;
/// Minimum likeness of statements that say nearly the same.
const ALIKE: f64 = 0.62;
/// Minimum likeness of statements about the same thing, for different quantities, for different choices and for opposed
/// stances.
const SAME_SUBJECT: f64 = 0.45;
const SAME_CHOICE: f64 = 0.5;
const SAME_DEMAND: f64 = 0.6;

/// Two statements that contradict each other, and why in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    pub one: usize,
    /// After `one`.
    pub other: usize,
    pub reason: String,
}

/// How statements relate to each other, by their positions.
#[derive(Debug, Default)]
pub struct Relations {
    /// For each statement the first one that says nearly the same, if there is one.
    pub alike: Vec<Option<usize>>,
    pub contradictions: Vec<Contradiction>,
}

/// Returns the fingerprints of the statements, in their order.
pub fn fingerprints<'a>(
    statements: impl Iterator<Item = &'a str>,
    control: &LoopControl,
) -> Result<Vec<Fingerprint>, Halted> {
    statements.map(|statement| control.check().map(|()| Fingerprint::of(statement))).collect()
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

/// Returns which statements are alike and which contradict each other.
pub fn relations(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<Relations, Halted> {
    let mut relations = Relations { alike: vec![None; fingerprints.len()], contradictions: Vec::new() };
    let mut noted = vec![0; fingerprints.len()];
    let mut most_alike = vec![ALIKE; fingerprints.len()];
    for Pair { one, other, likeness, contradiction } in pairs(fingerprints, control)? {
        let (Some(before), Some(own)) = (fingerprints.get(one), fingerprints.get(other)) else { continue };
        if let Some(reason) = contradiction {
            let is_room = |at: usize| noted.get(at).is_some_and(|count| *count < MAX_CONFLICTS);
            if is_room(one) && is_room(other) {
                relations.contradictions.push(Contradiction { one, other, reason });
                for count in noted.get_disjoint_mut([one, other]).into_iter().flatten() {
                    *count += 1;
                }
            }
        } else if is_compatible(before, own)
            && let (Some(most), Some(place)) = (most_alike.get_mut(other), relations.alike.get_mut(other))
            && likeness >= *most
        {
            (*most, *place) = (likeness, Some(one));
        }
    }
    Ok(relations)
}

/// Two statements that share a rare word.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    pub one: usize,
    /// After `one`.
    pub other: usize,
    /// How much of their words they share, 0–1.
    pub likeness: f64,
    /// Why they contradict each other, if they do.
    pub contradiction: Option<String>,
}

/// Compares each statement with the earlier ones that share one of its rarest words.
pub fn pairs(fingerprints: &[Fingerprint], control: &LoopControl) -> Result<Vec<Pair>, Halted> {
    let index = StemIndex::of(fingerprints, control)?;
    let mut pairs = Vec::new();
    for (at, own) in fingerprints.iter().enumerate() {
        control.check()?;
        for other in index.before(at) {
            let Some(before) = fingerprints.get(other) else { continue };
            let likeness = index.likeness(at, other);
            if likeness >= RELATED {
                let contradiction = contradiction(before, own, likeness);
                pairs.push(Pair { one: other, other: at, likeness, contradiction });
            }
        }
    }
    Ok(pairs)
}

/// Whether two statements could say the same: the same stance and the same quantities.
fn is_compatible(one: &Fingerprint, other: &Fingerprint) -> bool {
    let all_in = |some: &Fingerprint, others: &Fingerprint| {
        some.quantities.iter().all(|quantity| others.quantities.iter().any(|other| quantity.is_as_much_as(other)))
    };
    one.stance == other.stance && all_in(one, other) && all_in(other, one)
}

/// Returns why two statements contradict each other, if they do.
fn contradiction(one: &Fingerprint, other: &Fingerprint, likeness: f64) -> Option<String> {
    if likeness >= SAME_SUBJECT && one.stance == other.stance {
        for quantity in &one.quantities {
            let mut comparable = other.quantities.iter().filter(|other| quantity.has_unit_of(other)).peekable();
            let first = comparable.peek().map(|first| first.words.clone());
            if let Some(first) = first.filter(|_| !comparable.any(|other| quantity.is_as_much_as(other))) {
                return Some(format!("One says {}, the other {first}.", quantity.words));
            }
        }
    }
    if likeness >= SAME_CHOICE
        && one.stance == other.stance
        && !one.is_addition
        && !other.is_addition
        && let Some((first, second)) = choices::opposed(&one.choices, &other.choices)
    {
        return Some(format!("One says {first}, the other {second}."));
    }
    let is_opposed = one.stance != other.stance && likeness >= SAME_DEMAND;
    (is_opposed && is_same_amount(one, other)).then(|| match (one.stance, other.stance) {
        (Stance::Optional, _) | (_, Stance::Optional) => "One demands what the other leaves open.".to_owned(),
        _ => "One demands what the other rules out.".to_owned(),
    })
}

fn is_same_amount(one: &Fingerprint, other: &Fingerprint) -> bool {
    one.quantities.len() == other.quantities.len()
        && one.quantities.iter().zip(&other.quantities).all(|(one, other)| one.is_as_much_as(other))
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
        let weights: Vec<f64> = postings
            .iter()
            .map(|postings: &Vec<usize>| 1.0 + (all / count(postings.len()).max(1.0)).ln() / 3.0)
            .collect();
        let weight = |stem: &usize| weights.get(*stem).copied().unwrap_or(0.0);
        let norms = stems.iter().map(|own: &Vec<usize>| own.iter().map(|stem| weight(stem).powi(2)).sum()).collect();
        Ok(Self { stems, postings, weights, norms })
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

    /// Returns the cosine of both statements' stems, weighted by how rare they are, 0–1.
    fn likeness(&self, one: usize, other: usize) -> f64 {
        let stems = |at: usize| self.stems.get(at).map(Vec::as_slice).unwrap_or_default();
        let norm = |at: usize| self.norms.get(at).copied().unwrap_or(0.0);
        let (mut first, mut second) = (stems(one), stems(other));
        let mut shared = 0.0;
        while let ([left, rest @ ..], [right, others @ ..]) = (first, second) {
            if left == right {
                shared += self.weights.get(*left).copied().unwrap_or(0.0).powi(2);
            }
            first = if left <= right { rest } else { first };
            second = if right <= left { others } else { second };
        }
        let length = (norm(one) * norm(other)).sqrt();
        if length == 0.0 { 0.0 } else { shared / length }
    }
}

fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::CancelToken;

    fn related(statements: &[&str]) -> (Vec<Option<usize>>, Relations) {
        let control = LoopControl::new(CancelToken::new());
        let fingerprints = fingerprints(statements.iter().copied(), &control).unwrap();
        (originals(&fingerprints, &control).unwrap(), relations(&fingerprints, &control).unwrap())
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
        assert_eq!((same, relations.alike), (vec![None, None], vec![None, Some(0)]));
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
        let (_, relations) = related(&["A session ends after 15 minutes.", "A session ends after 900 seconds."]);
        assert_eq!((relations.contradictions.len(), relations.alike[1]), (0, Some(0)));
    }
}
