//! What is shown of a passage that was found.

use super::folding::{self, FoldedWord};
use super::model::{SearchMark, SearchTerm};

/// About how many characters an excerpt has.
const LENGTH: usize = 200;
/// How many of them stand before the first word that was found.
const BEFORE: usize = 60;

/// A part of a text, where it stands in the text, and the marks in it.
#[derive(Debug, PartialEq, Eq)]
pub struct TextExcerpt {
    pub text: String,
    pub start: usize,
    pub end: usize,
    pub marks: Vec<SearchMark>,
    /// Where the first word that was found stands in the text.
    pub first: usize,
}

/// The words of a text that a query asks for.
#[must_use]
pub fn marks(text: &str, terms: &[SearchTerm]) -> Vec<SearchMark> {
    let is_asked_for = |word: &FoldedWord| terms.iter().any(|term| term.is_met_by(&word.text));
    let found = folding::words(text).into_iter().filter(is_asked_for);
    found.map(|word| SearchMark { start_offset: word.start, end_offset: word.end }).collect()
}

/// The part of a text around the first word that was found; its beginning if there is none. It begins and ends between
/// words, unless a word is very long.
#[must_use]
pub fn excerpt(text: &str, terms: &[SearchTerm]) -> TextExcerpt {
    let signs: Vec<char> = text.chars().collect();
    let found = marks(text, terms);
    let first = found.first().map_or(0, |mark| mark.start_offset);
    let is_space = |at: &usize| signs.get(*at).is_none_or(|sign| sign.is_whitespace());
    let start = match first.checked_sub(BEFORE) {
        None | Some(0) => 0,
        Some(from) => (from..first).find(is_space).map_or(from, |space| space + 1),
    };
    let most = start.saturating_add(LENGTH);
    let end = if signs.len() <= most {
        signs.len()
    } else {
        (start + LENGTH / 2..=most).rev().find(is_space).unwrap_or(most)
    };
    let within = found.iter().filter(|mark| mark.start_offset >= start && mark.end_offset <= end);
    let moved =
        |mark: &SearchMark| SearchMark { start_offset: mark.start_offset - start, end_offset: mark.end_offset - start };
    let marks = within.map(moved).collect();
    TextExcerpt { text: signs.into_iter().skip(start).take(end - start).collect(), start, end, marks, first }
}

#[cfg(test)]
mod tests {
    use super::{SearchMark, SearchTerm, excerpt};

    fn term(word: &str) -> SearchTerm {
        SearchTerm { words: vec![word.to_owned()], beginnings: Vec::new() }
    }

    #[test]
    fn an_excerpt_is_cut_between_words_around_the_first_hit_and_its_marks_count_characters() {
        let text = format!("{}🦀 Die Größe zählt. {}", "wort ".repeat(100), "ende ".repeat(100));
        let found = excerpt(&text, &[term("grosse")]);
        let signs: Vec<char> = found.text.chars().collect();
        let [SearchMark { start_offset, end_offset }] = found.marks.as_slice() else { panic!("{found:?}") };
        assert_eq!(signs[*start_offset..*end_offset].iter().collect::<String>(), "Größe");
        assert!(found.text.starts_with("wort ") && found.text.ends_with("ende"), "{}", found.text);
        assert!((150..=200).contains(&signs.len()), "{}", signs.len());
        assert_eq!(text.chars().skip(found.start).take(found.end - found.start).collect::<String>(), found.text);
    }

    #[test]
    fn a_short_text_is_whole_and_a_word_without_an_end_is_cut() {
        assert_eq!(excerpt("Short.", &[term("x")]).text, "Short.");
        assert_eq!(excerpt("", &[term("x")]).text, "");
        assert_eq!(excerpt(&"x".repeat(5_000), &[term("y")]).text.len(), 200);
    }
}
