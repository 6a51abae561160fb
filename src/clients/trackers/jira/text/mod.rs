//! Plain text as Jira stores it: without control characters, and measured as Jira measures it.

use super::super::{IssueBlock, IssueRefusal};

/// The longest summary, in UTF-16 code units.
const SUMMARY: usize = 255;

/// A text without characters that Jira refuses or changes: control characters and those that XML can't hold are removed, line
/// ends become `\n`, tabs spaces.
pub(super) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let signs = text.chars().filter_map(|sign| match sign {
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some('\n'),
        '\t' => Some(' '),
        '\u{fffe}' | '\u{ffff}' => None,
        _ if sign.is_control() => None,
        _ => Some(sign),
    });
    signs.collect()
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The length of a text as Jira counts it, in UTF-16 code units.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A title as a summary: cut at a word where it is too long.
pub(super) fn summary(title: &str) -> String {
    let line = one_line(title);
    if length(&line) <= SUMMARY {
        return line;
    }
    // One unit is for the sign that says that it is cut.
    let mut units = 0;
    let kept: String = line
        .chars()
        .take_while(|sign| {
            units += sign.len_utf16();
            units < SUMMARY
        })
        .collect();
    let at_word = kept.rfind(' ').and_then(|end| kept.get(..end)).filter(|head| length(head) > SUMMARY / 2);
    format!("{}…", at_word.unwrap_or(&kept).trim_end())
}

/// The blocks of a description: a title that is too long for a summary comes first.
pub(super) fn with_title(title: &str, blocks: &[IssueBlock]) -> Vec<IssueBlock> {
    let line = one_line(title);
    let title = (length(&line) > SUMMARY).then_some(IssueBlock::Paragraph(line));
    title.into_iter().chain(blocks.iter().cloned()).collect()
}

/// Leaves out quotes, from the end, until `size` of the blocks is at most `most`, and says in a last line how many.
pub(super) fn fitting(
    blocks: Vec<IssueBlock>,
    most: usize,
    size: impl Fn(&[IssueBlock]) -> usize,
) -> Result<Vec<IssueBlock>, IssueRefusal> {
    if size(&blocks) <= most {
        return Ok(blocks);
    }
    let quotes = blocks.iter().filter(|block| is_quote(block)).count();
    // The more quotes are left out, the shorter it gets: the least number that is enough is searched for by halves.
    let (mut enough, mut low) = (None, 1);
    let mut high = quotes;
    while low <= high {
        let dropped = low.midpoint(high);
        let tried = without_quotes(&blocks, dropped, quotes);
        if size(&tried) <= most {
            enough = Some(tried);
            high = dropped - 1;
        } else {
            low = dropped + 1;
        }
    }
    enough.ok_or_else(|| IssueRefusal {
        code: "TooLong",
        message: format!("The description is longer than the {most} characters that Jira takes."),
    })
}

fn without_quotes(blocks: &[IssueBlock], dropped: usize, quotes: usize) -> Vec<IssueBlock> {
    let mut seen = 0;
    let mut kept: Vec<IssueBlock> = blocks
        .iter()
        .filter(|block| {
            let is_quote = is_quote(block);
            seen += usize::from(is_quote);
            !is_quote || seen <= quotes - dropped
        })
        .cloned()
        .collect();
    let sources = if dropped == 1 { "source is" } else { "sources are" };
    kept.push(IssueBlock::Paragraph(format!("… {dropped} more {sources} in Colloquy.")));
    kept
}

/// Whether a block is a quote that shows anything.
fn is_quote(block: &IssueBlock) -> bool {
    matches!(block, IssueBlock::Quote { text, .. } if !is_blank(text))
}

/// Whether nothing of a text is shown.
pub(super) fn is_blank(text: &str) -> bool {
    clean(text).trim().is_empty()
}

#[cfg(test)]
mod tests;
