//! Plain text reader: keeps the text as it is and finds its blocks by blank lines, list markers, headings and line
//! lengths.

use std::borrow::Cow;
use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use regex::Regex;

use super::draft::{TextDraft, printable};
use super::source::{BlockKind, SourceText, Unreadable};

/// Decodes UTF-8 or UTF-16 by a byte order mark, else UTF-8 if it is valid, else Windows-1252 (which includes the
/// letters of Latin-1).
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0;
    }
    // The start of a file may end within a character: that alone does not make it Windows-1252.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) if error.error_len().is_none() => UTF_8.decode_without_bom_handling(bytes).0,
        Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0,
    }
}

/// A line of the text with its position in characters.
struct TextLine<'a> {
    content: &'a str,
    start: usize,
    length: usize,
}

/// Reads plain text. The resulting text is the file's, except for control characters and line ends.
///
/// # Errors
/// `TooLarge` past a limit of [`TextDraft`].
pub fn read(text: &str) -> Result<SourceText, Unreadable> {
    draft(text).finish()
}

/// Reads plain text that is a part of something else.
pub fn draft(text: &str) -> TextDraft {
    let text = printable(text.trim_start_matches('\u{feff}'));
    let mut draft = TextDraft::verbatim(text.clone());
    if draft.is_full() {
        return draft;
    }
    let mut start = 0;
    let mut paragraph: Vec<TextLine> = Vec::new();
    for content in text.split('\n') {
        let length = content.chars().count();
        if content.trim().is_empty() {
            blocks_of(&std::mem::take(&mut paragraph), &mut draft);
        } else {
            paragraph.push(TextLine { content, start, length });
        }
        start += length + 1;
    }
    blocks_of(&paragraph, &mut draft);
    draft
}

/// Characters of the longest line of text that was wrapped. Narrower lines are lists or verse; wider ones were not
/// wrapped at all.
const WRAPPED: std::ops::RangeInclusive<usize> = 40..=120;

fn blocks_of(lines: &[TextLine], draft: &mut TextDraft) {
    if let [line] = lines
        && let Some(level) = heading_level(line.content.trim())
    {
        let (start, end) = extent(line, line);
        draft.mark_heading(level, line.content.trim(), start, end);
        return;
    }
    if let [title, rule] = lines
        && let Some(level) = underline_level(rule.content)
    {
        let (start, end) = extent(title, title);
        draft.mark_heading(level, title.content.trim(), start, end);
        return;
    }
    let width = lines.iter().map(|line| line.content.trim_end().chars().count()).max().unwrap_or(0);
    let mut open: Option<(BlockKind, &TextLine, &TextLine)> = None;
    for line in lines {
        let starts_item = is_list_item(line.content);
        open = match open {
            Some((kind, first, last)) if !starts_item && wrapped(last, line, width) => Some((kind, first, line)),
            before => {
                mark(before, draft);
                let kind = if starts_item { BlockKind::ListItem } else { BlockKind::Paragraph };
                Some((kind, line, line))
            }
        };
    }
    mark(open, draft);
}

fn mark(block: Option<(BlockKind, &TextLine, &TextLine)>, draft: &mut TextDraft) {
    if let Some((kind, first, last)) = block {
        let (start, end) = extent(first, last);
        draft.mark(kind, start, end);
    }
}

/// Whether the line end comes from wrapping: the first word of the next line would not have fitted on this one.
fn wrapped(line: &TextLine, next: &TextLine, width: usize) -> bool {
    let first_word = next.content.split_whitespace().next().unwrap_or_default().chars().count();
    WRAPPED.contains(&width) && line.content.trim_end().chars().count() + 1 + first_word > width
}

fn extent(first: &TextLine, last: &TextLine) -> (usize, usize) {
    let indent = first.length - first.content.trim_start().chars().count();
    (first.start + indent, last.start + last.content.trim_end().chars().count())
}

/// Whether a line starts with a bullet or a number of its own.
pub fn is_list_item(line: &str) -> bool {
    static MARK: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^\s*(?:[-*+•◦▪‣●○■–\u{f0b7}]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S").ok());
    MARK.as_ref().is_some_and(|mark| mark.is_match(line))
}

/// Returns the level of a numbered heading ("3.2 Title" is 2), or `None` if the line reads like a sentence or a list
/// item.
pub fn heading_level(line: &str) -> Option<u8> {
    static NUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:(\d{1,2}(?:\.\d{1,2}){1,4})\.?|(\d{1,2})|(?i:(?:section|chapter|annex|appendix|",
            r"part) [0-9A-Z]{1,3}[.:]?))\s+\p{Lu}"
        ))
        .ok()
    });
    let found = NUMBERED.as_ref()?.captures(line)?;
    if !reads_like_a_title(line) {
        return None;
    }
    let dots = found.get(1).map_or(0, |number| number.as_str().matches('.').count());
    u8::try_from(dots + 1).ok()
}

/// Whether a line is short and has neither the end mark of a sentence nor one of the verbs that requirements use.
pub fn reads_like_a_title(line: &str) -> bool {
    const VERBS: [&str; 12] =
        ["shall", "must", "will", "should", "may", "can", "is", "are", "has", "have", "needs", "provides"];
    let words: Vec<String> = line.split_whitespace().map(str::to_lowercase).collect();
    words.len() <= 12
        && !line.ends_with(['.', ';', ',', ':', '?', '!'])
        && !words.iter().any(|word| VERBS.contains(&word.as_str()))
}

fn underline_level(line: &str) -> Option<u8> {
    let rule = line.trim();
    if rule.len() < 3 {
        return None;
    }
    match rule.chars().next()? {
        '=' if rule.chars().all(|c| c == '=') => Some(1),
        '-' if rule.chars().all(|c| c == '-') => Some(2),
        _ => None,
    }
}
