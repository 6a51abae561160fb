//! Open questions: questions without an answer so far.

use std::sync::LazyLock;

use regex::Regex;

use super::super::loop_control::{Halted, LoopControl};
use super::corpus::{Corpus, PreparedSentence};
use super::exclusions;
use super::index::BlockContext;
use super::lexicon::pattern;

static OPEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b((still|remains?|is|are|stays?) (still )?open (who|what|which|whether|how|when|if|where|why)|",
        r"still open|it (remains|stays) open|open (question|point|issue)s? (is|are)|open (question|point):|",
        r"",
        r"to be (clarified|decided|determined|confirmed|defined)|tbd|tbc|(is|are|it's|remains?|",
        r"still) (still )?(unclear|undecided|unknown|unresolved)|",
        r"not (yet )?(been )?(settled|clear|decided|known|agreed) (yet|who|what|which|whether|how|when|if|",
        r"where|why)|has not (yet )?been (settled|decided|agreed|clarified)|",
        r"(don't|do not|doesn't|does not) (yet )?know (yet )?(whether|if|how|what|who|which|when|where)|",
        r"not sure (yet )?(whether|if|how|what|who|which|when)|(i|we) wonder|",
        r"nobody('s| has)? (ever )?(asked|knows|could say|can say|has said)|needs? (to be )?(clarification|",
        r"clarified)|(have|has|need|needs) to (find out|clarify) (whether|if|how|what|who|which|when)|",
        r"no (answer|decision) yet|question (is|remains) (whether|if|how|who|what|which))\b"
    ))
});
static OPEN_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(open (questions?|points?|issues?)|questions?|points? to be settled|to be clarified|unresolved)\b")
});

/// Questions that ask a person for something, or are rhetorical.
static RHETORICAL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(can|could|would|will|may|do|are|did) (you|i)\b|\bhow are\b|\b(right|okay|ok|isn't it|agreed)\?$|\bwhy not\b",
    )
});

/// Whoever is asked doesn't know, or puts it off.
static UNKNOWING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(no (idea|clue)|dunno|(do not|don't|doesn't|didn't) know|not sure|have(n't| not) (got a|",
        r"the faintest|thought|decided)|(nobody|no one|none of us) (knows?|knew|could say|can say|said|",
        r"has told|answered)|",
        r"(you'd|you would|we'd|we) have to ask|let's (find out|think about|park|see|leave|come back)|",
        r"good question|there you have me|beats me|who knows|we'll see|another (time|day)|not (me|yet)\b|",
        r"remains? to be seen|",
        r"(i'll|i will|we'll|we will|can you|could you|must) (ask|check|find out|look (it|that|into)|",
        r"get back|come back|ring|call)|silence|need to (ask|check|find out|think))"
    ))
});

/// Whether a sentence leaves the question before it without an answer.
pub fn is_unknowing(sentence: &PreparedSentence) -> bool {
    UNKNOWING.is_match(&sentence.lower)
}

/// Sentences about questions, which are none themselves.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(sections? \d|i want to talk|talk about|list of open)"));

/// What a sentence may meet, for the heads.
pub static CUES: [&LazyLock<Regex>; 4] = [&OPEN, &RHETORICAL, &ABOUT, &UNKNOWING];
pub static HEADING_CUES: [&LazyLock<Regex>; 1] = [&OPEN_HEADING];

/// Returns how likely the sentence is an open question, 0–1.
pub fn likelihood(sentence: &PreparedSentence) -> f64 {
    let lower = sentence.lower.as_str();
    if matches!(sentence.context, BlockContext::Heading | BlockContext::Code | BlockContext::Boilerplate)
        || sentence.count < 5
        || exclusions::is_quoted(lower)
        || ABOUT.is_match(lower)
    {
        return 0.0;
    }
    let asks = lower.ends_with('?');
    let under = OPEN_HEADING.is_match(&sentence.above.innermost);
    let open = OPEN.is_match(lower);
    match (asks, under, open) {
        (true, true, _) => 0.95,
        (_, _, true) => 0.8,
        (true, false, false) if sentence.context != BlockContext::Speech && !RHETORICAL.is_match(lower) => 0.55,
        _ => 0.0,
    }
}

/// Statements that the preceding question stays open.
static STAYS_OPEN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(that's (still )?open|(it )?stays open|leave (that|it|this)( one)? open|list of open questions|",
        r"down as open|an open question|we('ll| will) have to find out)\b"
    ))
});
/// How many sentences back the question may lie.
const MAX_SENTENCES_BACK: usize = 6;

/// Returns the positions, ascending, of spoken questions that are left open some sentences later.
pub fn left_open(corpus: &Corpus, control: &LoopControl) -> Result<Vec<usize>, Halted> {
    let mut open = Vec::new();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.check()?;
        if sentence.context != BlockContext::Speech || !STAYS_OPEN.is_match(&sentence.lower) {
            continue;
        }
        let before =
            (at.saturating_sub(MAX_SENTENCES_BACK)..at).rev().filter_map(|back| Some((back, corpus.sentence(back)?)));
        for (back, question) in before {
            if likelihood(question) > 0.0 {
                break;
            }
            if question.lower.ends_with('?') && question.count >= 6 {
                open.push(back);
                break;
            }
        }
    }
    open.dedup();
    Ok(open)
}

/// Returns the reason, in words, why the sentence counts as an open question.
pub fn why(sentence: &PreparedSentence) -> &'static str {
    if OPEN.is_match(&sentence.lower) {
        "The source says that it is not settled."
    } else if OPEN_HEADING.is_match(&sentence.above.innermost) {
        "It stands among the open questions."
    } else {
        "It was asked and not answered."
    }
}
