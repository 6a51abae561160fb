//! What becomes of decisions: those that are taken back later are none, and "let's go with that" says what "that" was.
//!
//! A decision is taken back by a later sentence, of any source, that turns something round ("instead", "after all", "scrap")
//! and is about the same, by a later decision that contradicts it, or, in speech, by a decision that follows within a few
//! sentences and sets another figure. The order of time is that of the sources' dates where they have one, else that of the
//! sources.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use super::super::glossary::ProjectTerms;
use super::super::loop_control::{Halted, LoopControl};
use super::corpus::Corpus;
use super::index::BlockContext;
use super::lexicon::pattern;
use super::quantities::numbers;
use super::tokens::tokens;
use super::{Finding, FindingKind, exclusions, sameness};

/// Turns something round that was settled.
static TURNED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(after all|instead|no longer|any ?more|rather than|on second thoughts?|scrap|",
        r"forget (about )?(the|that|it|what)|scratch|overturn\w*|revers(e|ed|es|al)|revoked?|withdrawn?|",
        r"withdrew|supersed\w+|replac(e|es|ed) (the|that|what|our)|chang(e|ed|ing) (our|my|his|her|their|",
        r"your) minds?|chang(e|ed) (of|the) (plan|decision)|reconsider\w*|let's not|",
        r"drop(ped|s)? (the|that|it|[a-z]+ and)|cancel(led|s)?|not .{0,30} but|keep it at|back to|take (it|",
        r"that) back|took (it|that) back|contrary to|doesn't hold|is off the table|is off now|",
        r"(no|wait|hold on|actually)[,.]? (wait|no|actually|let's))\b"
    ))
});
/// Words of a decision that say nothing about what was settled.
const HOLLOW: &[&str] = &[
    "a",
    "about",
    "accepted",
    "adopted",
    "after",
    "agree",
    "agreed",
    "all",
    "alright",
    "and",
    "approved",
    "as",
    "at",
    "be",
    "been",
    "board",
    "by",
    "carried",
    "chosen",
    "committee",
    "confirmed",
    "consensus",
    "decided",
    "decides",
    "decision",
    "deal",
    "do",
    "done",
    "everybody",
    "everyone",
    "fine",
    "first",
    "for",
    "from",
    "go",
    "going",
    "good",
    "great",
    "group",
    "has",
    "have",
    "here",
    "i'd",
    "i",
    "idea",
    "in",
    "is",
    "it",
    "it's",
    "its",
    "just",
    "last",
    "latter",
    "let's",
    "like",
    "love",
    "make",
    "motion",
    "now",
    "of",
    "off",
    "ok",
    "okay",
    "on",
    "one",
    "option",
    "our",
    "passed",
    "perfect",
    "plan",
    "proposal",
    "proposed",
    "right",
    "same",
    "say",
    "second",
    "settle",
    "settled",
    "settles",
    "so",
    "sold",
    "sounds",
    "stick",
    "suggestion",
    "sure",
    "take",
    "team",
    "that",
    "that's",
    "the",
    "them",
    "then",
    "third",
    "this",
    "to",
    "unanimously",
    "us",
    "was",
    "we",
    "we'll",
    "we're",
    "we've",
    "well",
    "what",
    "will",
    "with",
    "works",
    "written",
    "yeah",
    "yep",
    "yes",
    "you",
    "you're",
    "your",
    "down",
    "former",
    "way",
    "i'll",
    "note",
    "noted",
    "there",
    "too",
    "up",
];
/// How many sentences back what was settled is looked for.
const MAX_SENTENCES_BACK: usize = 6;
/// Words that a sentence must have to be what was settled.
const ENOUGH: usize = 4;
/// How many sentences later a spoken decision may set another figure.
const SOON: usize = 8;
/// Words of a spoken decision that says hardly more than a figure.
const SHORT: usize = 6;
/// Minimum likeness of a decision and what turns it round.
const ABOUT_THE_SAME: f64 = 0.22;

/// Removes the decisions that are taken back, and completes those that only point at what was said before.
pub fn apply_later_decisions(
    terms: &ProjectTerms,
    corpus: &Corpus,
    findings: &mut Vec<Finding>,
    control: &LoopControl,
) -> Result<(), Halted> {
    let reversed = reversed(terms, corpus, findings, control)?;
    findings.retain(|finding| finding.kind != FindingKind::Decision || !reversed.contains(&finding.sentence));
    let taken: BTreeSet<usize> = findings.iter().map(|finding| finding.sentence).collect();
    for finding in findings.iter_mut().filter(|finding| finding.kind == FindingKind::Decision) {
        control.check()?;
        if let Some(before) = antecedent(corpus, finding.sentence, &taken)
            && let Some(sentence) = corpus.sentence(before)
        {
            finding.also.push(before);
            let own = finding.statement.trim_end_matches(['.', '!', ' ']);
            finding.statement = format!("{own}: {}", sentence.words);
        }
    }
    Ok(())
}

/// Returns the sentences of decisions that don't stand at the end.
fn reversed(
    terms: &ProjectTerms,
    corpus: &Corpus,
    findings: &[Finding],
    control: &LoopControl,
) -> Result<BTreeSet<usize>, Halted> {
    let decisions: BTreeSet<usize> = findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Decision)
        .map(|finding| finding.sentence)
        .collect();
    let mut reversed = BTreeSet::new();
    if decisions.is_empty() {
        return Ok(reversed);
    }
    // In the order of time.
    let mut voices: Vec<(Option<NaiveDate>, usize, bool)> = Vec::new();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.check()?;
        let is_turn = !sentence.is_addressed
            && !matches!(sentence.context, BlockContext::Code | BlockContext::Boilerplate | BlockContext::Heading)
            && TURNED.is_match(&sentence.lower);
        if is_turn || decisions.contains(&at) {
            voices.push((corpus.date(at), at, is_turn));
        }
    }
    voices.sort_by_key(|(date, at, _)| (*date, *at));
    let words = |at: usize| corpus.sentence(at).map_or("", |sentence| sentence.words.as_str());
    let fingerprints = sameness::fingerprints(terms, voices.iter().map(|(_, at, _)| words(*at)), control)?;
    for pair in sameness::pairs(&fingerprints, control)? {
        let (Some((_, first, _)), Some((_, second, is_turn))) = (voices.get(pair.one), voices.get(pair.other)) else {
            continue;
        };
        let both = fingerprints.get(pair.one).zip(fingerprints.get(pair.other));
        let contradicts = both.is_some_and(|(one, other)| sameness::is_certain(&pair, one, other));
        let is_later_decision = contradicts && decisions.contains(second);
        if decisions.contains(first) && (is_later_decision || (*is_turn && pair.likeness >= ABOUT_THE_SAME)) {
            reversed.insert(*first);
        }
    }
    reversed.extend(decisions.iter().filter(|at| is_corrected(corpus, **at, &decisions)));
    Ok(reversed)
}

/// Whether a spoken decision that says hardly more than a figure is followed by one with another figure, or is taken back
/// at once.
fn is_corrected(corpus: &Corpus, at: usize, decisions: &BTreeSet<usize>) -> bool {
    let Some(sentence) = corpus.sentence(at).filter(|sentence| sentence.is_spoken()) else { return false };
    if exclusions::is_retracted(corpus, at) {
        return true;
    }
    let figures = numbers(&sentence.lower);
    let is_short = sentence.count <= SHORT && !figures.is_empty();
    let later = decisions.range(at + 1..=at + SOON).filter(|later| corpus.slot(**later) == corpus.slot(at));
    is_short
        && later.filter_map(|later| corpus.sentence(*later)).any(|later| {
            let others = numbers(&later.lower);
            later.count <= 2 * SHORT && !others.is_empty() && others.iter().all(|other| !figures.contains(other))
        })
}

/// Returns the sentence that a decision points at, if the decision does not say itself what was settled.
fn antecedent(corpus: &Corpus, at: usize, taken: &BTreeSet<usize>) -> Option<usize> {
    let sentence = corpus.sentence(at)?;
    let has_content = |lower: &str| tokens(lower).any(|token| token.len() > 1 && !HOLLOW.contains(&token));
    let own_words = corpus.speakers();
    let is_hollow =
        tokens(&sentence.lower).all(|token| token.len() <= 1 || HOLLOW.contains(&token) || own_words.has_part(token));
    if !is_hollow || matches!(sentence.context, BlockContext::Cell | BlockContext::Heading) {
        return None;
    }
    let before =
        (at.saturating_sub(MAX_SENTENCES_BACK)..at).rev().take_while(|before| corpus.slot(*before) == corpus.slot(at));
    let is_content = |before: &usize| {
        corpus.sentence(*before).is_some_and(|sentence| {
            sentence.count >= ENOUGH
                && !sentence.is_addressed
                && !sentence.is_small_talk
                && has_content(&sentence.lower)
        })
    };
    let candidates: Vec<usize> = before.filter(is_content).collect();
    // What somebody proposed rather than what was said last.
    let proposed = |before: &&usize| {
        corpus.sentence(**before).is_some_and(|sentence| PROPOSED.is_match(&sentence.lower) || taken.contains(*before))
    };
    candidates.iter().find(proposed).or(candidates.first()).copied()
}

/// A proposal that may be settled by "let's do that".
static PROPOSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(we could|we can|we should|could we|should we|shall we|can we|what about|how about|what if we|",
        r"why don't we|why not|maybe we|i'd (say|suggest|propose|rather|prefer)|i would (say|suggest|",
        r"propose|rather|prefer)|i (suggest|propose|vote|move)|my (suggestion|proposal|vote)|let's|let us|",
        r"then we|option|the alternative|either|or we|propos\w+|we use|we take|we keep|we start|",
        r"we begin)\b"
    ))
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_told_from_other_talk() {
        for (words, expected) in [
            ("we use the old printer after all", true),
            ("no, wait, let's keep it at six", true),
            ("the board reversed its decision", true),
            ("we use the new printer", false),
            ("that is a good plan", false),
        ] {
            assert_eq!(TURNED.is_match(words), expected, "{words}");
        }
    }
}
