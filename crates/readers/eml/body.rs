//! The plain text of a mail: paragraphs, quotations of earlier mails, the signature.

use super::super::draft::TextDraft;
use super::super::source::BlockKind;
use super::super::text;
use super::parts::Flowed;

/// Maximum characters of the line that says who wrote a quotation.
const ATTRIBUTION: usize = 300;
/// Maximum number of lines of a signature, with its mark and the empty lines behind it.
const SIGNATURE_LINES: usize = 16;

/// Lines that are quoted as often as each other.
struct Passage {
    quotes: usize,
    text: String,
}

/// Writes the plain text of a mail.
pub fn write(body: &str, flowed: Flowed, draft: &mut TextDraft) {
    let passages = passages(body, flowed);
    for (at, passage) in passages.iter().enumerate() {
        let (said, signature) = without_signature(&passage.text);
        let mut written = text::draft(said);
        if passages.get(at + 1).is_some_and(|next| next.quotes > passage.quotes)
            && written.last_words().is_some_and(|words| says_who(&words))
        {
            written.mark_last(BlockKind::Boilerplate);
        }
        draft.adopt(&written, 1, passage.quotes > 0);
        if let Some(signature) = signature {
            draft.block(BlockKind::Boilerplate, signature);
        }
        if draft.is_full() {
            break;
        }
    }
}

/// Divides a body by the number of marks before its lines, which are taken away.
fn passages(body: &str, flowed: Flowed) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let mut goes_on = false;
    for line in body.lines() {
        let (quotes, content) = unquoted(line);
        // A space is put before lines that would otherwise look like a mark.
        let content =
            if flowed == Flowed::No || quotes > 0 { content } else { content.strip_prefix(' ').unwrap_or(content) };
        let is_soft = flowed != Flowed::No && content.ends_with(' ') && !is_signature_mark(content);
        let content = if is_soft && flowed == Flowed::DeletesSpace {
            content.strip_suffix(' ').unwrap_or(content)
        } else {
            content
        };
        match passages.last_mut().filter(|last| last.quotes == quotes) {
            Some(last) => {
                if !goes_on {
                    last.text.push('\n');
                }
                last.text.push_str(content);
            }
            None => passages.push(Passage { quotes, text: content.to_owned() }),
        }
        goes_on = is_soft;
    }
    passages
}

/// Returns how often a line is quoted and what is in it. Marks follow each other with a space between them at most.
fn unquoted(line: &str) -> (usize, &str) {
    let mut quotes = 0;
    let mut rest = line;
    while let Some(inner) = rest.strip_prefix('>').or_else(|| rest.strip_prefix(" >").filter(|_| quotes > 0)) {
        quotes += 1;
        rest = inner;
    }
    if quotes > 0 { (quotes, rest.strip_prefix(' ').unwrap_or(rest)) } else { (0, line) }
}

fn is_signature_mark(line: &str) -> bool {
    matches!(line.trim_end_matches('\r'), "-- " | "--")
}

/// Divides a text at the last mark of a signature. What is longer than signatures are is text under a line.
fn without_signature(text: &str) -> (&str, Option<&str>) {
    let mut at = text.len();
    for line in text.rsplit('\n').take(SIGNATURE_LINES) {
        let start = at - line.len();
        if is_signature_mark(line) {
            return (text.get(..start).unwrap_or_default(), text.get(at..));
        }
        at = start.saturating_sub(1);
    }
    (text, None)
}

/// Whether this is the line before a quotation that says who wrote it, and when.
fn says_who(words: &str) -> bool {
    words.trim_end().ends_with(':')
        && words.chars().count() <= ATTRIBUTION
        && words.chars().any(|character| character.is_ascii_digit() || character == '@')
}
