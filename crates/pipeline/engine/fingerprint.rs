//! The words of a statement, prepared to be compared with others.

use sha2::{Digest, Sha256};

use super::choices::{self, Choice};
use super::corpus::plain;
use super::quantities::{Quantity, split};
use super::synonyms::stem;

/// The words of a statement, prepared for comparison.
#[derive(Debug, Clone)]
pub struct Fingerprint {
    /// The words in lower case, separated by single spaces.
    normalized: String,
    /// Words that carry meaning, in their order.
    content: Vec<String>,
    /// The beginnings of these words, synonyms as one, ascending, without numbers and modals.
    pub(super) stems: Vec<String>,
    pub(super) quantities: Vec<Quantity>,
    pub(super) stance: Stance,
    pub(super) choices: Vec<Choice>,
    /// It says that it adds to something.
    pub(super) is_addition: bool,
    /// It leaves out everything else.
    pub(super) is_exclusive: bool,
}

/// Whether a statement demands something, demands that it is not so, or leaves it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    Demanded,
    Forbidden,
    Optional,
}

impl Fingerprint {
    pub fn of(statement: &str) -> Self {
        let lower = plain(statement);
        let all: Vec<&str> =
            lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let content = all.iter().filter(|word| !STOP_WORDS.contains(*word)).map(|word| (*word).to_owned()).collect();
        let (quantities, rest) = split(&lower);
        let is_content = |word: &&str| !STOP_WORDS.contains(word) && !MODALS.contains(word) && word.len() > 1;
        let mut stems: Vec<String> = rest.into_iter().filter(is_content).map(stem).collect();
        stems.sort_unstable();
        stems.dedup();
        let is_exclusive = all.iter().any(|word| EXCLUSIVE.contains(word));
        let (choices, is_addition) = (choices::choices(&lower), choices::is_addition(&lower));
        Self {
            normalized: all.join(" "),
            content,
            stems,
            quantities,
            stance: stance(&lower),
            choices,
            is_addition,
            is_exclusive,
        }
    }

    /// Returns the words that carry meaning, in their order: statements with the same ones say the same.
    pub fn content(&self) -> &[String] {
        &self.content
    }

    /// Returns a key of 32 hex digits, equal for the same words and the same `kind`.
    pub fn key(&self, kind: &str) -> String {
        let mut hasher = Sha256::new();
        hasher.update(kind);
        hasher.update([0]);
        hasher.update(&self.normalized);
        hex::encode(hasher.finalize()).chars().take(32).collect()
    }
}

fn stance(lower: &str) -> Stance {
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&[
        "need not",
        "doesn't have to",
        "don't have to",
        "not have to",
        "not required",
        "not necessary",
        "optional",
        "if wanted",
        "nice to have",
    ]) {
        Stance::Optional
    } else if lower.contains("n't")
        || lower.split(|character: char| !character.is_alphanumeric()).any(|word| NEGATIONS.contains(&word))
    {
        Stance::Forbidden
    } else {
        Stance::Demanded
    }
}

const NEGATIONS: [&str; 8] = ["not", "no", "never", "cannot", "without", "nobody", "none", "nor"];
const MODALS: [&str; 20] = [
    "shall", "must", "should", "will", "would", "can", "could", "may", "might", "has", "have", "need", "needs", "not",
    "no", "never", "cannot", "required", "able", "system",
];

const EXCLUSIVE: [&str; 6] = ["only", "exclusively", "solely", "alone", "single", "just"];
const STOP_WORDS: [&str; 44] = [
    "the", "a", "an", "of", "to", "and", "or", "is", "are", "be", "in", "on", "at", "for", "by", "with", "that", "it",
    "its", "this", "and", "so", "uh", "um", "as", "from", "been", "was", "were", "which", "we", "i", "you", "they",
    "there", "than", "then", "their", "our", "any", "also", "into", "within", "each",
];

/// Whether a word in lower case says that something is not so.
pub fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

/// Whether a word in lower case tells no statement from another one.
pub fn is_common(word: &str) -> bool {
    STOP_WORDS.contains(&word) || MODALS.contains(&word)
}

/// Returns the key of a risk, a question, an action or a decision with these words: that of a finding.
#[must_use]
pub fn recorded_key(kind: RecordedKind, words: &str) -> String {
    let name = match kind {
        RecordedKind::Risk => "risk",
        RecordedKind::OpenQuestion => "question",
        RecordedKind::ActionItem => "action",
        RecordedKind::Decision => "decision",
    };
    Fingerprint::of(words).key(name)
}

/// The kinds of findings beside requirements and stories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedKind {
    Risk,
    OpenQuestion,
    ActionItem,
    Decision,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_words_that_carry_meaning_counts() {
        let content = |statement: &str| Fingerprint::of(statement).content().join(" ");
        assert_eq!(content("The search shall\nanswer."), content("Search shall answer"));
        assert_ne!(content("The nurse calls the doctor."), content("The doctor calls the nurse."));
    }

    #[test]
    fn what_is_wanted_is_told_from_what_is_not() {
        let stance = |statement: &str| Fingerprint::of(statement).stance;
        assert_eq!(stance("Guests shall register."), Stance::Demanded);
        assert_eq!(stance("Guests must not register."), Stance::Forbidden);
        assert_eq!(stance("Guests can't register."), Stance::Forbidden);
        assert_eq!(stance("Guests need not register."), Stance::Optional);
    }
}
