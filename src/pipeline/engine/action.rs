//! Action items: who does what, by when.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Line;
use super::index::Place;
use super::lexicon::pattern;
use super::voice;

static PROMISE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(i'll|i will|i'm going to|i am going to|we'll|we will|let me) (\w+ ){0,2}?(send|ask|clarify|check|get|prepare|write|draft|share|visit|count|call|set up|organi[sz]e|book|find out|follow up|schedule|update|create|review|talk to|look into|make|collect|contact|provide|put together|draw|email|mail)\b")
});
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(and |so |okay,? )*[a-z]+, (could|can|would|will|please)\b|\bplease (send|ask|let us know|check|prepare|find out)\b|\baction( item)?:")
});
static DUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(by|until|before|on|next) (the |this |next |our |end of |tomorrow)?\w*")
});
static ACTION_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(actions?|action items?|to[- ]?dos?|next steps|tasks|who does what)\b"));

/// 0–1.
pub fn likelihood(line: &Line) -> f64 {
    let lower = line.lower.as_str();
    if matches!(line.place, Place::Heading | Place::Code | Place::Boilerplate | Place::Quote)
        || lower.split_whitespace().count() < 4
        || voice::is_quoted(lower)
        || voice::is_chatter(lower)
    {
        return 0.0;
    }
    let under = ACTION_HEADING.is_match(voice::innermost(&line.heading));
    let promised = line.place == Place::Speech && PROMISE.is_match(lower);
    let asked = REQUEST.is_match(lower);
    let due = DUE.is_match(lower);
    match (under, promised || asked, due) {
        (true, _, _) => 0.9,
        (false, true, true) => 0.85,
        (false, true, false) => 0.4,
        _ => 0.0,
    }
}

/// Who is to do it: a name in the sentence, or the speaker of a promise.
pub fn assignee(line: &Line, speaker: Option<&str>, _speakers: &[String]) -> Option<String> {
    PROMISE.is_match(&line.lower).then(|| speaker.map(str::to_owned)).flatten()
}
