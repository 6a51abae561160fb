//! Action items: who does what, by when.

use std::sync::LazyLock;

use regex::Regex;

use super::assignee;
use super::corpus::PreparedSentence;
use super::exclusions;
use super::index::BlockContext;
use super::lexicon::pattern;
use super::speakers::Speakers;

/// Verbs for work that people take on, as opposed to what the product does.
const WORK: &str = concat!(
    r"(send|ask|clarify|check|get|prepare|write|draft|share|visit|count|call|phone|ring|set up|organi[sz]e|",
    r"arrange|book|find|follow up|schedule|update|create|review|talk|speak|look|",
    r"make|collect|contact|provide|put together|draw|e-?mail|mail|invite|test|try|measure|compare|read|",
    r"list|estimate|calculate|order|buy|present|report|sketch|design|document|summari[sz]e|",
    r"circulate|forward|deliver|bring|confirm|investigate|research|analy[sz]e|discuss|meet|sort|gather|",
    r"translate|fix|install|upload|publish|print|show|name|go|take|do|finish|complete|handle|work)"
);
/// Verbs for work with a result: a promise to do it is an action item even without a date.
const DELIVERY: &str = concat!(
    r"(send|ask|clarify|prepare|write up|draft|visit|set up|organi[sz]e|arrange|find out|follow up|schedule|",
    r"talk to|speak to|look into|contact|put together|investigate|circulate|forward|invite|estimate|",
    r"summari[sz]e)"
);

pub(super) static PROMISE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"\b(i'll|i will|i'm going to|i am going to|i shall|i can|i promise to|we'll|we will|we're going to) (\w+ ){{0,2}}?{WORK}\b"
    ))
});
static DELIVERS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(i'll|i will|i'm going to|i am going to) (\w+ )?{DELIVERY}\b")));
static REQUEST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(and |so |okay,? )*([a-z]+,? )?(could|can|would|will) you (please )?{WORK}\b|^(and |so |okay,? )*[a-z]+, please {WORK}\b|\bplease (also )?({WORK}|let us know what)\b|^(action( item)?|todo|to do|ai|ap)( [a-z]+)?:"
    ))
});
static DUE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(by|until|before|no later than|due) (the |this |next |our |end of |the end of |tomorrow|\d|",
        r"monday|tuesday|wednesday|thursday|friday|january|february|march|april|june|july|",
        r"august|september|october|november|december)|\b(tomorrow|tonight|next (week|month|monday|tuesday|",
        r"wednesday|thursday|friday)|this (week|afternoon)|in the same meeting|on (the )?(\d|monday|",
        r"tuesday|wednesday|thursday|friday))\b"
    ))
});
static ACTION_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(actions?|action items?|action points?|to[- ]?dos?|next steps|tasks|who does what)\b|^(\d[\d.]* )?next$",
    )
});
/// Parties that can be assigned work without a name.
static PARTY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^the (supplier|contractor|vendor|group|client|customer|team|project lead|analyst|department|",
        r"office|[a-z]+ team) (sends?|checks?|names?|prepares?|delivers?|provides?|writes?|clarifies|to|",
        r"will|is to) "
    ))
});

/// What a sentence may meet, for the heads.
pub static CUES: [&LazyLock<Regex>; 6] = [&PROMISE, &DELIVERS, &REQUEST, &DUE, &assignee::NAMED, &PARTY];
pub static HEADING_CUES: [&LazyLock<Regex>; 1] = [&ACTION_HEADING];

/// Returns how likely the sentence is an action item, 0–1. `speakers` are the people whose first names may stand for an
/// assignee.
pub fn likelihood(sentence: &PreparedSentence, speakers: &Speakers) -> f64 {
    let lower = sentence.lower.as_str();
    if matches!(sentence.context, BlockContext::Heading | BlockContext::Code | BlockContext::Boilerplate)
        || sentence.count < 4
        || lower.starts_with("if ")
        || exclusions::is_boilerplate(sentence)
        || exclusions::is_quoted(lower)
        || exclusions::is_off_topic(sentence)
        || exclusions::is_procedure(lower)
        || exclusions::is_about_the_document(lower)
    {
        return 0.0;
    }
    let under = ACTION_HEADING.is_match(&sentence.above.innermost);
    let promised = PROMISE.is_match(lower);
    let asked = REQUEST.is_match(lower);
    let due = DUE.is_match(lower);
    let named = assignee::named(sentence, speakers).is_some();
    let by_party = PARTY.is_match(lower);
    match (under, promised || asked || named, due) {
        (true, true, _) => 0.95,
        (true, false, true) => 0.8,
        (true, false, false) if by_party || sentence.context != BlockContext::Prose => 0.7,
        (false, true, true) => 0.85,
        (false, true, false) if DELIVERS.is_match(lower) || (asked && sentence.context != BlockContext::Cell) => 0.6,
        _ => 0.0,
    }
}
