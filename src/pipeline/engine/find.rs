//! Detection of findings: a single walk over all sentences that decides the kind of each, if any.

use std::sync::LazyLock;

use regex::Regex;

use super::super::loop_control::{Halted, LoopControl};
use super::book::{Book, PreparedSentence};
use super::index::BlockContext;
use super::lexicon::pattern;
use super::{Finding, FindingKind, action, decision, need, question, risk, voice};

static OPEN_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(shall|must|should|will|has to|have to|needs? to|can|may|able to|allows? \w+ to)( be)?( able to)?$")
});
static LENDING_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(shall|must|should|required|requirements?|needs?|following (functions?|features?|reports?|data|capabilities|tasks))\b",
    )
});

/// Returns the findings in reading order, at most one per sentence. A list item that completes its lead-in is a
/// requirement. Otherwise, among decision, action item, risk and open question, the most likely kind above the
/// threshold wins, the first in this order if they are equal; only if there is none can the sentence be a requirement.
pub fn findings(book: &Book, pace: &LoopControl) -> Result<Vec<Finding>, Halted> {
    let mut found = Vec::new();
    let needs = need::likelihoods(book, pace)?;
    let left_open = question::left_open(book, pace)?;
    let total = book.lines().len();
    for (at, line) in book.lines().iter().enumerate() {
        pace.mark(2 * total + at, 3 * total)?;
        let need = needs.get(at).copied().unwrap_or(0.0);
        let is_left_open = left_open.binary_search(&at).is_ok();
        found.extend(finding(book, at, line, need, is_left_open));
    }
    Ok(found)
}

fn finding(book: &Book, at: usize, line: &PreparedSentence, need: f64, is_left_open: bool) -> Option<Finding> {
    if matches!(line.place, BlockContext::Heading | BlockContext::Code | BlockContext::Boilerplate) {
        return None;
    }
    if let Some(completed) = completed(book, line, at) {
        return Some(completed);
    }
    let special = [
        (FindingKind::Decision, decision::likelihood(line)),
        (FindingKind::ActionItem, action::likelihood(line, book.people())),
        (FindingKind::Risk, risk::likelihood(line)),
        (FindingKind::OpenQuestion, if is_left_open { 0.8 } else { question::likelihood(line) }),
    ];
    let best = special.into_iter().fold(None, |best: Option<(FindingKind, f64)>, next| match best {
        Some((_, likelihood)) if likelihood >= next.1 => best,
        _ => Some(next),
    });
    let (kind, confidence) = match best.filter(|&(_, likelihood)| likelihood >= need::THRESHOLD) {
        Some(special) => special,
        None => (FindingKind::Requirement, need),
    };
    let stands = confidence >= need::THRESHOLD && !(kind == FindingKind::ActionItem && voice::is_taken_back(book, at));
    stands.then(|| Finding {
        kind,
        sentence: at,
        also: Vec::new(),
        statement: line.words.clone(),
        confidence: two_decimals(confidence),
    })
}

/// Returns the requirement that a list item forms with its lead-in: "The system shall:" and "print a list" become one
/// sentence with two quotes. A lead-in that is a complete sentence ("The system shall offer these functions:") makes
/// the item a requirement but adds no words.
fn completed(book: &Book, line: &PreparedSentence, at: usize) -> Option<Finding> {
    let lead_at = line.lead?;
    let lead = book.line(lead_at)?;
    if line.place != BlockContext::Item
        || voice::demands_nothing(lead)
        || voice::demands_nothing(line)
        || line.lower.ends_with('?')
    {
        return None;
    }
    let opening = lead.words.trim_end_matches([':', ' ']);
    let is_open = OPEN_LEAD.is_match(lead.lower.trim_end_matches([':', ' ']));
    let lends = is_open || LENDING_LEAD.is_match(&lead.lower);
    let statement = if is_open { format!("{opening} {}", uncapitalised(&line.words)) } else { line.words.clone() };
    lends.then(|| Finding {
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
    let mut letters = words.chars();
    match letters.next().filter(|_| is_plain) {
        Some(initial) => initial.to_lowercase().chain(letters).collect(),
        None => words.to_owned(),
    }
}

fn two_decimals(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
