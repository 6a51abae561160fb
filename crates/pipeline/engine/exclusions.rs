//! Near misses: sentences with the words of a requirement that state none, such as boilerplate, definitions, procedure,
//! the past and quotations.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::corpus::{Corpus, PreparedSentence};
use super::index::BlockContext;
use super::lexicon::pattern;

/// Headings under which nothing is required, at any depth.
static HEADING_OF_NO_DEMAND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(definitions?|terms|glossary|abbreviations?|acronyms?|terminology|references|bibliography|",
        r"(table of )?contents|revision history|",
        r"document history|about this document|how to read|reading guide|copyright|disclaimer|legal notice|legal terms|liability and law|",
        r"submission of (tenders|bids)|tendering procedure|award( criteria)?|selection criteria|suitability|terms of (payment|contract)|",
        r"payment terms|conditions of contract|general terms|declaration of|instructions? to (tenderers|bidders)|",
        r"(current|present|existing) (situation|systems?|state|process(es)?|practice)|as[- ]is|",
        r"out of scope|not in scope|exclusions?|non-goals?|",
        r"what it does not do|not part of (this|the)|earlier attempts?)\b|^(\d[\d.]* )?(background|history|",
        r"legacy|procedure.*)$|\bform [a-z]:"
    ))
});

static BOILERPLATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(all rights reserved|all rights in this|copyright|confidential|passed on to third parties|page \d+ of \d+|",
        r"without (the )?prior written|printed on \d|(this|the) e-?mail (is|and|may|was)|intended (solely |",
        r"only )?for the|unsubscribe|sent from my|",
        r"before (you print|printing)|registered office|do not reply|if you have received|if you are not the)\b|©|\.{5,}"
    ))
});

/// Sentences about the document rather than the product.
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
        r"\b(tenderers?|bidders?|tenders?|bids|the contracting (authority|entity)|the procurement office|",
        r"commercial register|contractual penalt\w+|governed by the law|jurisdiction|provision of this|",
        r"reserves the right|invoices? shall be sent|value added tax|assign claims|full volume|not obliged to|",
        r"the contract shall|contract and|signed by both|set out in section|rights of retention|each party|both parties shall|yearly fee|",
        r"lead to exclusion|shall be excluded|be reimbursed|subcontractors? (are|is|must|shall)|must be sent in writing|",
        r"references from the last)\b"
    ))
});

/// The past, whatever the verb.
static PAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(used to be|back then|at first i|i thought|the (old|legacy|previous|former) (system|",
        r"application|software|solution|tool|process|one)|",
        r"(was|were) (not )?(able|supposed|required|expected) to|had to|should have|must have been|required that|asked for)\b"
    ))
});
/// The past, unless the sentence has a binding verb.
static PAST_PERHAPS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(previously|formerly|in the past|last (year|month)|years ago|in (19|20)\d\d|(current|existing|",
        r"present) (system|application|software|solution)|today)\b"
    ))
});
static BINDING: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(shall|must|should|has to|have to)\b"));

/// Former wishes that were dropped.
static DROPPED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(was|were|has been|have been|is|are) (\w+ )?(dropped|rejected|abandoned|withdrawn|given up|",
        r"taken off the list)\b|\bno longer (needed|wanted|required|planned)\b"
    ))
});

/// Work on the project or personal communication, as opposed to a requirement on the product.
static PROJECT_WORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(we|i|you|they|somebody|someone)('d| would)? (really |still |also |just |all |both )?(should|",
        r"must|have to|has to|need to|ought to|want to|like to|love to) (still |also |first )?",
        r"(meet|discuss|talk|ask|decide|agree|check|clarify|plan|schedule|wait|think|look|find out|contact|",
        r"call|invite|prepare|hear|say|know|thank|apologi[sz]e|",
        r"settle|go (on|through|back)|start|begin|stop|postpone|remind|point out|add that|come back|",
        r"get back|mention|make sure|be honest)\b|",
        r"\byou (should|must|need to|have to|will need)\b|\bi (need|want) [^.]{0,60}\b(by (monday|tuesday|",
        r"wednesday|thursday|friday|tomorrow|the end of|\d)|from you)\b|",
        r"\b(looking forward|kind regards|best regards|let me know|feel free|happy to|thanks|thank you)\b"
    ))
});

/// Opinions and demands of others that the sentence reports.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(study|survey|experts?|report|some|many|most|few|out of \w+|letter|critics) (\w+ ){0,5}(think|",
        r"thinks|found|finds|find|believe|believes|say|says|claim|claims|feel|suggests?|shows?) that\b"
    ))
});

/// A negated need: nothing is required.
static NEEDLESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(doesn't|don't|didn't|does not|do not|did not|needn't|need not|no longer) (have|need|",
        r"needs) (to|a|an|any)\b|\bneed not\b|\bno need (to|for)\b"
    ))
});

/// Quotations.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(says?|said|wrote|writes?|told|claims?|reads?|complained)\b[^"]{0,40}[:,]? ?""#));

/// Phrases in speech that require nothing of the product: guesses, stories, half sentences, unnamed persons.
static IDLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(somebody|someone) (really )?(should|has to|must|needs to|would)|\bsomebody should|('d|",
        r"would) have to\b|\byou (have|need) to\b|",
        r"^(and |so |but )*(then (a|we|i|they|the|you)\b|because\b|in the last|at first|so today|today)|",
        r"\.\.\.|…|\bit must be the (only|last|first|best)\b|",
        r"\b(need|want|like) (it|them|that|this|him|her)\b( too| as well)?[.,!]?$|\bwhere we'd need|",
        r"\bcan't know|\bi'll (let|be|do|have)\b|",
        r"\bthey('ve| have) got\b|\bit's (not that )?(easy|hard)\b"
    ))
});

static SMALL_TALK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(coffee|cake|lunch|breakfast|dinner|party|weather|weekend|birthday|pizza|beer|parking|jokes?|joking|",
        r"laughs?|mute|microphone|hear me|can you see my|share my screen|good morning|good afternoon|bye|see you)\b|\[laugh"
    ))
});

/// The meeting itself or what the speaker does in it.
static ABOUT_THE_MEETING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(write (that|this|it) down|wrote (that|this|it) down|(want|like|love|need|have) to (talk|",
        r"go through|go back|come back|begin|start|move on|ask|look at|discuss|hear|say)|let me (talk|ask|",
        r"check|think|say|sum|put)|what i'd like today|",
        r"i (need|want|have) to (look|check|think|ask|go|leave|say|be honest)|i must (say|admit)|i have to (say|admit|go|leave|run)|",
        r"today is the|next (item|point|topic) on|agenda|put it on the list|on the list of|i should (say|",
        r"mention)|we should (talk|move|start|begin|stop)|",
        r"we need a (figure|number|break)|do we (have|need) to|we have to (stop|move on|hurry|be quick))\b"
    ))
});

/// Speaking for oneself, even in written text.
static PERSONAL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(i|we|let's|i'm|please|scratch|forget)\b"));

/// Retracts the preceding statement.
static RETRACTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(scratch that|scrap (that|it)|forget (that|it|about it)|never ?mind|i take (it|that) back|take that back|strike that|",
        r"leave (it|that) out|silly idea|stupid idea|just a thought|no, let's (not|say it|wait)|let's not|",
        r"not needed after all|drop (that|it)|",
        r"we don't need (that|it)|don't need that|i'm joking|i was (just )?joking|only joking|just kidding|cancel that|on second thought)\b"
    ))
});
/// Retracts the statement that it names.
static RETRACTION_OF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(scrap|forget|drop|leave out|skip|cancel) (the|what|about)\b|\bleave (the|all) [a-z ]{1,30} out\b|\bscrap what i said\b|",
        r"\b(we don't need|no need for|not doing|let's not have) (the|a|an|any) |\btake back (the|what)\b"
    ))
});

/// What a sentence may meet, for the heads.
pub static CUES: [&LazyLock<Regex>; 17] = [
    &BOILERPLATE,
    &ABOUT_THE_DOCUMENT,
    &PROCEDURE,
    &PAST,
    &PAST_PERHAPS,
    &BINDING,
    &DROPPED,
    &PROJECT_WORK,
    &REPORTED,
    &NEEDLESS,
    &QUOTED,
    &IDLE,
    &SMALL_TALK,
    &ABOUT_THE_MEETING,
    &PERSONAL,
    &RETRACTION,
    &RETRACTION_OF,
];

/// Whether a sentence belongs to text that states no requirement on the product, whatever its words.
pub fn is_excluded(sentence: &PreparedSentence) -> bool {
    let lower = sentence.lower.as_str();
    matches!(sentence.context, BlockContext::Boilerplate | BlockContext::Code | BlockContext::Heading)
        || sentence.is_addressed
        || sentence.above.excluded
        || BOILERPLATE.is_match(lower)
        || ABOUT_THE_DOCUMENT.is_match(lower)
        || PROCEDURE.is_match(lower)
        || PAST.is_match(lower)
        || (PAST_PERHAPS.is_match(lower) && !BINDING.is_match(lower))
        || REPORTED.is_match(lower)
        || NEEDLESS.is_match(lower)
        || DROPPED.is_match(lower)
        || PROJECT_WORK.is_match(lower)
        || is_quoted(lower)
        || (sentence.context == BlockContext::Speech && (is_off_topic(sentence) || IDLE.is_match(lower)))
}

/// Classifies a heading in lower case: returns whether it stands for definitions, procedure or the past, and whether it
/// is about requirements.
pub fn classify_heading(title: &str) -> (bool, bool) {
    let of_requirements = title.contains("requirement");
    let is_excluded = !of_requirements && HEADING_OF_NO_DEMAND.is_match(title);
    (is_excluded, of_requirements || title.contains("what it does"))
}

/// Whether the sentence is boilerplate or under a heading for text without work or requirements.
pub fn is_boilerplate(sentence: &PreparedSentence) -> bool {
    BOILERPLATE.is_match(&sentence.lower) || sentence.above.excluded
}

/// Whether the sentence is about the document itself.
pub fn is_about_the_document(lower: &str) -> bool {
    ABOUT_THE_DOCUMENT.is_match(lower)
}

/// Whether the sentence is about the rules of a tender rather than work on the project.
pub fn is_procedure(lower: &str) -> bool {
    PROCEDURE.is_match(lower)
}

/// Whether the sentence is small talk or about the meeting itself.
pub fn is_off_topic(sentence: &PreparedSentence) -> bool {
    sentence.is_small_talk || ABOUT_THE_MEETING.is_match(&sentence.lower)
}

/// Whether a spoken sentence contains words of small talk. In a corpus where they are common they are the topic, and
/// `Book` resets the flag.
pub fn has_small_talk(context: BlockContext, lower: &str) -> bool {
    context == BlockContext::Speech && SMALL_TALK.is_match(lower)
}

/// Whether the whole sentence, or the demand in it, is quoted from someone else.
pub fn is_quoted(lower: &str) -> bool {
    let whole = lower.strip_prefix('"').and_then(|rest| rest.rfind('"')).is_some_and(|end| end * 2 > lower.len());
    whole || QUOTED.is_match(lower)
}

/// Whether the sentence retracts an earlier statement.
pub fn retracts(lower: &str) -> bool {
    RETRACTION.is_match(lower) || RETRACTION_OF.is_match(lower)
}

/// How many sentences later a spoken statement can be retracted.
const RETRACTION_WINDOW: usize = 14;

/// Whether a later sentence of the same source retracts the sentence at `at`: directly, with only sentences of at most
/// six words between, or by sharing one of its nouns.
///
/// Searches up to [`REACH`] sentences ahead in speech and two in written text, where the retracting sentence must also
/// speak for its author (`PERSONAL`). Table cells are never retracted.
pub fn is_retracted(corpus: &Corpus, at: usize) -> bool {
    let Some(sentence) = corpus.sentence(at).filter(|sentence| sentence.context != BlockContext::Cell) else {
        return false;
    };
    let is_speech = sentence.context == BlockContext::Speech;
    let slot = corpus.slot(at);
    let mut is_adjacent = true;
    for step in 1..=RETRACTION_WINDOW {
        let Some(next) = corpus.sentence(at + step).filter(|_| corpus.slot(at + step) == slot) else { return false };
        let retracts_all =
            is_adjacent && RETRACTION.is_match(&next.lower) && (is_speech || PERSONAL.is_match(&next.lower));
        let named = is_speech || (RETRACTION_OF.is_match(&next.lower) && PERSONAL.is_match(&next.lower));
        if retracts_all || (named && retracts(&next.lower) && shares_a_noun(corpus, &sentence.lower, &next.lower)) {
            return true;
        }
        if !is_speech && step >= 2 {
            return false;
        }
        is_adjacent = is_adjacent && next.count <= 6;
    }
    false
}

/// Whether both sentences contain the same word of at least five bytes that is neither in [`COMMON`] nor part of a
/// speaker's name.
fn shares_a_noun(corpus: &Corpus, one: &str, other: &str) -> bool {
    let is_noun = |word: &&str| word.len() >= 5 && !COMMON.contains(word) && !corpus.speakers().has_part(word);
    let other_nouns: HashSet<&str> = words(other).filter(is_noun).collect();
    words(one).any(|word| other_nouns.contains(word))
}

const COMMON: [&str; 27] = [
    "without", "should", "would", "could", "about", "there", "their", "until", "after", "before", "three", "seven",
    "eight", "which", "where", "think", "people", "first", "other", "every", "right", "maybe", "really", "again",
    "system", "users", "still",
];

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the last part of a heading path.
pub fn innermost(heading: &str) -> &str {
    heading.rsplit(" › ").next().unwrap_or(heading)
}
