//! Where one sentence ends and the next begins, in prose, lists, table cells and speech.
//!
//! Works on bytes of one block and never across blocks. A line break inside a paragraph is no end; a full stop after an
//! abbreviation, an initial or a leading number is none either.

use std::ops::Range;

/// Words after which a full stop ends nothing, lower case and without the stop.
const ABBREVIATIONS: [&str; 26] = [
    "e.g", "i.e", "etc", "mr", "mrs", "ms", "dr", "prof", "vs", "approx", "incl", "excl", "resp", "cf", "st", "inc",
    "ltd", "corp", "a.m", "p.m", "al", "ca", "dept", "tel", "est", "ext",
];
/// Words after which a full stop ends nothing if a figure follows: "no. 5", "Sec. 3", "5 Jan. 2027".
const BEFORE_FIGURES: [&str; 26] = [
    "no", "nos", "fig", "figs", "sec", "art", "arts", "max", "min", "ref", "para", "vol", "ed", "p", "pp", "jan",
    "feb", "mar", "apr", "jun", "jul", "aug", "sept", "oct", "nov", "dec",
];

/// The sentences of `text` as byte ranges, trimmed, in order, none empty.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let after = at + letter.len_utf8();
        let end = match letter {
            '.' | '!' | '?' | '…' => stop_at(text, start, at, letter),
            '。' | '！' | '？' | '؟' | '۔' | '।' => Some(after),
            '\n' => break_at(text, start, at).then_some(after),
            _ => None,
        };
        if let Some(end) = end {
            push_trimmed(text, start..end, &mut found);
            start = end;
            while letters.peek().is_some_and(|&(next, _)| next < end) {
                letters.next();
            }
        }
    }
    push_trimmed(text, start..text.len(), &mut found);
    found
}

/// The cells of a table row as byte ranges, trimmed, none empty. Cells are parted by tabs or by bars.
pub fn cells(row: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, letter) in row.char_indices() {
        if letter == '\t' || letter == '|' {
            push_trimmed(row, start..at, &mut found);
            start = at + letter.len_utf8();
        }
    }
    push_trimmed(row, start..row.len(), &mut found);
    found
}

/// The end of the sentence whose closing mark stands at `at`, or `None` if it goes on.
fn stop_at(text: &str, start: usize, at: usize, mark: char) -> Option<usize> {
    let rest = text.get(at + mark.len_utf8()..)?;
    let closing = rest.len() - rest.trim_start_matches(['.', '!', '?', '…', '"', '\'', '”', '’', ')', ']', '»']).len();
    let end = at + mark.len_utf8() + closing;
    let after = text.get(end..)?;
    let next = after.chars().next();
    match next {
        None => return Some(end),
        Some(letter) if !letter.is_whitespace() => return None,
        Some(_) => {}
    }
    if mark != '.' {
        return Some(end);
    }
    let before = text.get(start..at)?;
    let word = before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next().unwrap_or_default();
    let opens = after.trim_start().chars().next();
    if is_leading_number(before, word) || is_initial(word) {
        return None;
    }
    let lower = word.to_lowercase();
    if BEFORE_FIGURES.contains(&lower.as_str()) && opens.is_some_and(|letter| letter.is_ascii_digit()) {
        return None;
    }
    if ABBREVIATIONS.contains(&lower.as_str()) {
        // "etc." does end a sentence when a capital follows; titles and "e.g." never do.
        let ends = matches!(lower.as_str(), "etc" | "a.m" | "p.m" | "inc" | "ltd" | "al")
            && opens.is_some_and(char::is_uppercase);
        return ends.then_some(end);
    }
    // A small letter after a full stop is the rest of something that only looked like an end.
    if opens.is_some_and(char::is_lowercase) { None } else { Some(end) }
}

/// "3." or "2.4." or "a." at the very start numbers the sentence.
fn is_leading_number(before: &str, word: &str) -> bool {
    let number = !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    number && before.trim_start().len() == word.len()
}

/// "J." of a name; "I." would rather be the end of a sentence, but people rarely end with it.
fn is_initial(word: &str) -> bool {
    let mut letters = word.chars();
    matches!((letters.next(), letters.next()), (Some(first), None) if first.is_uppercase())
}

/// Whether a line break ends a sentence: a blank line, a lead-in's colon, or a list marker on the next line.
fn break_at(text: &str, start: usize, at: usize) -> bool {
    let before = text.get(start..at).unwrap_or_default().trim_end();
    let after = text.get(at + 1..).unwrap_or_default();
    let line = after.lines().next().unwrap_or_default();
    if line.trim().is_empty() {
        return true;
    }
    before.ends_with(':') || before.ends_with(';') || begins_with_marker(line)
}

/// "- ", "• ", "3) ", "(a) " or "2.1 " at the start of a line.
fn begins_with_marker(line: &str) -> bool {
    let line = line.trim_start();
    let marker = line.split_whitespace().next().unwrap_or_default();
    if matches!(marker, "-" | "–" | "•" | "*" | "▪" | "◦" | "o" | "·") {
        return true;
    }
    let inner = marker.trim_start_matches('(').trim_end_matches([')', '.']);
    let closed = marker.ends_with(')') || (marker.ends_with('.') && inner.len() <= 2);
    closed && !inner.is_empty() && inner.len() <= 3 && inner.chars().all(|letter| letter.is_ascii_alphanumeric())
}

fn push_trimmed(text: &str, range: Range<usize>, into: &mut Vec<Range<usize>>) {
    let Some(part) = text.get(range.clone()) else { return };
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.end - (part.len() - part.trim_end().len());
    if start < end {
        into.push(start..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
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
        let found: Vec<&str> = cells(row).into_iter().map(|range| &row[range]).collect();
        assert_eq!(found, ["REQ-1", "The system shall log in.", "Must"]);
    }
}
