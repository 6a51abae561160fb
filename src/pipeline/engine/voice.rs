//! Near misses: sentences with the words of a demand that make none. Boilerplate, definitions, procedure, the past, quotation.

use std::sync::LazyLock;

use regex::Regex;

use super::book::{Book, Line};
use super::index::Place;
use super::lexicon::pattern;

static HEADING_OF_NO_DEMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(definitions?|glossary|abbreviations?|acronyms?|terminology|terms used|references|bibliography|table of contents|contents|",
        r"revision history|document history|about this document|reading guide|conventions|how to read|copyright|disclaimer|legal notice|",
        r"confidentiality|procedure|submission|tendering|form of tender|award|evaluation|selection criteria|suitability|contract terms|",
        r"terms of contract|general terms|conditions of contract|terms and conditions|payment|invoic\w*|liability|declaration|forms?|",
        r"appendix [a-z]\b.*form|instructions? to (tenderers|bidders)|current situation|present situation|existing systems?|",
        r"today|as[- ]is|legacy|background|history|out of scope|not in scope|exclusions?|not part of)\b"
    ))
});

static BOILERPLATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(all rights reserved|all rights in this|copyright|©|confidential|passed on to third parties|page \d+ of \d+|without prior written|",
        r"printed on|version \d+\.\d+ of)\b|\.{5,}"
    ))
});

/// About the text, not about the product.
static ABOUT_THE_DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(this (document|section|chapter|specification|note|annex|appendix|table|list)|the (word|words|term|terms|key ?words?) \W|",
        r"interpretation of the text|headings are|is defined as|are defined as|refers to|stands for|is short for|",
        r"for the purposes? of this|in this document|remarks on this|capital letters)"
    ))
});

static PROCEDURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(tenderers?|bidders?|tenders?|bids?|candidates?|subcontractors?|the contracting (authority|entity)|the procurement office|",
        r"commercial register|call for tenders|award criteria|contractual penalt\w+|governed by the law|jurisdiction|provision of this|",
        r"reserves the right|invoices?|value added tax|assign claims|claims? (for|against)|full volume|call off|not obliged|",
        r"lead to exclusion|shall be excluded|reimbursed|in writing by|form [a-z]\b|the presentation|references from the last)\b"
    ))
});

/// The past, and systems that are going away.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(used to|previously|formerly|in the past|back then|at first i|last (year|time|month)|years ago|",
        r"the (old|current|existing|present|legacy|previous|former) (system|application|software|solution|tool|process|one)|",
        r"(was|were|had) (\w+ )?(required|able|to|down|supposed)|had to|should have|could have|must have been|required that|",
        r"in (19|20)\d\d)\b"
    ))
});

/// Somebody else's words.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(says?|said|wrote|writes?|told|claims?|reads?|complained)\b[^"]{0,40}[:,]? ?""#));

static SMALL_TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(coffee|cake|lunch|breakfast|dinner|party|weather|weekend|holiday|birthday cake|pizza|beer|bus ticket|parking|joke|jokes|",
        r"laughs?|mute|microphone|hear me|can you see my|share my screen|good morning|good afternoon|bye|see you)\b|\[laugh"
    ))
});

/// About the meeting or what the speaker does in it.
static ABOUT_THE_MEETING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(write (that|this|it) down|wrote (that|this|it) down|(want|like|need|have|let me) to? ?(talk|go through|go back|come back|begin|start|move on|ask|look at|discuss|hear|say)|",
        r"i (need|want|have) to (look|check|think|ask|go|leave|say|be honest)|i must (say|admit)|i have to (say|admit|go|leave|run)|",
        r"today is the|next (item|point|topic) on|agenda|put it on the list|on the list of|i should (say|mention)|we should (talk|move|start|begin|stop)|",
        r"we need a (figure|number|break)|do we (have|need) to|we have to (stop|move on|hurry|be quick))\b"
    ))
});

static RETRACTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(scratch that|scrap (that|what|it)|forget (that|it|about|the|what)|never ?mind|i take (it|that) back|take that back|strike that|",
        r"leave (it|that|the [\w ]{1,30}) out|silly idea|stupid idea|just a thought|no, let's not|let's not|not needed after all|drop (that|it|the)|",
        r"we don't need (that|it)|don't need that|i was (just )?joking|only joking|just kidding|cancel that|",
        r"on second thought|no, no|let's wait with)\b|\bno (chat|dashboard|offline)\b"
    ))
});

/// Whether a sentence belongs to text that demands nothing of the product, whatever its words.
pub fn demands_nothing(line: &Line) -> bool {
    matches!(line.place, Place::Boilerplate | Place::Code | Place::Heading | Place::Quote)
        || HEADING_OF_NO_DEMAND.is_match(innermost(&line.heading))
        || BOILERPLATE.is_match(&line.lower)
        || ABOUT_THE_DOCUMENT.is_match(&line.lower)
        || PROCEDURE.is_match(&line.lower)
        || PAST.is_match(&line.lower)
        || is_quoted(&line.lower)
        || (line.place == Place::Speech && is_chatter(&line.lower))
}

/// Small talk, or talk about the meeting itself.
pub fn is_chatter(lower: &str) -> bool {
    SMALL_TALK.is_match(lower) || ABOUT_THE_MEETING.is_match(lower)
}

/// The whole sentence, or its demand, is somebody else's.
pub fn is_quoted(lower: &str) -> bool {
    let whole = lower.starts_with('"') && lower.trim_end_matches(['.', ',']).ends_with('"');
    whole || QUOTED.is_match(lower)
}

/// Whether the sentence takes back what was said just before.
pub fn retracts(lower: &str) -> bool {
    RETRACTION.is_match(lower)
}

/// Whether speech after `at` takes it back: within six sentences, of which one names a word of it or follows directly.
pub fn is_taken_back(book: &Book, at: usize) -> bool {
    let Some(line) = book.line(at).filter(|line| line.place == Place::Speech) else { return false };
    let slot = book.slot(at);
    for step in 1..=8 {
        let Some(next) = book.line(at + step).filter(|_| book.slot(at + step) == slot) else { return false };
        if retracts(&next.lower) && (step <= 2 || shares_a_noun(&line.lower, &next.lower)) {
            return true;
        }
    }
    false
}

fn shares_a_noun(one: &str, other: &str) -> bool {
    let long = |word: &&str| word.len() >= 4 && !COMMON.contains(word);
    let theirs: Vec<&str> = words(other).filter(long).collect();
    words(one).filter(long).any(|word| theirs.iter().any(|their| their == &word))
}

const COMMON: [&str; 30] = [
    "that", "this", "with", "without", "have", "then", "what", "said", "should", "would", "could", "must", "need", "want",
    "just", "like", "about", "there", "they", "them", "from", "were", "been", "okay", "when", "back", "take", "your",
    "patient", "patients",
];

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The last part of a heading path.
pub fn innermost(heading: &str) -> &str {
    heading.rsplit(" › ").next().unwrap_or(heading)
}
