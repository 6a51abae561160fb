//! Risks: statements of what may go wrong.

use std::sync::LazyLock;

use regex::Regex;

use super::super::result::Severity;
use super::corpus::PreparedSentence;
use super::exclusions;
use super::index::BlockContext;
use super::lexicon::pattern;

static RISK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(there('s| is) (a|some|the|also a|still a) (\w+ )?(risk|danger|chance that)|(the|a|one|another|",
        r"main|biggest|our) (\w+ )?(risk|danger) (is|that|here|of)|risks? (that|is that)|risk:|",
        r"my (\w+ )?(worry|fear|concern) is|i('m| am) (\w+ )?(afraid|worried|concerned|nervous)|worries me|",
        r"(i|we) (fear|worry|are worried|are afraid)|at risk|single point of failure|",
        r"(might|may|could) (well )?(refuse|not hold|fail|not be (ready|available|enough|able|in time)|",
        r"break|be (late|delayed|lost|down)|slip|overrun|run out|go wrong|collapse|lose|miss|take (days|",
        r"weeks|months))|",
        r"(may|might|could|would|will) (endanger|jeopardi[sz]e|delay|threaten|put at risk|lead to (delays?|",
        r"errors?|loss|chaos))|could mean that|will be (overloaded|late|overwhelmed)|",
        r"will give up|we('ll| will| would| could| might) (lose|miss|run out of|be stuck|have a problem)|in danger of)\b"
    ))
});
static RISK_HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\brisks?\b|\bwhat could go wrong\b|\bconcerns?\b"));
static CHANCE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(may|might|could|if|when|delay|late|will|not|fail\w*|loss|too)\b"));

/// What a sentence may meet, for the heads.
pub static CUES: [&LazyLock<Regex>; 2] = [&RISK, &CHANCE];
pub static HEADING_CUES: [&LazyLock<Regex>; 1] = [&RISK_HEADING];

/// Returns how likely the sentence is a risk, 0–1.
pub fn likelihood(sentence: &PreparedSentence) -> f64 {
    let lower = sentence.lower.as_str();
    if matches!(sentence.context, BlockContext::Heading | BlockContext::Code | BlockContext::Boilerplate)
        || lower.ends_with('?')
        || sentence.count < 5
        || exclusions::is_quoted(lower)
    {
        return 0.0;
    }
    let named = RISK.is_match(lower);
    let under = RISK_HEADING.is_match(&sentence.above.innermost) && CHANCE.is_match(lower);
    match (named, under) {
        (true, true) => 0.95,
        (true, false) => 0.8,
        (false, true) => 0.7,
        (false, false) => 0.0,
    }
}

/// Returns the severity by the sentence's words; `Medium` if they do not indicate one.
pub fn severity(lower: &str) -> Severity {
    if CATASTROPHE.is_match(lower) {
        Severity::Critical
    } else if GRAVE.is_match(lower) {
        Severity::High
    } else if SLIGHT.is_match(lower) {
        Severity::Low
    } else {
        Severity::Medium
    }
}

/// Returns the likelihood of the risk, if the sentence's words indicate one.
pub fn chance(lower: &str) -> Option<Severity> {
    if PROBABLE.is_match(lower) {
        Some(Severity::High)
    } else if IMPROBABLE.is_match(lower) {
        Some(Severity::Low)
    } else {
        None
    }
}

static CATASTROPHE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(critical|catastroph\w+|fatal|disaster\w*|lives|death)\b"));
static GRAVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(severe\w*|serious\w*|major|goes down|data loss|lose|lost|wrong person|wrong cases|endanger|",
        r"overloaded|breach|high risk|stop the)\b"
    ))
});
static SLIGHT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(minor|small|slight\w*|low risk)\b"));
static PROBABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(likely|probably|very probable|certain\w*|twice a week|often|usually|high probability)\b")
});
static IMPROBABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(unlikely|improbable|rarely|low probability)\b"));
