//! What two requirements may be to each other: a repetition or a contradiction. A claim for people to check, never a fact: it says
//! how sure it is, why, and on which words it rests.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::glossary::ProjectTerms;
use super::super::loop_control::{Halted, LoopControl};
use super::fingerprint::{is_common, is_negation};
use super::heads::TrainedHeads;
use super::sameness::{DemandRelation, RelatedPair, fingerprints, reason, related_pairs};
use super::synonyms::stem;
use super::{choices, quantities};

/// A requirement that is compared with others.
#[derive(Debug, Clone, Copy)]
pub struct ComparedStatement<'a> {
    pub statement: &'a str,
    /// The document or recording that it is from, by any name.
    pub source: &'a str,
}

/// What two requirements may be to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct PairClaim {
    /// The positions of both, ascending.
    pub one: usize,
    pub other: usize,
    pub relation: DemandRelation,
    /// The share of such claims that hold, 0–1.
    pub confidence: f32,
    /// Whether such claims hold often enough to be shown without being asked for.
    pub is_strong: bool,
    /// Why, in a sentence.
    pub reason: String,
    /// The places in both statements that the claim rests on, ascending, in Unicode scalar values.
    pub spans: [Vec<Range<usize>>; 2],
}

/// Returns what requirements may be to each other, in the order of the later ones.
///
/// # Errors
/// Whatever stops the control.
pub fn claims(
    terms: &ProjectTerms,
    statements: &[ComparedStatement<'_>],
    control: &LoopControl,
) -> Result<Vec<PairClaim>, Halted> {
    let fingerprints = fingerprints(terms, statements.iter().map(|one| one.statement), control)?;
    let sources: Vec<&str> = statements.iter().map(|one| one.source).collect();
    let pairs = related_pairs(TrainedHeads::trained(), &fingerprints, &sources, control)?;
    let claim = |pair: &RelatedPair| {
        let (first, second) = (fingerprints.get(pair.one)?, fingerprints.get(pair.other)?);
        let (own, others) = (statements.get(pair.one)?.statement, statements.get(pair.other)?.statement);
        Some(PairClaim {
            one: pair.one,
            other: pair.other,
            relation: pair.relation,
            confidence: pair.confidence,
            is_strong: pair.is_strong,
            reason: reason(pair.relation, first, second),
            spans: telling_words(pair.relation, own, others),
        })
    };
    Ok(pairs.iter().filter_map(claim).collect())
}

/// A word of a statement.
struct PlacedWord {
    place: Range<usize>,
    /// In lower case.
    text: String,
    stem: String,
}

fn words(statement: &str) -> Vec<PlacedWord> {
    let (mut all, mut text, mut start) = (Vec::new(), String::new(), 0);
    let mut end = |text: &mut String, place: Range<usize>| {
        if !text.is_empty() {
            let text = std::mem::take(text);
            all.push(PlacedWord { place, stem: stem(&text), text });
        }
    };
    let mut length = 0;
    for (at, character) in statement.chars().enumerate() {
        length = at + 1;
        if character.is_alphanumeric() || matches!(character, '\'' | '’') {
            if text.is_empty() {
                start = at;
            }
            text.extend(if character == '’' { '\''.to_lowercase() } else { character.to_lowercase() });
        } else {
            end(&mut text, start..at);
        }
    }
    end(&mut text, start..length);
    all
}

/// Returns the places of the words that a claim rests on: of a repetition what both say, of a contradiction the figures,
/// alternatives and negations of which each has its own, or else all that only one says.
fn telling_words(relation: DemandRelation, one: &str, other: &str) -> [Vec<Range<usize>>; 2] {
    let (one, other) = (words(one), words(other));
    let of = |own: &[PlacedWord], others: &[PlacedWord]| {
        let theirs: BTreeSet<&str> = others.iter().map(|word| word.stem.as_str()).collect();
        let is_theirs = |word: &PlacedWord| theirs.contains(word.stem.as_str());
        let is_told = |word: &&PlacedWord| is_telling(&word.text);
        match relation {
            DemandRelation::Alike => joined(own.iter().filter(|word| is_theirs(word)).filter(is_told)),
            DemandRelation::Opposed => {
                let differing: Vec<&PlacedWord> = own.iter().filter(|word| !is_theirs(word)).collect();
                let clashing: Vec<&PlacedWord> =
                    differing.iter().copied().filter(|word| is_clashing(&word.text)).collect();
                if clashing.is_empty() {
                    joined(differing.into_iter().filter(is_told))
                } else {
                    joined(clashing.into_iter())
                }
            }
        }
    };
    [of(&one, &other), of(&other, &one)]
}

/// The places of words; neighbours are one place.
fn joined<'a>(words: impl Iterator<Item = &'a PlacedWord>) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    for PlacedWord { place, .. } in words {
        match places.last_mut() {
            Some(last) if last.end + 1 == place.start => last.end = place.end,
            _ => places.push(place.clone()),
        }
    }
    places
}

fn is_telling(word: &str) -> bool {
    !is_common(word) && word.len() > 1
}

/// Whether a word can be what two demands differ in.
fn is_clashing(word: &str) -> bool {
    !quantities::numbers(word).is_empty() || is_negation(word) || !choices::choices(word).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::CancelToken;

    fn claimed(statements: &[&str]) -> Vec<PairClaim> {
        let control = LoopControl::new(CancelToken::new());
        let compared: Vec<_> =
            statements.iter().map(|statement| ComparedStatement { statement, source: "one" }).collect();
        claims(&ProjectTerms::default(), &compared, &control).unwrap()
    }

    fn marked<'a>(statement: &'a str, spans: &[Range<usize>]) -> Vec<&'a str> {
        spans.iter().filter_map(|span| statement.get(span.clone())).collect()
    }

    #[test]
    fn of_a_contradiction_the_figures_are_marked() {
        let both = ["The search shall answer within 2 seconds.", "The search shall answer within five seconds."];
        let claims = claimed(&both);
        assert_eq!((claims.len(), claims[0].relation), (1, DemandRelation::Opposed));
        assert_eq!(marked(both[0], &claims[0].spans[0]), ["2"]);
        assert_eq!(marked(both[1], &claims[0].spans[1]), ["five"]);
        assert_eq!(claims[0].reason, "One says 2 seconds, the other 5 seconds.");
    }

    #[test]
    fn of_a_repetition_the_common_words_are_marked() {
        let both = ["The doctor calls the nurse.", "The nurse calls the doctor."];
        let claims = claimed(&both);
        assert_eq!((claims.len(), claims[0].relation), (1, DemandRelation::Alike));
        assert_eq!(marked(both[0], &claims[0].spans[0]), ["doctor calls", "nurse"]);
    }

    #[test]
    fn places_count_characters_and_not_bytes() {
        let spans = telling_words(DemandRelation::Opposed, "Für Ämter gilt 5 Tage.", "Für Ämter gilt 6 Tage.");
        let sixth = std::iter::once(15..16).collect::<Vec<_>>();
        assert_eq!(spans, [sixth.clone(), sixth]);
    }
}
