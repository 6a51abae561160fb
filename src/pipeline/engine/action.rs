//! Action items: who does what, by when.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Line;
use super::index::Place;
use super::lexicon::pattern;
use super::voice;

static PROMISE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(i'll|i will|i'm going to|i am going to|we'll|we will|let me) (\w+ ){0,2}?(send|ask|clarify|check|get|prepare|write|draft|share|visit|count|call|set up|organi[sz]e|book|find out|follow up|schedule|update|create|review|talk to|look into|make|collect|contact|provide|put together|draw|email|mail)\b",
    )
});
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(and |so |okay,? )*[a-z]+, (could|can|would|will) you\b|^(and |so |okay,? )*[a-z]+, please\b|\bplease (send|ask|let us know|check|prepare|find out)\b|^action( item)?:",
    )
});
static DUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(by|until|before|no later than|due) (the |this |next |our |end of |the end of |tomorrow|\d|monday|tuesday|wednesday|thursday|friday|january|february|march|april|june|july|",
        r"august|september|october|november|december)|\b(tomorrow|tonight|next (week|month|monday|tuesday|wednesday|thursday|friday)|this (week|afternoon)|in the same meeting|on (the )?(\d|monday|tuesday|wednesday|thursday|friday))\b"
    ))
});
static ACTION_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(actions?|action items?|action points?|to[- ]?dos?|next steps|tasks|who does what)\b|^(\d[\d.]* )?next$",
    )
});
/// "Marcus to collect …", "Priya: draw …", "Helena will write …", "@bo check …".
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^@?([a-z][a-z'-]+)(?: [a-z][a-z'-]+)?(?:: | to | will | is going to | takes care of )[a-z]")
});

/// 0–1. `speakers` are those whose first names may stand for somebody who is to do something.
pub fn likelihood(line: &Line, speakers: &[String]) -> f64 {
    let lower = line.lower.as_str();
    if matches!(line.place, Place::Heading | Place::Code | Place::Boilerplate | Place::Quote)
        || lower.split_whitespace().count() < 4
        || lower.starts_with("if ")
        || voice::is_quoted(lower)
        || voice::is_chatter(lower)
        || voice::is_procedure(lower)
        || voice::is_about_the_document(lower)
    {
        return 0.0;
    }
    let under = ACTION_HEADING.is_match(voice::innermost(&line.heading));
    let promised = line.place == Place::Speech && PROMISE.is_match(lower);
    let asked = REQUEST.is_match(lower);
    let due = DUE.is_match(lower);
    let named = named(line, speakers).is_some();
    match (under, promised || asked || named, due) {
        (true, true, _) => 0.95,
        (true, false, true) => 0.8,
        (false, true, true) => 0.85,
        (false, true, false) => 0.4,
        _ => 0.0,
    }
}

/// Who is to do it: a name in the sentence, or the speaker of a promise.
pub fn assignee(line: &Line, speaker: Option<&str>, speakers: &[String]) -> Option<String> {
    if line.place == Place::Speech && PROMISE.is_match(&line.lower) {
        return speaker.map(str::to_owned);
    }
    named(line, speakers)
}

/// A name at the front, written out as the speaker of that first name if there is one.
fn named(line: &Line, speakers: &[String]) -> Option<String> {
    let found = NAMED.captures(&line.lower).or_else(|| ADDRESSED.captures(&line.lower))?;
    let name = found.get(1)?.as_str();
    let known = speakers.iter().find(|speaker| {
        let speaker = speaker.to_lowercase();
        speaker == name || speaker.split_whitespace().next() == Some(name)
    });
    let written: String = line.words.trim_start_matches('@').chars().take(name.chars().count()).collect();
    let is_name = written.to_lowercase() == name && written.chars().next().is_some_and(char::is_uppercase);
    let in_notes = line.place != Place::Speech && is_name && !NO_NAMES.contains(&name) && line.place == Place::Item;
    known.cloned().or_else(|| in_notes.then_some(written))
}

static ADDRESSED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:and |so |okay,? )*([a-z][a-z'-]+), (?:could|can|would|will|please)\b"));

/// First words of items that are no people.
const NO_NAMES: [&str; 26] = [
    "the", "a", "an", "it", "this", "that", "system", "user", "users", "we", "they", "you", "note", "example", "goal",
    "todo", "task", "action", "which", "what", "who", "there", "data", "risk", "decision", "question",
];
