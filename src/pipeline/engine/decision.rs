//! Decisions: what was settled.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Line;
use super::index::Place;
use super::lexicon::pattern;
use super::voice;

static DECIDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(we('ve| have)? (decided|agreed|agree)|(the )?(team|board|group|committee) (has )?(decided|agreed)|it (was|is|'s) (agreed|decided|settled)|it's agreed|",
        r"that's (a decision|settled|decided|agreed)|let's (decide|go with|keep|do it like)|so we go with|we go with|from now on|decision:|decided (on|that|to))\b"
    ))
});
static DECISION_HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(decisions?|decided|resolutions?)\b"));

/// 0–1.
pub fn likelihood(line: &Line) -> f64 {
    let lower = line.lower.as_str();
    if matches!(line.place, Place::Heading | Place::Code | Place::Boilerplate | Place::Quote)
        || lower.ends_with('?')
        || lower.split_whitespace().count() < 4
        || voice::is_quoted(lower)
    {
        return 0.0;
    }
    let said = DECIDED.is_match(lower);
    let under = DECISION_HEADING.is_match(voice::innermost(&line.heading));
    match (said, under) {
        (true, true) => 0.95,
        (true, false) => 0.8,
        (false, true) => 0.7,
        (false, false) => 0.0,
    }
}
