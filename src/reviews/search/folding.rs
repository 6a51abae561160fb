//! Words as they are compared: without case, accents and the variants of writing that searchers do not care for.
//!
//! Each character is decomposed (NFKD) and put into lower case, by itself, so that a word knows where it stands in the
//! original. Accents go ("Größe" → "grosse"), and in Arabic the vowel signs and tatweel; the forms of alef, ya and ta
//! marbuta are one, and the article is taken off.

use unicode_normalization::char::decompose_compatible;

/// Longer words are cut: nobody types them.
const MAX_WORD_LENGTH: usize = 64;
/// Characters that stand for many letters make no longer words than this: PostgreSQL refuses those of 2,047 bytes.
const MAX_WORD_BYTES: usize = 1_024;
/// The Arabic article, with what is written together with it.
const ARTICLES: [&str; 6] = ["وال", "فال", "بال", "كال", "ال", "لل"];
/// So many letters have to remain of a word whose article is taken off.
const STEM: usize = 3;

/// A folded word, and where it stands in the text, in Unicode scalar values; the end is exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedWord {
    pub text: String,
    pub start: usize,
    pub end: usize,
}

/// The words of a text.
#[must_use]
pub fn words(text: &str) -> Vec<FoldedWord> {
    let mut found = Vec::new();
    let mut open: Option<(FoldedWord, usize)> = None;
    for (at, sign) in text.chars().enumerate() {
        let (mut breaks, mut letters) = (false, String::new());
        decompose_compatible(sign, |part| match folded(part) {
            Folded::Ignored => {}
            Folded::Break => breaks = true,
            Folded::Letters(part) => letters.push_str(&part),
        });
        if breaks && letters.is_empty() {
            found.extend(open.take().map(closed));
            continue;
        }
        if letters.is_empty() {
            if let Some((word, _)) = &mut open {
                word.end = at + 1;
            }
            continue;
        }
        let start = FoldedWord { text: String::new(), start: at, end: at };
        let (word, length) = open.get_or_insert((start, 0));
        word.end = at + 1;
        if *length < MAX_WORD_LENGTH && word.text.len() + letters.len() <= MAX_WORD_BYTES {
            word.text.push_str(&letters);
            *length += 1;
        }
    }
    found.extend(open.map(closed));
    found
}

fn closed((mut word, _): (FoldedWord, usize)) -> FoldedWord {
    word.text = stem(&word.text, STEM).to_owned();
    word
}

/// A word without the Arabic article, if at least so many letters remain.
#[must_use]
pub fn stem(word: &str, remaining: usize) -> &str {
    let without = ARTICLES.iter().find_map(|article| word.strip_prefix(article));
    without.filter(|rest| rest.chars().count() >= remaining).unwrap_or(word)
}

/// The start of a word that is still being typed: what words whose article was taken off begin with, if it has one.
#[must_use]
pub fn begun(word: &str) -> Option<&str> {
    let rest = stem(word, 1);
    (rest.len() < word.len()).then_some(rest)
}

enum Folded {
    Ignored,
    Break,
    Letters(String),
}

fn folded(sign: char) -> Folded {
    match sign {
        // Accents; Hebrew points; Arabic vowel signs and tatweel; signs without width.
        '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' => {
            Folded::Ignored
        }
        '\u{640}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{ad}' | '\u{200b}'..='\u{200f}' => Folded::Ignored,
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => Folded::Ignored,
        '\u{671}' => Folded::Letters("\u{627}".to_owned()),
        // Ta marbuta → ha; alef maqsura and the Persian ya → ya; the Persian kaf → kaf.
        '\u{629}' => Folded::Letters("\u{647}".to_owned()),
        '\u{649}' | '\u{6cc}' => Folded::Letters("\u{64a}".to_owned()),
        '\u{6a9}' => Folded::Letters("\u{643}".to_owned()),
        '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}' => Folded::Letters(digit(sign)),
        'ß' | 'ẞ' => Folded::Letters("ss".to_owned()),
        'ς' => Folded::Letters("σ".to_owned()),
        _ if sign.is_alphanumeric() => {
            // A capital may become a letter and an accent.
            Folded::Letters(sign.to_lowercase().filter(|lower| lower.is_alphanumeric()).collect())
        }
        _ => Folded::Break,
    }
}

/// An Arabic or Persian digit as a European one.
fn digit(sign: char) -> String {
    (u32::from(sign) & 0xf).to_string()
}

#[cfg(test)]
mod tests {
    use super::{begun, words};

    fn folded(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn what_searchers_do_not_tell_apart_is_folded_to_the_same() {
        assert_eq!(folded("Große GRÖSSE İstanbul ﬁne"), ["grosse", "grosse", "istanbul", "fine"]);
        assert_eq!(folded("REQ-012, don't"), ["req", "012", "don", "t"]);
        assert_eq!(folded("مُسْتَخْدِم مستخدم المستخدم والمستخدم مســتخدم"), ["مستخدم"; 5]);
        assert_eq!(folded("إدارة أدارة ادارة آداره"), ["اداره"; 4]);
        assert_eq!(folded("على علي ٢٤ ۲۴"), ["علي", "علي", "24", "24"]);
        assert_eq!(folded("ألم بالغ"), ["الم", "بالغ"], "what is no article stays");
        assert_eq!(folded("🦀 * % \" \0 () — …"), [""; 0]);
        assert_eq!(folded(&"x".repeat(10_000)), ["x".repeat(64)]);
        // Each is a sentence of fifteen letters, in words of two bytes a letter.
        let sentences = folded(&"\u{fdfa}".repeat(200));
        assert!(sentences.iter().all(|word| word.len() <= 1_024) && sentences.len() == 1, "{sentences:?}");
    }

    #[test]
    fn a_word_knows_where_it_stands_in_the_original() {
        let text = "🦀 Die Größe (مُحَمَّد)";
        let original: Vec<char> = text.chars().collect();
        let found: Vec<(String, String)> =
            words(text).into_iter().map(|word| (word.text, original[word.start..word.end].iter().collect())).collect();
        let pairs = [("die", "Die"), ("grosse", "Größe"), ("محمد", "مُحَمَّد")];
        assert_eq!(found, pairs.map(|(folded, original)| (folded.to_owned(), original.to_owned())));
    }

    #[test]
    fn a_word_that_is_being_typed_is_found_behind_its_article() {
        assert_eq!(begun("المس"), Some("مس"));
        assert_eq!(begun("login"), None);
    }
}
