//! Makes a text of a stranger show as it is in Markdown: no markup, no HTML, no links, no mentions.

use crate::text::{clean, clean_line};

/// It takes no width and forbids a line break: what it stands in is no longer an address, a mention or the number of an issue. A backslash
/// does not stop renderers that look for these in the finished text.
const WORD_JOINER: char = '\u{2060}';

/// A text within a line, or as a list item or heading.
pub(super) fn inline(text: &str) -> String {
    escape_line(&clean_line(text))
}

/// A text of several lines as paragraphs of its own. Blank lines go, the others end with a hard break.
pub(super) fn block(text: &str) -> String {
    let cleaned = clean(text);
    let lines: Vec<String> =
        cleaned.lines().map(|line| escape_line(&clean_line(line))).filter(|line| !line.is_empty()).collect();
    lines.join("\\\n")
}

fn escape_line(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len() + line.len() / 8);
    let opening = opening_marker(line);
    for (index, character) in line.char_indices() {
        let rest = line.get(index + character.len_utf8()..).unwrap_or_default();
        if opening == Some(index) || is_markup(character) {
            escaped.push('\\');
        }
        escaped.push(character);
        let ends_www = rest.starts_with('.') && ends_with_www(&escaped);
        if character == '@'
            || (character == '#' && rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
            || (character == ':' && rest.starts_with("//"))
            || ends_www
        {
            escaped.push(WORD_JOINER);
        }
    }
    escaped
}

fn ends_with_www(text: &str) -> bool {
    let start = text.len().saturating_sub(3);
    text.get(start..).is_some_and(|ending| ending.eq_ignore_ascii_case("www"))
}

/// What has a meaning anywhere in a line, in CommonMark or in the extensions of GitHub, Pandoc and others.
fn is_markup(character: char) -> bool {
    matches!(
        character,
        '\\' | '`'
            | '*'
            | '_'
            | '{'
            | '}'
            | '['
            | ']'
            | '<'
            | '>'
            | '&'
            | '|'
            | '~'
            | '#'
            | '$'
            | '^'
            | '='
            | '%'
            | '!'
    )
}

/// Where the character is that makes the beginning of a line a list item or a rule: `- `, `+ `, `12. `, `3) `, `---`, or a definition `: `.
fn opening_marker(line: &str) -> Option<usize> {
    if line.starts_with(['-', '+', ':']) {
        return Some(0);
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && line.get(digits..)?.starts_with(['.', ')'])).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(inline("<b>x</b> & `c` *d* _e_"), "\\<b\\>x\\</b\\> \\& \\`c\\` \\*d\\* \\_e\\_");
        assert_eq!(inline("![a](http://x.y)"), "\\!\\[a\\](http:\u{2060}//x.y)");
        assert_eq!(inline("WWW.x.y"), "WWW\u{2060}.x.y");
        assert_eq!(inline("@ada #12 a@b.c"), "@\u{2060}ada \\#\u{2060}12 a@\u{2060}b.c");
        assert_eq!(inline("a\n# b"), "a \\# b");
        assert_eq!(block("---\n12. a\n\n    + b\n=== | c"), "\\---\\\n12\\. a\\\n\\+ b\\\n\\=\\=\\= \\| c");
        assert_eq!(inline(""), "");
    }
}
