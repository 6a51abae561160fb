//! Detection of requirements: weighs cues for and against; the sum becomes the likelihood.
//!
//! The weights were set by hand and tried on public specifications; they are rules, not a trained model.

use std::sync::Arc;

use super::super::loop_control::{Halted, LoopControl};
use super::corpus::{Corpus, PreparedSentence};
use super::exclusions;
use super::index::BlockContext;
use super::lexicon::{ABILITY, ACTOR, MUST, PASSIVE, QUESTION_WORD, SHOULD, SYSTEM, SYSTEM_ACTS, WILL, WISH};

/// Minimum likelihood from which a sentence counts as a requirement.
pub const THRESHOLD: f64 = 0.5;
/// A third of the number of sentences that are examined before and after a sentence for neighbouring requirements.
const NEIGHBOURS: usize = 4;

/// Returns how likely the sentence alone states what the product must do or be, 0–1.
pub fn likelihood(sentence: &PreparedSentence) -> f64 {
    weight(sentence).map_or(0.0, probability)
}

/// Returns the likelihood of every sentence, by position: 0 for a sentence that states no requirement or was taken
/// back, more for one among requirements. Walks the lines twice and reports progress as two thirds; the last third is
/// the caller's.
pub fn likelihoods(corpus: &Corpus, control: &LoopControl) -> Result<Vec<f64>, Halted> {
    let sentences = corpus.sentences();
    let mut alone = Vec::with_capacity(sentences.len());
    for (at, sentence) in sentences.iter().enumerate() {
        control.report(at, 3 * sentences.len())?;
        alone.push(if exclusions::is_excluded(sentence) { None } else { weight(sentence) });
    }
    let demands: Vec<bool> = alone.iter().map(|weight| weight.is_some_and(|weight| weight > 0.3)).collect();
    let mut all = Vec::with_capacity(sentences.len());
    for (at, sentence) in sentences.iter().enumerate() {
        control.report(sentences.len() + at, 3 * sentences.len())?;
        let company =
            if sentence.context == BlockContext::Speech { 0.0 } else { company(corpus, &demands, at, sentence) };
        let likely = alone.get(at).copied().flatten().map_or(0.0, |weight| probability(weight + company));
        all.push(if likely >= THRESHOLD && exclusions::is_retracted(corpus, at) { 0.0 } else { likely });
    }
    Ok(all)
}

/// Returns up to 1.9 for neighbours that are requirements under the same heading; a list or table of requirements
/// counts more than prose.
fn company(corpus: &Corpus, demands: &[bool], at: usize, sentence: &PreparedSentence) -> f64 {
    let from = at.saturating_sub(NEIGHBOURS * 3);
    let near = (from..at + NEIGHBOURS * 3 + 1).filter(|&other| other != at);
    let alike = near.filter(|&other| {
        corpus.sentence(other).is_some_and(|other| {
            Arc::ptr_eq(&other.above, &sentence.above) && other.context == sentence.context && other.count >= 4
        })
    });
    let (mut all, mut demanding) = (0.0, 0.0);
    for other in alike {
        all += 1.0;
        demanding += if demands.get(other).copied().unwrap_or(false) { 1.0 } else { 0.0 };
    }
    let under = if sentence.above.about_requirements { 0.2 } else { 0.0 };
    let most = match sentence.context {
        BlockContext::Cell => 1.7,
        BlockContext::Item => 1.3,
        _ => 0.3,
    };
    if all < 2.0 { under } else { under + most * demanding / all }
}

/// Returns a weight above 0 for a likely requirement; `None` if the form of the sentence rules one out.
fn weight(sentence: &PreparedSentence) -> Option<f64> {
    let lower = sentence.lower.as_str();
    let least = if sentence.context == BlockContext::Prose { 4 } else { 5 };
    if sentence.count < least || lower.ends_with('?') || lower.ends_with(':') || !lower.contains(char::is_alphabetic) {
        return None;
    }
    let mut weight = -1.3;
    if MUST.is_match(lower) {
        weight += 2.5;
    } else if SHOULD.is_match(lower) {
        weight += 1.9;
    } else if WISH.is_match(lower) {
        weight += 1.5;
    } else if ABILITY.is_match(lower) {
        weight += 1.0;
    } else if WILL.is_match(lower) {
        weight += if sentence.context == BlockContext::Speech { -0.5 } else { 0.3 };
    }
    if SYSTEM_ACTS.is_match(lower) {
        weight += if WILL.is_match(lower) { 1.4 } else { 0.8 };
    } else if SYSTEM.is_match(lower) {
        weight += 0.3;
    }
    if PASSIVE.is_match(lower) {
        weight += 0.3;
    }
    if ACTOR.is_match(lower) {
        weight += 0.3;
    }
    if sentence.label.is_some() {
        weight += 0.5;
    }
    if QUESTION_WORD.is_match(lower) && lower.contains('?') {
        weight -= 2.0;
    }
    Some(weight)
}

fn probability(weight: f64) -> f64 {
    1.0 / (1.0 + f64::exp(-1.5 * weight))
}
