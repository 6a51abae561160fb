//! Texts in GitHub's Markdown, so that they are shown as they are.
//!
//! A backslash keeps a sign from being markup, but not from being a mention or a reference: GitHub looks for these in the
//! text that the markup left. Between the signs that it looks for stands [`GAP`], as in the pull requests of Dependabot.

use std::mem::take;

/// A space without a width.
const GAP: &str = "&#8203;";
/// The lengths of a commit's abbreviated or whole id.
const COMMIT_DIGITS: std::ops::RangeInclusive<usize> = 7..=40;

/// Returns the lines of each paragraph of a text, escaped.
pub fn paragraphs(text: &str) -> Vec<Vec<String>> {
    let mut paragraphs = Vec::new();
    let mut current = Vec::new();
    for line in lines(text) {
        if line.is_empty() {
            paragraphs.push(take(&mut current));
        } else {
            current.push(literal(&line));
        }
    }
    paragraphs.push(current);
    paragraphs.retain(|lines| !lines.is_empty());
    paragraphs
}

/// Returns a text as one line, unescaped.
pub fn one_line(text: &str) -> String {
    let lines = lines(text);
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    words.collect::<Vec<&str>>().join(" ")
}

/// Indentation would begin a block of code, and spaces at the end break a line: both are left out.
fn lines(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
    lines
        .map(|line| {
            let visible: String = line.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
            visible.trim().to_owned()
        })
        .collect()
}

/// Escapes one line without spaces at its ends.
pub fn literal(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len() + line.len() / 4);
    let mut before = None;
    let mut signs = line.chars();
    loop {
        let rest = signs.as_str();
        let Some(sign) = signs.next() else { break };
        let after = signs.as_str();
        match sign {
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '|' => escaped.extend(['\\', sign]),
            '#' if begins_with_digit(after) => escaped.extend(["\\#", GAP]),
            '#' => escaped.push_str("\\#"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A formula begins with this sign, even behind a backslash. GitHub documents the element; the entity keeps the sign
            // from whoever looks for it before the markup is read.
            '$' => escaped.push_str("<span>&#36;</span>"),
            '@' => escaped.extend(["@", GAP]),
            ':' if after.starts_with("//") || begins_with_emoji(after) => escaped.extend([":", GAP]),
            '.' if ends_with(&escaped, "www") => escaped.extend([GAP, "."]),
            '-' if ends_with(&escaped, "gh") && begins_with_digit(after) => escaped.extend(["-", GAP]),
            _ => {
                escaped.push(sign);
                if is_before_commit(before) && begins_with_commit(rest) {
                    escaped.push_str(GAP);
                }
            }
        }
        before = Some(sign);
    }
    // Lists, underlines of headings and of tables.
    if line.starts_with(['-', '+', '=']) || line.starts_with(":-") {
        escaped.insert(0, '\\');
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    if (1..=9).contains(&digits) && escaped.get(digits..).is_some_and(|rest| rest.starts_with(['.', ')'])) {
        escaped.insert(digits, '\\');
    }
    escaped
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Whether a colon before this text begins the name of an emoji. One or two digits are no name, but a part of a time.
fn begins_with_emoji(text: &str) -> bool {
    let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '+' | '-');
    let Some((name, _)) = text.split_once(':') else { return false };
    let is_number = name.len() <= 2 && name.chars().all(|sign| sign.is_ascii_digit());
    !is_number && name.chars().all(is_of_name)
}

fn is_before_commit(sign: Option<char>) -> bool {
    sign.is_none_or(|sign| !sign.is_alphanumeric() && !matches!(sign, '-' | '_' | '.' | '/'))
}

/// Whether the first word is one that may be the id of a commit. A number is left alone, so that it can be copied.
fn begins_with_commit(text: &str) -> bool {
    let digits = text.chars().take_while(char::is_ascii_hexdigit).count();
    let word = text.get(..digits).unwrap_or_default();
    let goes_on = text
        .get(digits..)
        .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-'));
    COMMIT_DIGITS.contains(&digits) && !goes_on && word.contains(|sign: char| sign.is_ascii_alphabetic())
}

fn ends_with(text: &str, word: &str) -> bool {
    let end = text.len().checked_sub(word.len()).and_then(|start| text.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
