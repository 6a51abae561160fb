//! Texts of strangers, made harmless for files: characters that XML forbids, marks that reorder what follows, and beginnings that
//! spreadsheets take for formulas. Escaping for one format lives with the writer of that format.

use std::borrow::Cow;

use unicode_bidi::{Direction as FirstStrong, get_base_direction_full};

use crate::words::Direction;

/// The text as every format can carry it.
///
/// Line ends become `\n`. Control characters other than tab and line feed, noncharacters, tag characters and byte order marks are left
/// out, and so are the overrides that make letters run backwards (`U+202D`, `U+202E`); embeddings and isolates stay where they are closed
/// in their own line, are closed where they are not, and lone closing marks are left out. So nothing after the text changes its direction.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|character| {
        character == '\r' || is_line_end(character) || is_forbidden(character) || is_bidi_mark(character)
    }) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut open = OpenMarks::default();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\r' => open.end_line(&mut cleaned),
            _ if is_line_end(character) => open.end_line(&mut cleaned),
            _ if is_bidi_mark(character) => open.take(character, &mut cleaned),
            _ if is_forbidden(character) => {}
            _ => cleaned.push(character),
        }
    }
    open.close_all(&mut cleaned);
    Cow::Owned(cleaned)
}

/// [`clean`], in one line: line ends and tabs become spaces, and none is left at either end.
pub fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The direction of a text, by its first strong character outside isolates; none where it has none, such as `12:30`.
pub fn direction_of(text: &str) -> Option<Direction> {
    match get_base_direction_full(text) {
        FirstStrong::Ltr => Some(Direction::LeftToRight),
        FirstStrong::Rtl => Some(Direction::RightToLeft),
        FirstStrong::Mixed => None,
    }
}

/// Whether a spreadsheet could take the text for a formula or a command: it begins with `=`, `+`, `-`, `@` or one of their wide and small
/// forms, which some locales fold into them, also after blanks and invisible characters, or with a tab or a line end.
pub fn is_formula_like(text: &str) -> bool {
    text.starts_with(['\t', '\r', '\n'])
        || text
            .trim_start_matches(|c: char| c.is_whitespace() || is_bidi_mark(c) || is_invisible(c))
            .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫'])
}

/// The text with an apostrophe before it where a spreadsheet that opens it as plain text could take it for a formula.
pub fn inert(text: Cow<'_, str>) -> Cow<'_, str> {
    if is_formula_like(&text) { Cow::Owned(format!("'{text}")) } else { text }
}

/// The longest beginning of the text that takes at most `limit` UTF-16 code units, and the rest. A character is never torn.
pub fn split_at_utf16(text: &str, limit: usize) -> (&str, &str) {
    let mut units = 0;
    for (index, character) in text.char_indices() {
        units += character.len_utf16();
        if units > limit {
            return text.split_at_checked(index).unwrap_or((text, ""));
        }
    }
    (text, "")
}

/// Minutes and seconds of a moment in a recording: `7:05`, `83:20`.
pub fn minutes_and_seconds(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_forbidden(character: char) -> bool {
    (character.is_control() && !matches!(character, '\t' | '\n'))
        || matches!(character, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}' | '\u{e0000}'..='\u{e007f}')
        || u32::from(character) & 0xfffe == 0xfffe
}

fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The marks that change the direction of what follows until they are closed.
fn is_bidi_mark(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

const POP_FORMATTING: char = '\u{202c}';
const POP_ISOLATE: char = '\u{2069}';

/// Far below the 125 levels of UAX #9, at which renderers start to ignore marks.
const MAX_DEPTH: usize = 60;

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenMark {
    Isolate,
    Embedding,
    /// An override that was left out: its end is left out too.
    Dropped,
}

/// The marks that are open in the line, outermost first.
#[derive(Default)]
struct OpenMarks {
    open: Vec<OpenMark>,
    /// How many of them are isolates.
    isolates: usize,
}

impl OpenMarks {
    fn take(&mut self, mark: char, cleaned: &mut String) {
        match mark {
            POP_FORMATTING => match self.open.last() {
                Some(OpenMark::Embedding) => self.close_last(cleaned),
                Some(OpenMark::Dropped) => drop(self.open.pop()),
                Some(OpenMark::Isolate) | None => {}
            },
            // Where no isolate is open there is nothing to look for, however many others are.
            POP_ISOLATE => {
                let outside = self.isolates.saturating_sub(1);
                while self.isolates > outside {
                    self.close_last(cleaned);
                }
            }
            '\u{202d}' | '\u{202e}' => self.open.push(OpenMark::Dropped),
            _ if self.open.len() >= MAX_DEPTH => {}
            '\u{202a}' | '\u{202b}' => {
                self.open.push(OpenMark::Embedding);
                cleaned.push(mark);
            }
            _ => {
                self.open.push(OpenMark::Isolate);
                self.isolates += 1;
                cleaned.push(mark);
            }
        }
    }

    fn close_last(&mut self, cleaned: &mut String) {
        match self.open.pop() {
            Some(OpenMark::Isolate) => {
                self.isolates -= 1;
                cleaned.push(POP_ISOLATE);
            }
            Some(OpenMark::Embedding) => cleaned.push(POP_FORMATTING),
            Some(OpenMark::Dropped) | None => {}
        }
    }

    fn close_all(&mut self, cleaned: &mut String) {
        while !self.open.is_empty() {
            self.close_last(cleaned);
        }
    }

    fn end_line(&mut self, cleaned: &mut String) {
        self.close_all(cleaned);
        cleaned.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_cannot_carry_is_left_out_and_the_rest_is_untouched() {
        assert!(matches!(clean("Grüße, مرحبا, 🏳️‍🌈\tand\nmore"), Cow::Borrowed(_)));
        assert_eq!(clean("a\0b\u{1}c\u{1b}[31md\u{7f}e\u{9f}f\u{ffff}g\u{fdd0}h\u{1fffe}i\u{feff}"), "abc[31mdefghi");
        assert_eq!(clean("a\r\nb\rc\u{2028}d\u{85}e"), "a\nb\nc\nd\ne");
        assert_eq!(clean_line("  a\r\n\tb \u{2029} c\0 "), "a b c");
    }

    #[test]
    fn overrides_go_and_open_marks_end_with_their_line() {
        assert_eq!(clean("pay \u{202e}fdp.exe"), "pay fdp.exe");
        assert_eq!(clean("\u{202e}a\u{202c}b"), "ab");
        assert_eq!(clean("\u{202b}a\nb"), "\u{202b}a\u{202c}\nb");
        assert_eq!(clean("\u{2067}a"), "\u{2067}a\u{2069}");
        assert_eq!(clean("a\u{2069}b\u{202c}c"), "abc");
        assert_eq!(clean("\u{2068}a\u{202a}b\u{2069}c\u{202c}"), "\u{2068}a\u{202a}b\u{202c}\u{2069}c");
        assert_eq!(clean("\u{2066}a\u{2069}"), "\u{2066}a\u{2069}");
    }

    #[test]
    fn marks_without_number_are_balanced_and_bounded() {
        let cleaned = clean(&"\u{2067}".repeat(100_000)).into_owned();
        assert_eq!(cleaned.chars().filter(|c| *c == '\u{2067}').count(), MAX_DEPTH);
        assert_eq!(cleaned.chars().filter(|c| *c == '\u{2069}').count(), MAX_DEPTH);
    }

    #[test]
    fn the_first_strong_character_decides() {
        assert_eq!(direction_of("«مرحبا» world"), Some(Direction::RightToLeft));
        assert_eq!(direction_of("12. Hello مرحبا"), Some(Direction::LeftToRight));
        assert_eq!(direction_of("123 — 456\nשלום"), Some(Direction::RightToLeft));
        assert_eq!(direction_of("12:30 🙂"), None);
        assert_eq!(direction_of(""), None);
    }

    #[test]
    fn beginnings_of_formulas_are_found_behind_blanks_and_in_wide_forms() {
        for hostile in [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\rx",
            "\nx",
            "  =1",
            "\u{a0}=1",
            "＝1",
            "＋1",
            "－1",
            "＠x",
            "\u{200b}=1",
            "\u{200f}=1",
            "\u{2068}=1\u{2069}",
            "\u{feff}=1",
            "﹦1",
        ] {
            assert!(is_formula_like(hostile), "{hostile:?}");
            assert!(inert(hostile.into()).starts_with('\''), "{hostile:?}");
        }
        for harmless in ["", "a=1", "1-2", "'=1", "The system shall", "#REF", " ", "مرحبا"] {
            assert_eq!(inert(harmless.into()), harmless);
        }
    }

    #[test]
    fn a_text_is_split_between_characters() {
        assert_eq!(split_at_utf16("a🙂b", 2), ("a", "🙂b"));
        assert_eq!(split_at_utf16("a🙂b", 3), ("a🙂", "b"));
        assert_eq!(split_at_utf16("abc", 3), ("abc", ""));
        assert_eq!(split_at_utf16("", 0), ("", ""));
        assert_eq!(minutes_and_seconds(425_999), "7:05");
    }
}
