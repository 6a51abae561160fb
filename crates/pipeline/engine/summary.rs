//! The summary: verbatim sentences of the sources, and counts of the items found. Its text repeats no item, since a person may
//! reject what it says or withdraw their words.

use std::sync::LazyLock;

use regex::Regex;

use super::super::loop_control::{Halted, LoopControl};
use super::super::request::ReadySource;
use super::super::result::Summary;
use super::Items;
use super::corpus::{Corpus, PreparedSentence};
use super::index::BlockContext;
use super::lexicon::pattern;

/// Maximum entries of each list.
const MAX_ENTRIES: usize = 12;

static OUT_OF_SCOPE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(out of scope|not in scope|not part of|will not be part|is not included|are not included|",
        r"excluded from|beyond the scope|outside the scope|does not need to be changed|not cover(ed)?)\b"
    ))
});
static OUT_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(out of scope|not in scope|exclusions?|non-goals?|not part of)\b"));
static SCOPE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(in scope|is part of|scope (of|is)|covers|comprises|the project includes)\b"));
static SCOPE_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\d[\d.]* )?((project )?scope|scope of .*|in scope|subject of .*)$"));
static ASSUMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(we assume|it is assumed|assum(ed|ing|ption) that|presumably|we expect that|is expected that)\b")
});
static ASSUMED_HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bassumptions?\b"));

pub fn summary(
    corpus: &Corpus,
    sources: &[ReadySource],
    items: &Items,
    stories: usize,
    control: &LoopControl,
) -> Result<Summary, Halted> {
    let mut summary = Summary { text: overview(sources, items, stories), ..Summary::default() };
    summary.key_decisions = items.decisions.iter().map(|decision| decision.text.clone()).take(MAX_ENTRIES).collect();
    let total = corpus.sentences().len();
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.report(at, total)?;
        if let Some(list) = list_of(sentence, &mut summary)
            && list.len() < MAX_ENTRIES
            && !list.contains(&sentence.words)
        {
            list.push(sentence.words.clone());
        }
    }
    Ok(summary)
}

fn list_of<'a>(sentence: &PreparedSentence, summary: &'a mut Summary) -> Option<&'a mut Vec<String>> {
    let lower = sentence.lower.as_str();
    let readable = !matches!(
        sentence.context,
        BlockContext::Heading | BlockContext::Boilerplate | BlockContext::Code | BlockContext::Quote
    );
    if !readable || sentence.is_addressed || sentence.count < 4 || lower.ends_with('?') {
        return None;
    }
    let inner = sentence.above.innermost.as_str();
    if OUT_OF_SCOPE.is_match(lower) || OUT_HEADING.is_match(inner) {
        Some(&mut summary.out_of_scope)
    } else if ASSUMED.is_match(lower) || ASSUMED_HEADING.is_match(inner) {
        Some(&mut summary.assumptions)
    } else if (SCOPE.is_match(lower) && sentence.context != BlockContext::Speech) || SCOPE_HEADING.is_match(inner) {
        Some(&mut summary.scope)
    } else {
        None
    }
}

fn overview(sources: &[ReadySource], items: &Items, stories: usize) -> String {
    let found = format!(
        "{} with {} words gave {} and {}.",
        counted(sources.len(), "source", "sources"),
        sources.iter().map(|source| source.words).sum::<u64>(),
        counted(items.requirements.len(), "requirement", "requirements"),
        counted(stories, "user story", "user stories"),
    );
    let further = format!(
        "Further: {}, {}, {} and {}.",
        counted(items.decisions.len(), "decision", "decisions"),
        counted(items.action_items.len(), "action item", "action items"),
        counted(items.open_questions.len(), "open question", "open questions"),
        counted(items.risks.len(), "risk", "risks"),
    );
    format!("{found} {further}")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
