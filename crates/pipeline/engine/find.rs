//! Detection of findings: a single pass over all sentences that decides the kind of each, if any.

use std::sync::LazyLock;

use regex::Regex;

use super::super::loop_control::{Halted, LoopControl};
use super::corpus::{Corpus, PreparedSentence};
use super::heads::{CorpusContext, TrainedHeads, features_of};
use super::index::BlockContext;
use super::lexicon::pattern;
use super::{Finding, FindingKind, exclusions, written};

static OPEN_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(shall|must|should|will|has to|have to|needs? to|can|may|able to|allows? \w+ to)( be)?( able to)?$")
});
/// The rules' judgement, and the number of words, from which a sentence is a demand whatever the heads say.
const PLAIN_DEMAND: f64 = 0.85;
const PLAIN_WORDS: usize = 5;
static LENDING_LEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(shall|must|should|required|requirements?|needs?|following (functions?|features?|reports?|data|capabilities|tasks))\b",
    )
});

/// Returns the findings in reading order, at most one per sentence: what the heads judge likely enough. A user story
/// that is written as one is always a requirement, unless it is taken back.
pub fn findings(heads: &TrainedHeads, corpus: &Corpus, control: &LoopControl) -> Result<Vec<Finding>, Halted> {
    let mut found = Vec::new();
    let context = CorpusContext::new(corpus, control)?;
    let total = corpus.sentences().len();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.report(2 * total + at, 3 * total)?;
        found.extend(finding(heads, corpus, &context, at, sentence));
    }
    Ok(found)
}

/// How a sentence may become an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingRoute {
    /// It is written as a user story, and not taken back.
    Story,
    /// The heads judge it. A plain demand is a requirement even where they, who also look at what stands around it, find nothing.
    Judged { is_plain_demand: bool },
}

/// Returns how a sentence may become an item; `None` if it never does.
pub fn route(corpus: &Corpus, context: &CorpusContext, at: usize, sentence: &PreparedSentence) -> Option<FindingRoute> {
    if !is_candidate(sentence) {
        return None;
    }
    if written::is_written(sentence) {
        let is_wanted = !sentence.above.excluded && !exclusions::is_retracted(corpus, at);
        return is_wanted.then_some(FindingRoute::Story);
    }
    // An open lead-in ("The system should:") becomes a part of each item that completes it.
    let is_opening = sentence.context == BlockContext::Heading
        || (sentence.lower.ends_with(':') && OPEN_LEAD.is_match(sentence.lower.trim_end_matches([':', ' '])));
    let is_plain_demand = context.need(at) >= PLAIN_DEMAND && sentence.count >= PLAIN_WORDS;
    (!is_opening).then_some(FindingRoute::Judged { is_plain_demand })
}

fn finding(
    heads: &TrainedHeads,
    corpus: &Corpus,
    context: &CorpusContext,
    at: usize,
    sentence: &PreparedSentence,
) -> Option<Finding> {
    let calibration = &heads.calibration;
    let route = route(corpus, context, at, sentence)?;
    let (kind, share) = match route {
        FindingRoute::Story => (FindingKind::Requirement, calibration.stories),
        FindingRoute::Judged { is_plain_demand } => {
            let judged = heads.kind(&features_of(corpus, context, at), sentence.context == BlockContext::Speech);
            match judged {
                Some((kind, log_odds)) => (kind, calibration.share(kind, log_odds)),
                None if is_plain_demand => (FindingKind::Requirement, calibration.demands),
                None => return None,
            }
        }
    };
    let may_complete = kind == FindingKind::Requirement && route != FindingRoute::Story;
    let (also, statement) = match may_complete.then(|| completed(corpus, sentence, at)).flatten() {
        Some((lead, statement)) => (vec![lead], statement),
        None => (Vec::new(), sentence.words.clone()),
    };
    Some(Finding { kind, sentence: at, also, statement, confidence: two_decimals(f64::from(share)), judged: None })
}

/// Whether any item can come from the sentence.
pub fn is_candidate(sentence: &PreparedSentence) -> bool {
    !sentence.is_addressed
        && !matches!(sentence.context, BlockContext::Code | BlockContext::Boilerplate)
        && sentence.lower.contains(char::is_alphabetic)
}

/// Returns the lead-in that a list item completes, and the statement that both form: "The system shall:" and "print a
/// list" become one sentence with two quotes. A lead-in that is a complete sentence ("The system shall offer these
/// functions:") adds no words.
pub fn completed(corpus: &Corpus, sentence: &PreparedSentence, at: usize) -> Option<(usize, String)> {
    let lead_at = sentence.lead.filter(|&lead| lead != at)?;
    let lead = corpus.sentence(lead_at)?;
    if sentence.context != BlockContext::Item || lead.is_addressed || sentence.lower.ends_with('?') {
        return None;
    }
    let opening = lead.words.trim_end_matches([':', ' ']);
    let is_open = OPEN_LEAD.is_match(lead.lower.trim_end_matches([':', ' ']));
    let lends = is_open || LENDING_LEAD.is_match(&lead.lower);
    let statement =
        if is_open { format!("{opening} {}", uncapitalised(&sentence.words)) } else { sentence.words.clone() };
    lends.then_some((lead_at, statement))
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
