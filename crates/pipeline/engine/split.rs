//! Splits prose, lists, table cells and speech into sentences.
//!
//! Works on the bytes of one block and never across blocks. A line break inside a paragraph ends no sentence, nor does
//! a full stop after an abbreviation, an initial or a leading number. No sentence is longer than [`MAX_SENTENCE_LENGTH`], whatever
//! the text, so that the work per sentence is bounded. Each character is examined a few times at most.

use std::ops::Range;

/// Maximum characters of a sentence. A longer one is cut: at a white space in its second half, else at the limit.
pub const MAX_SENTENCE_LENGTH: usize = 2_000;

/// Words after which a full stop ends no sentence, in lower case and without the stop.
const ABBREVIATIONS: [&str; 26] = [
    "e.g", "i.e", "etc", "mr", "mrs", "ms", "dr", "prof", "vs", "approx", "incl", "excl", "resp", "cf", "st", "inc",
    "ltd", "corp", "a.m", "p.m", "al", "ca", "dept", "tel", "est", "ext",
];
/// Words after which a full stop ends no sentence if a figure follows: "no. 5", "Sec. 3", "5 Jan. 2027".
const BEFORE_FIGURES: [&str; 26] = [
    "no", "nos", "fig", "figs", "sec", "art", "arts", "max", "min", "ref", "para", "vol", "ed", "p", "pp", "jan",
    "feb", "mar", "apr", "jun", "jul", "aug", "sept", "oct", "nov", "dec",
];
/// Upper bound, in bytes, on the words in the lists above, however their capitals are written.
const MAX_ABBREVIATION_BYTES: usize = 24;

/// Returns the sentences of `text` as byte ranges, trimmed, in order, none empty.
pub fn sentences(text: &str) -> Sentences<'_> {
    Sentences { text, at: 0, has_ends: true, run: None }
}

/// Returns the whole of `text`, trimmed, in pieces of at most [`MAX_SENTENCE_LENGTH`].
pub fn pieces(text: &str) -> Sentences<'_> {
    Sentences { text, at: 0, has_ends: false, run: None }
}

/// Returns the cells of a table row as byte ranges, trimmed, none empty. Cells are separated by tabs or by bars.
pub fn cells(row: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    row.split(['\t', '|']).filter_map(move |cell| {
        let from = start + (cell.len() - cell.trim_start().len());
        start += cell.len() + 1;
        let cell = cell.trim();
        (!cell.is_empty()).then_some(from..from + cell.len())
    })
}

/// Iterator over the sentences of a text.
#[derive(Debug)]
pub struct Sentences<'a> {
    text: &'a str,
    at: usize,
    /// Whether punctuation and line breaks end a sentence.
    has_ends: bool,
    /// The run of closing marks that was examined last: all marks in it end at the same place.
    run: Option<CharacterRun>,
}

#[derive(Debug, Clone, Copy)]
struct CharacterRun {
    start: usize,
    end: usize,
    next: Option<char>,
    /// The first character after the run and the white space behind it.
    opens: Option<char>,
}

/// The state of the sentence that is being read.
struct OpenSentence {
    start: usize,
    /// Start of its last word.
    word: usize,
    /// Whether that word consists only of digits and stops.
    is_number: bool,
    /// The last character that is not white space.
    visible: Option<char>,
}

impl Iterator for Sentences<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..)?;
        let start = self.text.len() - rest.trim_start().len();
        let end = self.end_of(start);
        self.at = end;
        let sentence = self.text.get(start..end)?.trim_end();
        (!sentence.is_empty()).then_some(start..start + sentence.len())
    }
}

impl Sentences<'_> {
    fn end_of(&mut self, start: usize) -> usize {
        let text = self.text;
        let mut open = OpenSentence { start, word: start, is_number: true, visible: None };
        let mut space = None;
        for (count, (offset, character)) in text.get(start..).unwrap_or_default().char_indices().enumerate() {
            let at = start + offset;
            let after = at + character.len_utf8();
            if count >= MAX_SENTENCE_LENGTH {
                return space.unwrap_or(at);
            }
            let end = match character {
                '.' | '!' | '?' | '…' if self.has_ends => self.stop_at(&open, at, character),
                '。' | '！' | '？' | '؟' | '۔' | '।' if self.has_ends => Some(after),
                '\n' if self.has_ends => is_break(text, &open, after).then_some(after),
                _ => None,
            };
            if let Some(end) = end {
                return self.at_most(after, MAX_SENTENCE_LENGTH - count - 1, end);
            }
            if character.is_whitespace() && count * 2 >= MAX_SENTENCE_LENGTH {
                space = Some(after);
            }
            open.read(character, after);
        }
        text.len()
    }

    /// Returns `end`, or the position `characters` characters after `from` if that comes first.
    fn at_most(&self, from: usize, characters: usize, end: usize) -> usize {
        let closing = self.text.get(from..end).unwrap_or_default();
        closing.char_indices().nth(characters).map_or(end, |(offset, _)| from + offset)
    }

    /// Returns the end of the sentence whose closing mark is at `at`, or `None` if the sentence continues.
    fn stop_at(&mut self, open: &OpenSentence, at: usize, mark: char) -> Option<usize> {
        let CharacterRun { end, next, opens, .. } = self.run_at(at, mark)?;
        match next {
            None => return Some(end),
            Some(character) if !character.is_whitespace() => return None,
            Some(_) => {}
        }
        if mark != '.' {
            return Some(end);
        }
        let word = self.text.get(open.word..at)?;
        let is_leading_number = open.is_number && !word.is_empty() && open.word == open.start;
        if is_leading_number || is_initial(word) {
            return None;
        }
        let lower = if word.len() <= MAX_ABBREVIATION_BYTES { word.to_lowercase() } else { String::new() };
        if BEFORE_FIGURES.contains(&lower.as_str()) && opens.is_some_and(|character| character.is_ascii_digit()) {
            return None;
        }
        if ABBREVIATIONS.contains(&lower.as_str()) {
            // "etc." ends a sentence if a capital follows; titles and "e.g." never do.
            let ends = matches!(lower.as_str(), "etc" | "a.m" | "p.m" | "inc" | "ltd" | "al")
                && opens.is_some_and(char::is_uppercase);
            return ends.then_some(end);
        }
        // A lower-case letter after a full stop shows that the sentence continues.
        if opens.is_some_and(char::is_lowercase) { None } else { Some(end) }
    }

    /// Returns the run of marks, quotes and brackets that follow a mark, and the character after it. Each run is
    /// searched once, not again for each mark in it.
    fn run_at(&mut self, at: usize, mark: char) -> Option<CharacterRun> {
        if let Some(known) = self.run.filter(|run| (run.start..run.end).contains(&at)) {
            return Some(known);
        }
        let rest = self.text.get(at + mark.len_utf8()..)?;
        let after = rest.trim_start_matches(['.', '!', '?', '…', '"', '\'', '”', '’', ')', ']', '»']);
        let end = self.text.len() - after.len();
        let (next, opens) = (after.chars().next(), after.trim_start().chars().next());
        self.run = Some(CharacterRun { start: at, end, next, opens });
        self.run
    }
}

impl OpenSentence {
    fn read(&mut self, character: char, after: usize) {
        if character.is_whitespace() || character == '(' {
            self.word = after;
            self.is_number = true;
        } else {
            self.is_number = self.is_number && (character.is_ascii_digit() || character == '.');
        }
        if !character.is_whitespace() {
            self.visible = Some(character);
        }
    }
}

/// Whether a word is an initial, as "J." in a name. "I." could also end a sentence, but sentences rarely end with it.
fn is_initial(word: &str) -> bool {
    let mut chars = word.chars();
    matches!((chars.next(), chars.next()), (Some(first), None) if first.is_uppercase())
}

/// Whether a line break ends a sentence: a blank line, a colon or semicolon before it, or a list marker on the next
/// line.
fn is_break(text: &str, open: &OpenSentence, after: usize) -> bool {
    let rest = text.get(after..).unwrap_or_default();
    let line = rest.trim_start_matches(|character: char| character.is_whitespace() && character != '\n');
    if line.is_empty() || line.starts_with('\n') {
        return true;
    }
    matches!(open.visible, Some(':' | ';')) || begins_with_marker(line)
}

/// Whether a line starts with a list marker: "- ", "• ", "3) ", "(a) " or "2.1 ".
fn begins_with_marker(line: &str) -> bool {
    let marker = line.split_whitespace().next().unwrap_or_default();
    if matches!(marker, "-" | "–" | "•" | "*" | "▪" | "◦" | "o" | "·") {
        return true;
    }
    let inner = marker.trim_start_matches('(').trim_end_matches([')', '.']);
    let closed = marker.ends_with(')') || (marker.ends_with('.') && inner.len() <= 2);
    closed && !inner.is_empty() && inner.len() <= 3 && inner.chars().all(|character| character.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).map(|range| &text[range]).collect()
    }

    #[test]
    fn an_abbreviation_a_number_and_a_name_end_no_sentence() {
        let text =
            "Alerts (e.g. e-mail, SMS) go out at 5 p.m. Dr. J. Meyer agreed. 3.5 seconds is too slow! Is it? Yes.";
        assert_eq!(
            split(text),
            [
                "Alerts (e.g. e-mail, SMS) go out at 5 p.m.",
                "Dr. J. Meyer agreed.",
                "3.5 seconds is too slow!",
                "Is it?",
                "Yes."
            ]
        );
        assert_eq!(
            split("2. The system shall log in users. It logs them."),
            ["2. The system shall log in users.", "It logs them."]
        );
    }

    #[test]
    fn a_wrapped_line_goes_on_and_a_blank_one_ends() {
        assert_eq!(split("The system shall\nsend mail\n\nNext part"), ["The system shall\nsend mail", "Next part"]);
        assert_eq!(split("It shall:\n- read\n- write"), ["It shall:", "- read", "- write"]);
    }

    #[test]
    fn other_scripts_have_their_own_stops() {
        assert_eq!(split("系统必须登录。然后退出。"), ["系统必须登录。", "然后退出。"]);
        assert_eq!(split("هل يعمل؟ نعم."), ["هل يعمل؟", "نعم."]);
    }

    #[test]
    fn cells_are_parted_by_bars_and_tabs() {
        let row = "| REQ-1 |\tThe system shall log in. | Must |";
        let found: Vec<&str> = cells(row).map(|range| &row[range]).collect();
        assert_eq!(found, ["REQ-1", "The system shall log in.", "Must"]);
    }

    #[test]
    fn no_sentence_is_longer_than_the_longest_and_none_of_its_words_is_lost() {
        let long = "word ".repeat(1_000);
        for text in [long.trim().to_owned(), "w".repeat(4_500), format!("a{}", ".".repeat(4_500)), "ش".repeat(4_500)] {
            let found = split(&text);
            assert_eq!(found.len(), 3);
            assert!(found.iter().all(|sentence| sentence.chars().count() <= MAX_SENTENCE_LENGTH));
            let kept: usize =
                found.iter().map(|sentence| sentence.split_whitespace().map(str::len).sum::<usize>()).sum();
            assert_eq!(kept, text.split_whitespace().map(str::len).sum::<usize>());
        }
        assert!(split(&long).iter().all(|sentence| sentence.ends_with("word") && sentence.starts_with("word")));
        assert_eq!(pieces(&"One. Two. ".repeat(500)).count(), 3);
    }
}
