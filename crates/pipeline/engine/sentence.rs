//! Sentences with their words prepared for the rules.

use std::sync::Arc;

use super::index::BlockContext;

/// One sentence, prepared for the rules.
#[derive(Debug)]
pub struct PreparedSentence {
    pub context: BlockContext,
    pub block: usize,
    /// White space collapsed, list marker and numbering removed.
    pub words: String,
    /// `words` in lower case, typographic quotes and apostrophes replaced by plain ones.
    pub lower: String,
    /// Number of words in `lower`.
    pub count: usize,
    pub above: Arc<Headings>,
    pub lead: Option<usize>,
    pub speaker: Option<usize>,
    /// The sentence has words of small talk, in a corpus whose topic they are not.
    pub is_small_talk: bool,
    /// It addresses a machine, or follows what does in its block or list: none of its words is an item.
    pub is_addressed: bool,
    /// The identifier that numbered the sentence, such as `REQ-12`, if there was one.
    pub label: Option<String>,
    /// The name of a cell's column in lower case.
    pub column: Option<Arc<str>>,
}

/// Properties of the headings above sentences, outermost to innermost. Shared by all sentences under the same headings,
/// ignoring letter case.
#[derive(Debug, Default)]
pub struct Headings {
    /// Lower case; empty without a heading.
    pub innermost: String,
    /// One of the headings is for definitions, procedure or the past.
    pub excluded: bool,
    /// One of the headings is about requirements.
    pub about_requirements: bool,
}

impl PreparedSentence {
    /// Whether it was said rather than written.
    pub fn is_spoken(&self) -> bool {
        self.context == BlockContext::Speech
    }

    /// Prepares a sentence without a heading or neighbours.
    pub fn alone(raw: &str, context: BlockContext) -> Self {
        let (label, words) = unmarked(raw);
        let lower = plain(&words);
        let (count, above) = (lower.split_whitespace().count(), Arc::default());
        Self {
            context,
            block: 0,
            words,
            lower,
            count,
            above,
            lead: None,
            speaker: None,
            is_small_talk: false,
            is_addressed: false,
            label,
            column: None,
        }
    }

    /// Replaces the words, without what marks an item of a list.
    pub fn reword(&mut self, words: String) {
        (self.words, self.lower) = (words, String::new());
        let (label, words) = unmarked(&self.words);
        self.lower = plain(&words);
        self.count = self.lower.split_whitespace().count();
        self.words = words;
        self.label = label.or(self.label.take());
    }
}

/// Converts to lower case with plain quotes and apostrophes.
pub fn plain(words: &str) -> String {
    words.to_lowercase().replace(['’', '‘', '´'], "'").replace(['“', '”', '„', '«', '»'], "\"")
}

/// Collapses white space and removes a bullet, a number or an identifier from the front; returns the identifier, if
/// any, and the remaining words.
pub(super) fn unmarked(raw: &str) -> (Option<String>, String) {
    let words: Vec<&str> = raw.split_whitespace().collect();
    let mut words = words.as_slice();
    let mut label = None;
    while let [first, others @ ..] = words
        && !others.is_empty()
        && is_marker(first)
    {
        if first.chars().any(char::is_alphabetic) {
            label = Some(first.trim_matches(|character: char| !character.is_alphanumeric()).to_owned());
        }
        words = others;
    }
    (label, words.join(" "))
}

fn is_marker(word: &str) -> bool {
    // Bullets, boxes and pictures; but an opening quotation mark or an ellipsis belongs to the words.
    if word.chars().all(|character| !character.is_alphanumeric() && !"\"'“”‘’„«»…?!()[]&@".contains(character))
    {
        return true;
    }
    let inner = word.trim_start_matches(['(', '[']).trim_end_matches([')', ']', '.', ':']);
    let closed = inner.len() < word.len();
    let has_digit = inner.chars().any(|character| character.is_ascii_digit());
    let numbering = inner.chars().all(|character| character.is_ascii_digit() || character == '.');
    // "2.4.1", "3." and "(b)", but not "24" of "24 users" nor "2.5" of "2.5 seconds".
    if numbering && has_digit {
        return closed || inner.matches('.').count() >= 2;
    }
    if closed && inner.len() == 1 && word.ends_with(')') {
        return true;
    }
    // "REQ-12", "FR3:", "NFR-07", "R-1.2"
    let prefix = inner.trim_end_matches(|character: char| character.is_ascii_digit() || "-._".contains(character));
    has_digit
        && !prefix.is_empty()
        && prefix.len() <= 8
        && prefix.chars().all(|character| character.is_ascii_uppercase() || character == '-' || character == '_')
        && (inner.contains('-') || closed || prefix.len() >= 2 && prefix.contains('R'))
}
