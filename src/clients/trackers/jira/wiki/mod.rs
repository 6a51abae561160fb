//! Descriptions in wiki markup, which Jira Data Center takes and returns. Texts of a story are escaped, so that they are shown
//! as they are.

use super::super::IssueBlock;
use super::adf::web_address;
use super::text::{clean, is_blank, one_line};

/// The blocks as markup. Those without any text are left out.
pub(super) fn markup(blocks: &[IssueBlock]) -> String {
    blocks.iter().filter_map(block).collect::<Vec<_>>().join("\n\n")
}

fn block(block: &IssueBlock) -> Option<String> {
    match block {
        IssueBlock::Heading(text) => Some(format!("h3. {}", shown(&one_line(text))?)),
        IssueBlock::Paragraph(text) => shown(text),
        IssueBlock::Criteria(criteria) => {
            let items: Vec<String> = criteria.iter().filter_map(|text| Some(format!("* {}", item(text)?))).collect();
            (!items.is_empty()).then(|| items.join("\n"))
        }
        IssueBlock::Quote { text, from } => {
            let quoted = shown(text)?;
            let from = shown(&one_line(from)).map(|from| format!("\n— {from}")).unwrap_or_default();
            Some(format!("{{quote}}\n{quoted}{from}\n{{quote}}"))
        }
        IssueBlock::Link { text, url } => {
            let text = shown(&one_line(if is_blank(text) { url } else { text }))?;
            let Some(address) = web_address(url) else { return Some(text) };
            Some(format!("[{text}|{}]", encoded(address.as_str())))
        }
    }
}

/// A list item ends at a blank line.
fn item(text: &str) -> Option<String> {
    let text = shown(text)?;
    Some(text.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n"))
}

/// `None` for a text without any sign that is shown.
fn shown(text: &str) -> Option<String> {
    let text = clean(text);
    let text = text.trim();
    (!text.is_empty()).then(|| text.split('\n').map(escaped).collect::<Vec<_>>().join("\n"))
}

/// A line with a backslash, or a character reference where that does not do, at each sign that could be read as markup.
fn escaped(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let dot = heading_dot(line);
    let mut escaped = String::with_capacity(line.len() + 16);
    let mut before = None;
    let mut signs = line.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let after = signs.peek().map(|(_, next)| *next);
        let is_inside_word = before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
        match sign {
            // Two of them would be a line break.
            '\\' => escaped.push_str("&#92;"),
            '&' if after.is_some_and(|next| next == '#' || next.is_ascii_alphanumeric()) => escaped.push_str("&amp;"),
            '{' | '}' | '[' | ']' | '!' | '|' | '(' => escaped.extend(['\\', sign]),
            '*' | '_' | '-' | '+' | '^' | '~' if !is_inside_word => escaped.extend(['\\', sign]),
            '?' if before == Some('?') || after == Some('?') => escaped.extend(['\\', sign]),
            '#' if at == indent || before == Some('#') => escaped.extend(['\\', sign]),
            // Smileys.
            ':' | ';' if after.is_some_and(|next| matches!(next, ')' | '(' | 'P' | 'p' | 'D')) => {
                escaped.extend(['\\', sign]);
            }
            '.' if Some(at) == dot => escaped.push_str("\\."),
            _ => escaped.push(sign),
        }
        before = Some(sign);
    }
    escaped
}

/// Where the dot is that makes a line a heading or a quote.
fn heading_dot(line: &str) -> Option<usize> {
    let dot = line.find('.')?;
    let word = line.get(..dot)?.trim_start();
    matches!(word, "bq" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6").then_some(dot)
}

/// An address without the signs that end a link.
fn encoded(address: &str) -> String {
    let signs = address.chars().map(|sign| match sign {
        '|' | '[' | ']' | '{' | '}' | '\\' => format!("%{:02X}", u32::from(sign)),
        _ => sign.to_string(),
    });
    signs.collect()
}

#[cfg(test)]
mod tests;
