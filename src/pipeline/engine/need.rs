//! Is this sentence a requirement? Cues for and against are weighed; the sum becomes the confidence.

use super::book::{Book, Line};
use super::index::Place;
use super::lexicon::{ABILITY, ACTOR, MUST, QUESTION_WORD, SHOULD, SYSTEM, WISH};
use super::voice;

/// From here on a sentence counts as a requirement.
pub const THRESHOLD: f64 = 0.5;

/// How likely the sentence states what the product must do or be, 0–1.
pub fn likelihood(line: &Line) -> f64 {
    let lower = line.lower.as_str();
    let words = lower.split_whitespace().count();
    if words < 4 || lower.ends_with('?') || lower.ends_with(':') || QUESTION_WORD.is_match(lower) && lower.contains('?') {
        return 0.0;
    }
    let mut weight = -1.2;
    if MUST.is_match(lower) {
        weight += 2.4;
    } else if SHOULD.is_match(lower) {
        weight += 1.8;
    } else if WISH.is_match(lower) {
        weight += 1.3;
    } else if ABILITY.is_match(lower) {
        weight += 0.9;
    }
    if SYSTEM.is_match(lower) {
        weight += 0.5;
    }
    if ACTOR.is_match(lower) {
        weight += 0.3;
    }
    if words > 60 {
        weight -= 0.5;
    }
    if line.label.is_some() {
        weight += 0.8;
    }
    1.0 / (1.0 + f64::exp(-1.5 * weight))
}

/// The same, in its place: what demands nothing or was taken back has none.
pub fn in_place(book: &Book, at: usize, line: &Line) -> f64 {
    if voice::demands_nothing(line) || line.place == Place::Heading {
        return 0.0;
    }
    let likelihood = likelihood(line);
    if likelihood >= THRESHOLD && voice::is_taken_back(book, at) { 0.0 } else { likelihood }
}
