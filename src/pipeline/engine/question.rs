//! Open questions: what nobody could answer yet.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Line;
use super::index::Place;
use super::lexicon::pattern;
use super::voice;

static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(still open|open (question|point|issue)|to be (clarified|decided|determined|confirmed|defined)|tbd|tbc|unclear|not (yet )?(been )?(settled|clear|decided|known)|",
        r"don't know (yet )?(whether|if|how|what|who|which)|i wonder|nobody('s| has)? (ever )?(asked|knows)|has not been settled|remains open|needs clarification)\b"
    ))
});
static OPEN_HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(open (questions?|points?|issues?)|questions?|to be clarified|unresolved)\b"));

/// 0–1.
pub fn likelihood(line: &Line) -> f64 {
    let lower = line.lower.as_str();
    if matches!(line.place, Place::Heading | Place::Code | Place::Boilerplate | Place::Quote)
        || lower.split_whitespace().count() < 5
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
