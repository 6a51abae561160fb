//! Near misses: sentences with the words of a demand that make none. Boilerplate, definitions, procedure, the past, quotation.

use std::sync::LazyLock;

use regex::Regex;

use super::book::{Book, Line};
use super::index::Place;
use super::lexicon::pattern;

/// Headings under which nothing is demanded, at whatever depth they stand.
static HEADING_OF_NO_DEMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(definitions?|glossary|abbreviations?|acronyms?|terminology|references|bibliography|(table of )?contents|revision history|",
        r"document history|about this document|how to read|reading guide|copyright|disclaimer|legal notice|legal terms|liability and law|",
        r"submission of (tenders|bids)|tendering procedure|award( criteria)?|selection criteria|suitability|terms of (payment|contract)|",
        r"payment terms|conditions of contract|general terms|declaration of|instructions? to (tenderers|bidders)|",
        r"(current|present|existing) (situation|systems?|state|process(es)?|practice)|as[- ]is|out of scope|not in scope|exclusions?|non-goals?|",
        r"what it does not do|not part of (this|the)|earlier attempts?)\b|^(\d[\d.]* )?(background|history|legacy|procedure.*)$|\bform [a-z]:"
    ))
});

static BOILERPLATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(all rights reserved|all rights in this|copyright|confidential|passed on to third parties|page \d+ of \d+|",
        r"without (the )?prior written|printed on \d)\b|©|\.{5,}"
    ))
});

/// About the text, not about the product.
static ABOUT_THE_DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(this (document|section|chapter|specification|note|annex|appendix|table|srs)|the (word|words|term|terms|key ?words?) \W|",
        r"interpretation of the text|headings are|is defined as|is short for|stands for the|refers to the|this version of the document|",
        r"for the purposes? of this|in this document|remarks on this|capital letters|the use case (describes|presents|shows)|",
        r"sections? \d[\d.]*( (and|to) \d[\d.]*)? (hold|list|describe|contain|provide|give|specif)\w*|figure \d+|table \d+|",
        r"we (suppose|assume)|it is assumed|assumptions? (have|has|are|is)|not part of|out of scope|(should|could) include:)"
    ))
});

static PROCEDURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(tenderers?|bidders?|tenders?|bids|candidates?|the contracting (authority|entity)|the procurement office|",
        r"commercial register|contractual penalt\w+|governed by the law|jurisdiction|provision of this|",
        r"reserves the right|invoices? shall be sent|value added tax|assign claims|full volume|not obliged to|",
        r"lead to exclusion|shall be excluded|be reimbursed|subcontractors? (are|is|must|shall)|must be sent in writing|",
        r"the (presentation|jury)|references from the last)\b"
    ))
});

/// Told of the past, whatever the verb.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(used to be|back then|at first i|i thought|the (old|legacy|previous|former) (system|application|software|solution|tool|process|one)|",
        r"(was|were) (not )?(able|supposed|required|expected) to|had to|should have|must have been|required that|asked for)\b"
    ))
});
/// Told of the past, unless a binding verb says otherwise.
static PAST_PERHAPS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(previously|formerly|in the past|last (year|month)|years ago|in (19|20)\d\d|(current|existing|present) (system|application|software|solution)|today)\b",
    )
});
static BINDING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(shall|must|should|has to|have to)\b"));

/// Others' opinions, and demands that somebody else made.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(study|survey|experts?|report|some|many|most|few|out of \w+|letter|critics) (\w+ ){0,5}(think|thinks|found|finds|find|believe|believes|say|says|claim|claims|feel|suggests?|shows?) that\b",
    )
});

/// A need that is denied: nothing is asked for.
static NEEDLESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(doesn't|don't|didn't|does not|do not|did not|needn't|need not|no longer) (have|need|needs) (to|a|an|any)\b|\bneed not\b|\bno need (to|for)\b",
    )
});

/// Somebody else's words.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(says?|said|wrote|writes?|told|claims?|reads?|complained)\b[^"]{0,40}[:,]? ?""#));

/// Ways of speaking that ask nothing of the product: guesses, stories, half sentences, somebody without a name.
static IDLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(somebody|someone) (really )?(should|has to|must|needs to|would)|\bsomebody should|('d|would) have to\b|\byou (have|need) to\b|",
        r"^(and |so |but )*(then (a|we|i|they|the|you)\b|because\b|in the last|at first|so today|today)|\.\.\.|…|\bit must be the (only|last|first|best)\b|",
        r"\b(need|want|like) (it|them|that|this|him|her)\b( too| as well)?[.,!]?$|\bwhere we'd need|\bcan't know|\bi'll (let|be|do|have)\b|",
        r"\bthey('ve| have) got\b|\bit's (not that )?(easy|hard)\b"
    ))
});

static SMALL_TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(coffee|cake|lunch|breakfast|dinner|party|weather|weekend|birthday|pizza|beer|parking|jokes?|joking|",
        r"laughs?|mute|microphone|hear me|can you see my|share my screen|good morning|good afternoon|bye|see you)\b|\[laugh"
    ))
});

/// About the meeting or what the speaker does in it.
static ABOUT_THE_MEETING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(write (that|this|it) down|wrote (that|this|it) down|(want|like|love|need|have) to (talk|go through|go back|come back|begin|start|move on|ask|look at|discuss|hear|say)|let me (talk|ask|check|think|say|sum|put)|what i'd like today|",
        r"i (need|want|have) to (look|check|think|ask|go|leave|say|be honest)|i must (say|admit)|i have to (say|admit|go|leave|run)|",
        r"today is the|next (item|point|topic) on|agenda|put it on the list|on the list of|i should (say|mention)|we should (talk|move|start|begin|stop)|",
        r"we need a (figure|number|break)|do we (have|need) to|we have to (stop|move on|hurry|be quick))\b"
    ))
});

static RETRACTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(scratch that|no, let's say it|i'm joking|scrap (that|what|it)|forget (that|it|about|the|what)|never ?mind|i take (it|that) back|take that back|strike that|",
        r"leave (it|that|the [\w ]{1,30}) out|silly idea|stupid idea|just a thought|no, let's not|let's not|not needed after all|drop (that|it)|",
        r"we don't need (that|it)|don't need that|i was (just )?joking|only joking|just kidding|cancel that|",
        r"on second thought|no, no|let's wait with)\b|\bno (chat|dashboard|offline)\b"
    ))
});

/// Whether a sentence belongs to text that demands nothing of the product, whatever its words.
pub fn demands_nothing(line: &Line) -> bool {
    let lower = line.lower.as_str();
    matches!(line.place, Place::Boilerplate | Place::Code | Place::Heading | Place::Quote)
        || under_no_demand(&line.heading)
        || BOILERPLATE.is_match(lower)
        || ABOUT_THE_DOCUMENT.is_match(lower)
        || PROCEDURE.is_match(lower)
        || PAST.is_match(lower)
        || (PAST_PERHAPS.is_match(lower) && !BINDING.is_match(lower))
        || REPORTED.is_match(lower)
        || NEEDLESS.is_match(lower)
        || is_quoted(lower)
        || (line.place == Place::Speech && (is_chatter(lower) || IDLE.is_match(lower)))
}

/// Any heading above that stands for definitions, procedure or the past, unless it speaks of requirements as well.
fn under_no_demand(heading: &str) -> bool {
    let mut parts = heading.split(" › ").filter(|part| !part.contains("requirement"));
    parts.any(|part| HEADING_OF_NO_DEMAND.is_match(part))
}

/// About the text itself.
pub fn is_about_the_document(lower: &str) -> bool {
    ABOUT_THE_DOCUMENT.is_match(lower)
}

/// The rules of a tender, not work on the project.
pub fn is_procedure(lower: &str) -> bool {
    PROCEDURE.is_match(lower)
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

/// How many sentences later something can be taken back.
const REACH: usize = 14;

/// Whether speech after `at` takes it back: at once, with nothing but a few words between, or later by one of its own nouns.
pub fn is_taken_back(book: &Book, at: usize) -> bool {
    let Some(line) = book.line(at).filter(|line| line.place == Place::Speech) else { return false };
    let slot = book.slot(at);
    let mut at_once = true;
    for step in 1..=REACH {
        let Some(next) = book.line(at + step).filter(|_| book.slot(at + step) == slot) else { return false };
        if retracts(&next.lower) && (at_once || shares_a_noun(book, &line.lower, &next.lower)) {
            return true;
        }
        at_once = at_once && next.lower.split_whitespace().count() < 5;
    }
    false
}

/// A word of five letters or more that is not everybody's, and no speaker's name.
fn shares_a_noun(book: &Book, one: &str, other: &str) -> bool {
    let names: Vec<String> = book.speakers().iter().map(|name| name.to_lowercase()).collect();
    let is_noun = |word: &&str| {
        word.len() >= 5
            && !COMMON.contains(word)
            && !names.iter().any(|name| name.split_whitespace().any(|part| part == *word))
    };
    let theirs: Vec<&str> = words(other).filter(is_noun).collect();
    words(one).filter(is_noun).any(|word| theirs.contains(&word))
}

const COMMON: [&str; 30] = [
    "that", "this", "with", "without", "have", "then", "what", "said", "should", "would", "could", "must", "need",
    "want", "just", "like", "about", "there", "they", "them", "from", "were", "been", "okay", "when", "back", "take",
    "your", "patient", "patients",
];

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The last part of a heading path.
pub fn innermost(heading: &str) -> &str {
    heading.rsplit(" › ").next().unwrap_or(heading)
}
