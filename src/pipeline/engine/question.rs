//! Open questions: what nobody could answer yet.

use std::sync::LazyLock;

use regex::Regex;

use super::book::{Book, Line};
use super::index::Place;
use super::lexicon::pattern;
use super::voice;

static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(still open|open (question|point|issue)|to be (clarified|decided|determined|confirmed|defined)|tbd|tbc|unclear|not (yet )?(been )?(settled|clear|decided|known)|",
        r"don't know (yet )?(whether|if|how|what|who|which)|i wonder|nobody('s| has)? (ever )?(asked|knows)|has not been settled|remains open|needs clarification)\b"
    ))
});
static OPEN_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(open (questions?|points?|issues?)|questions?|to be clarified|unresolved)\b"));

/// About questions, none itself.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(sections? \d|i want to talk|talk about|list of open)"));

/// 0–1.
pub fn likelihood(line: &Line) -> f64 {
    let lower = line.lower.as_str();
    if matches!(line.place, Place::Heading | Place::Code | Place::Boilerplate | Place::Quote)
        || lower.split_whitespace().count() < 5
        || voice::is_quoted(lower)
        || ABOUT.is_match(lower)
    {
        return 0.0;
    }
    let asks = lower.ends_with('?');
    let under = OPEN_HEADING.is_match(voice::innermost(&line.heading));
    let open = OPEN.is_match(lower);
    match (asks, under, open) {
        (true, true, _) => 0.95,
        (_, _, true) => 0.8,
        _ => 0.0,
    }
}

/// Said of the question before.
static STAYS_OPEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(that's (still )?open|(it )?stays open|leave (that|it|this)( one)? open|list of open questions|down as open|an open question|we('ll| will) have to find out)\b",
    )
});
/// How many sentences back the question may lie.
const BACK: usize = 6;

/// Positions, rising, of spoken questions that are left open some sentences later.
pub fn left_open(book: &Book) -> Vec<usize> {
    let mut open = Vec::new();
    for (at, line) in book.lines().iter().enumerate() {
        if line.place != Place::Speech || !STAYS_OPEN.is_match(&line.lower) {
            continue;
        }
        let before = (at.saturating_sub(BACK)..at).rev().filter_map(|back| Some((back, book.line(back)?)));
        for (back, question) in before {
            if likelihood(question) > 0.0 {
                break;
            }
            if question.lower.ends_with('?') && question.lower.split_whitespace().count() >= 6 {
                open.push(back);
                break;
            }
        }
    }
    open.dedup();
    open
}

/// Why it counts as open, in words.
pub fn why(line: &Line) -> &'static str {
    if OPEN.is_match(&line.lower) {
        "The source says that it is not settled."
    } else if OPEN_HEADING.is_match(voice::innermost(&line.heading)) {
        "It stands among the open questions."
    } else {
        "It was asked and not answered."
    }
}
