//! Who an action item is given to.

use std::sync::LazyLock;

use regex::Regex;

use super::action::PROMISE;
use super::corpus::{Corpus, PreparedSentence};
use super::lexicon::pattern;
use super::speakers::Speakers;

/// "Marcus to collect …", "Priya: draw …", "Helena will write …", "Tomasz Wilk checks …": a name, then the work to do.
pub static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:\d[\d. ]*|action:? |todo:? |ap:? |to do:? )?@?(\p{L}[\p{L}'-]+(?: \p{L}[\p{L}'-]+)?)(?:: |",
        r" to | will | is to | is going to | should | shall | takes? care of | agreed to | offered to |",
        r" promised to | has agreed to | ",
        r"(?:and \p{L}+ )?(?:sends?|asks?|checks?|writes?|prepares?|collects?|names?|calls?|books?|draws?|",
        r"delivers?|clarifies|organi[sz]es?|arranges?|reviews?|talks? to|contacts?|finds? out|sets? up|",
        r"provides?|takes?|makes?|gets?|plans?|counts?|visits?|shows?|tests?) )[a-z0-9]"
    ))
});
/// "Bea, could you …", "could you …, Bea?"
static ADDRESSED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:and |so |okay,? |then |but )*@?(\p{L}[\p{L}'-]+),? (?:could|can|would|will|please|you|are you)\b")
});
static ADDRESSED_LAST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:can|could|would|will|you|please)\b.*, (\p{L}[\p{L}'-]+)[?.!]?$"));
/// "You order the foil, Bea, by Friday."
static ADDRESSED_WITHIN: LazyLock<Regex> = LazyLock::new(|| pattern(r", (\p{L}[\p{L}'-]+)(?:,|[?.!]?$)"));
static ADDRESSED_FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:and |so |okay,? |then |but |right,? )*@?(\p{L}[\p{L}'-]+)(?:,| -) "));
/// What a speaker takes on: "I'll …", "Next I'm doing …".
static OWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:i'll|i will|i'm going to|i am going to|i'm doing|i can|i shall|let me|leave (?:it|that) to me)\b")
});
static ASKED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:can|could|would|will) you\b"));
/// "… (Ana)", "… – Ana Ruiz", "owner: Ana", "@ana", "[Ana]".
static GIVEN_TO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:\(|\[|[–—-] |→ |\b(?:owner|responsible|assigned to|assignee|who): ?)@?(\p{L}[\p{L}'-]+(?: \p{L}[\p{L}'-]+)?)",
        r"(?:[,;:]? (?:by|until|due|before|,)[^()\[\]]*)?[)\].]?$|(?:^|\s)@(\p{L}[\p{L}'-]+)|^\[(\p{L}[\p{L}'-]+)\]"
    ))
});
/// The name of a column of people.
static COLUMN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(who|owner|responsib\w*|assign\w*|name|person|by whom|lead|action (by|owner)|whose)$"));

/// Whether a column is one of people.
pub fn is_column_of_people(column: &str) -> bool {
    COLUMN.is_match(column)
}

/// Returns who is to do what a sentence says: the person in its row's column of people, the speaker of a promise, else a
/// name in the sentence, else who answers a request.
pub fn of(corpus: &Corpus, at: usize) -> Option<String> {
    let sentence = corpus.sentence(at)?;
    let in_column = |(column, cell): (&str, &PreparedSentence)| {
        let name = cell.words.trim();
        (COLUMN.is_match(column) && !name.is_empty() && name.split_whitespace().count() <= 5).then(|| name.to_owned())
    };
    if let Some(name) = corpus.row(at).find_map(in_column) {
        return Some(name);
    }
    let is_own = PROMISE.is_match(&sentence.lower) || OWN.is_match(&sentence.lower);
    if let Some(speaker) = corpus.speaker(at).filter(|_| is_own) {
        return Some(speaker.to_owned());
    }
    if let Some(author) = author(corpus, at).filter(|_| is_own && !sentence.is_spoken()) {
        return Some(author);
    }
    if let Some(speaker) = called_upon(sentence, corpus.speakers()) {
        return Some(speaker);
    }
    let written = || named(sentence, corpus.speakers()).or_else(|| given_to(sentence, corpus.speakers()));
    written().or_else(|| of_office(sentence)).or_else(|| {
        let next = corpus.sentence(at + 1).filter(|_| ASKED.is_match(&sentence.lower))?;
        let other = corpus.speaker(at + 1).filter(|_| next.speaker != sentence.speaker)?;
        Some(other.to_owned())
    })
}

/// How many sentences back the sender of a mail is looked for.
const LETTER: usize = 80;

/// Returns who wrote the mail that a sentence stands in.
fn author(corpus: &Corpus, at: usize) -> Option<String> {
    let before = (at.saturating_sub(LETTER)..at).rev().take_while(|before| corpus.slot(*before) == corpus.slot(at));
    let sender =
        before.filter_map(|before| corpus.sentence(before)).find(|before| before.lower.starts_with("from: "))?;
    let line = sender.words.get("From: ".len()..)?;
    let name = line.split(['<', ',', ';', '(']).next().unwrap_or_default().trim().trim_matches('"');
    (!name.is_empty() && name.split_whitespace().count() <= 4).then(|| name.to_owned())
}

/// “The clerk is to write to the diocese.”
static OFFICE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^the (\p{L}[\p{L}-]+(?: \p{L}[\p{L}-]+)?) (?:is|are) to \p{L}"));

fn of_office(sentence: &PreparedSentence) -> Option<String> {
    OFFICE.captures(&sentence.lower).and_then(|found| found.get(1)).map(|office| office.as_str().to_owned())
}

/// Returns the name at the start of the sentence, as the full name of the speaker with that first name if there is one.
pub fn named(sentence: &PreparedSentence, speakers: &Speakers) -> Option<String> {
    let found = NAMED.captures(&sentence.lower).or_else(|| ADDRESSED.captures(&sentence.lower))?;
    let name = found.get(1)?;
    // “Permission slips: …” is a topic.
    let is_topic =
        name.as_str().contains(' ') && sentence.lower.get(name.end()..).is_some_and(|rest| rest.starts_with(": "));
    if is_topic && !is_written_with_capitals(sentence, name) {
        return None;
    }
    person(sentence, speakers, name)
}

/// Whether every word of a name begins with a capital.
fn is_written_with_capitals(sentence: &PreparedSentence, name: regex::Match<'_>) -> bool {
    let skipped = sentence.lower.get(..name.start()).map_or(0, |before| before.chars().count());
    let written: String = sentence.words.chars().skip(skipped).take(name.as_str().chars().count()).collect();
    written.split_whitespace().all(|word| word.chars().next().is_some_and(char::is_uppercase))
}

/// Returns the speaker who is spoken to by name.
fn called_upon(sentence: &PreparedSentence, speakers: &Speakers) -> Option<String> {
    let first = ADDRESSED_FIRST.captures_iter(&sentence.lower);
    let mut names = first.chain(ADDRESSED_WITHIN.captures_iter(&sentence.lower));
    names.find_map(|found| speakers.called(found.get(1)?.as_str()).map(str::to_owned))
}

fn given_to(sentence: &PreparedSentence, speakers: &Speakers) -> Option<String> {
    let found = ADDRESSED_LAST.captures(&sentence.lower).or_else(|| GIVEN_TO.captures(&sentence.lower))?;
    person(sentence, speakers, found.iter().skip(1).flatten().next()?)
}

/// Returns the speaker who is called so, else the name as it is written.
fn person(sentence: &PreparedSentence, speakers: &Speakers, found: regex::Match<'_>) -> Option<String> {
    let known = speakers.called(found.as_str()).map(str::to_owned);
    known.or_else(|| written_name(sentence, found.start(), found.as_str()))
}

/// Returns a name with its capitals, or `None` if it has none or is an ordinary word.
fn written_name(sentence: &PreparedSentence, start: usize, name: &str) -> Option<String> {
    let skipped = sentence.lower.get(..start)?.chars().count();
    let written: String = sentence.words.chars().skip(skipped).take(name.chars().count()).collect();
    let mut parts = written.split_whitespace();
    let first = parts.next()?;
    let is_capital = |part: &str| part.chars().next().is_some_and(char::is_uppercase);
    let small = first.to_lowercase();
    if !is_capital(first) || NO_NAMES.contains(&format!(" {small} ")) || first.chars().count() < 2 {
        return None;
    }
    match parts.next() {
        Some(second) if is_capital(second) => Some(written),
        _ => Some(first.to_owned()),
    }
}

/// First words of sentences that are not names of people, each between spaces.
const NO_NAMES: &str = concat!(
    " the a an it this that these those system user users we they you",
    " he she note example goal todo task action which what who there data risk",
    " decision question please all each every any no some both one two staff patients",
    " customers and but so if when after before our their your my date time",
    " list version page next agreed could would can will shall should let let's i",
    " i'll then okay ok yes yeah well perhaps maybe somebody someone everybody nobody anybody",
    " nothing something everything not also first last today tomorrow monday tuesday wednesday thursday friday",
    " saturday sunday as in on at by for from with",
    " "
);

#[cfg(test)]
mod tests {
    use super::super::index::BlockContext;
    use super::*;

    #[test]
    fn a_name_is_found_where_people_put_it() {
        let speakers = Speakers::new(&["Ana Ruiz".to_owned()]);
        for (words, context, expected) in [
            ("Piotr will ask the vendor.", BlockContext::Prose, Some("Piotr")),
            ("Piotr will ask the vendor.", BlockContext::Speech, Some("Piotr")),
            ("Ana to draw the plan.", BlockContext::Item, Some("Ana Ruiz")),
            ("Ana, could you ask them?", BlockContext::Speech, Some("Ana Ruiz")),
            ("Could you send it over, Ana?", BlockContext::Speech, Some("Ana Ruiz")),
            ("You send it round, Ana, by Friday.", BlockContext::Speech, Some("Ana Ruiz")),
            ("Ana, find out what it costs.", BlockContext::Speech, Some("Ana Ruiz")),
            ("Mail the vendor (Márta)", BlockContext::Item, Some("Márta")),
            ("Mail the vendor – Jo Byrne", BlockContext::Item, Some("Jo Byrne")),
            ("Mail the vendor (Bo, by Friday)", BlockContext::Item, Some("Bo")),
            ("TODO Bengt checks the current.", BlockContext::Item, Some("Bengt")),
            ("Permission slips: Bo sends them.", BlockContext::Item, None),
            ("The system will print it.", BlockContext::Prose, None),
            ("It will rain (probably)", BlockContext::Prose, None),
        ] {
            let sentence = PreparedSentence::alone(words, context);
            let found = called_upon(&sentence, &speakers)
                .or_else(|| named(&sentence, &speakers))
                .or_else(|| given_to(&sentence, &speakers));
            assert_eq!(found.as_deref(), expected, "{words}");
        }
    }
}
