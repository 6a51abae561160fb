//! Detection of findings: a single pass over all sentences that decides the kind of each, if any.

use std::sync::LazyLock;

use regex::Regex;

use super::super::loop_control::{Halted, LoopControl};
use super::corpus::{Corpus, PreparedSentence};
use super::index::BlockContext;
use super::lexicon::pattern;
use super::{Finding, FindingKind, action, decision, exclusions, need, question, risk, written};

static OPEN_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(shall|must|should|will|has to|have to|needs? to|can|may|able to|allows? \w+ to)( be)?( able to)?$")
});
static LENDING_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(shall|must|should|required|requirements?|needs?|following (functions?|features?|reports?|data|capabilities|tasks))\b",
    )
});

/// Returns the findings in reading order, at most one per sentence. A list item that completes its lead-in is a
/// requirement, and so is a user story that is written as one. Otherwise, among decision, action item, risk and open question, the most likely kind above the
/// threshold wins, the first in this order if they are equal; only if there is none can the sentence be a requirement.
pub fn findings(corpus: &Corpus, control: &LoopControl) -> Result<Vec<Finding>, Halted> {
    let mut found = Vec::new();
    let needs = need::likelihoods(corpus, control)?;
    let left_open = question::left_open(corpus, control)?;
    let total = corpus.sentences().len();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.report(2 * total + at, 3 * total)?;
        let need = needs.get(at).copied().unwrap_or(0.0);
        let is_left_open = left_open.binary_search(&at).is_ok();
        found.extend(finding(corpus, at, sentence, need, is_left_open));
    }
    Ok(found)
}

fn finding(corpus: &Corpus, at: usize, sentence: &PreparedSentence, need: f64, is_left_open: bool) -> Option<Finding> {
    if sentence.is_addressed || matches!(sentence.context, BlockContext::Code | BlockContext::Boilerplate) {
        return None;
    }
    let is_heading = sentence.context == BlockContext::Heading;
    if !is_heading && let Some(completed) = completed(corpus, sentence, at) {
        return Some(completed);
    }
    if written::is_written(sentence) && !sentence.above.excluded && !exclusions::is_retracted(corpus, at) {
        return Some(Finding {
            kind: FindingKind::Requirement,
            sentence: at,
            also: Vec::new(),
            statement: sentence.words.clone(),
            confidence: 0.9,
        });
    }
    if is_heading {
        return None;
    }
    let special = [
        (FindingKind::Decision, decision::likelihood(sentence)),
        (FindingKind::ActionItem, action::likelihood(sentence, corpus.speakers())),
        (FindingKind::Risk, risk::likelihood(sentence)),
        (FindingKind::OpenQuestion, if is_left_open { 0.8 } else { question::likelihood(sentence) }),
    ];
    let best = special.into_iter().fold(None, |best: Option<(FindingKind, f64)>, next| match best {
        Some((_, likelihood)) if likelihood >= next.1 => best,
        _ => Some(next),
    });
    let (kind, confidence) = match best.filter(|&(_, likelihood)| likelihood >= need::THRESHOLD) {
        Some(special) => special,
        None => (FindingKind::Requirement, need),
    };
    let is_finding =
        confidence >= need::THRESHOLD && !(kind == FindingKind::ActionItem && exclusions::is_retracted(corpus, at));
    is_finding.then(|| Finding {
        kind,
        sentence: at,
        also: Vec::new(),
        statement: sentence.words.clone(),
        confidence: two_decimals(confidence),
    })
}

/// Returns the requirement that a list item forms with its lead-in: "The system shall:" and "print a list" become one
/// sentence with two quotes. A lead-in that is a complete sentence ("The system shall offer these functions:") makes
/// the item a requirement but adds no words.
fn completed(corpus: &Corpus, sentence: &PreparedSentence, at: usize) -> Option<Finding> {
    let lead_at = sentence.lead?;
    let lead = corpus.sentence(lead_at)?;
    if sentence.context != BlockContext::Item
        || exclusions::is_excluded(lead)
        || exclusions::is_excluded(sentence)
        || sentence.lower.ends_with('?')
    {
        return None;
    }
    let opening = lead.words.trim_end_matches([':', ' ']);
    let is_open = OPEN_LEAD.is_match(lead.lower.trim_end_matches([':', ' ']));
    let makes_requirement = is_open || LENDING_LEAD.is_match(&lead.lower);
    let statement =
        if is_open { format!("{opening} {}", uncapitalised(&sentence.words)) } else { sentence.words.clone() };
    makes_requirement.then(|| Finding {
        kind: FindingKind::Requirement,
        sentence: at,
        also: vec![lead_at],
        statement,
        confidence: 0.8,
    })
}

/// Lowers the initial capital unless it belongs to a name: "Print a list", but not "PDF export" or "Ledger 9".
fn uncapitalised(words: &str) -> String {
    let first = words.split_whitespace().next().unwrap_or_default();
    let is_plain = first.chars().skip(1).all(char::is_lowercase) && first.chars().count() > 1;
    let mut chars = words.chars();
    match chars.next().filter(|_| is_plain) {
        Some(initial) => initial.to_lowercase().chain(chars).collect(),
        None => words.to_owned(),
    }
}

fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
