//! Recognises the messages of a conversation that was copied from a chat: `[10:02] Ana: text`, `**Ana** (10:02): text`,
//! `Ana: text`.

use std::sync::LazyLock;

use regex::Regex;

use super::transcript::named;

/// A day before the time, a time, and what is around them.
const STAMP: &str = concat!(
    r"[\[(]?(?:\d{4}-\d{2}-\d{2}[T,]?\s?|",
    r"\d{1,2}[./]\d{1,2}[./]\d{2,4},?\s)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\.?)?[\])]?"
);
/// One to four words, each with a capital letter or one of those within names.
const NAME: &str = concat!(
    r"@?\p{Lu}[\p{L}\p{M}\d.'’-]*(?: (?:\p{Lu}[\p{L}\p{M}\d.'’-]*|\(\p{L}+\)|de|da|del|der|den|di|la|van|von|",
    r"bin|ben|al)){0,3}"
);

/// Whether a paragraph is a conversation: its first line and at least one other begin a message.
pub fn are_in(paragraph: &str) -> bool {
    let mut lines = paragraph.lines();
    lines.next().is_some_and(begins) && lines.any(begins)
}

/// Whether a line, as it is written in Markdown, begins a message.
pub fn begins(line: &str) -> bool {
    static TIMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        // The time first and then a name, or a name first and then the time.
        Regex::new(&format!(r"^(?:{STAMP}\s*[-–—|]?\s*{NAME}\s*:|{NAME}\s*,?\s*{STAMP}\s*(?::|$|[-–—|]\s))")).ok()
    });
    static ALONE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("^{NAME}$")).ok());
    // Longer lines have their name at the beginning all the same.
    let start: String = line.chars().take(HEAD).collect();
    let start = start.trim_start_matches(['>', ' ', '\t']);
    let is_marked = start.starts_with(['*', '_']);
    let plain: String = start.chars().filter(|mark| !matches!(mark, '*' | '_' | '\\')).collect();
    let plain = plain.trim();
    let is_timed = TIMED.as_ref().is_some_and(|timed| timed.is_match(plain));
    let is_name = |name: &str| is_marked || ALONE.as_ref().is_some_and(|alone| alone.is_match(name));
    is_timed || named(plain).is_some_and(|(name, _)| is_name(name))
}

/// How many characters of a line are looked at.
const HEAD: usize = 200;

#[cfg(test)]
mod tests {
    use super::super::{BlockKind, Format, read, slice};

    fn paragraphs(markdown: &str) -> Vec<String> {
        let source = read(Format::Markdown, markdown.as_bytes()).unwrap();
        assert!(source.blocks.iter().all(|block| block.kind == BlockKind::Paragraph));
        source
            .blocks
            .iter()
            .map(|one| slice(&source.text, one.start_offset, one.end_offset).unwrap().to_owned())
            .collect()
    }

    #[test]
    fn messages_stay_apart() {
        let chats = [
            "**Ana** (10:02): We need an export.\n**Bo** (10:03): As CSV?\nOr as XLSX?\n**Ana** (10:04): Both.",
            "[10:02] Ana: We need an export.\n[10:03] Bo: As CSV?\nOr as XLSX?\n[10:04] Ana: Both.",
            "Ana: We need an export.\nBo: As CSV?\nOr as XLSX?\nAna: Both.",
            "**Ana Ruiz:** We need an export.\n**Bo:** As CSV?\nOr as XLSX?\n**Ana Ruiz:** Both.",
            "2026-03-02 10:02 - Ana: We need an export.\n2026-03-02 10:03 - Bo: As CSV?\nOr as XLSX?\n2026-03-02 10:04 - Ana: Both.",
            "Ana Ruiz 10:02 AM  \nWe need an export.\nBo, 10:03 AM\nAs CSV? Or as XLSX?\nAna Ruiz 10:04 AM\nBoth.",
            "_Ana_ [10:02]: We need an export.\n_Bo_ [10:03]: As CSV?\nOr as XLSX?\n_Ana_ [10:04]: Both.",
        ];
        for chat in chats {
            let found = paragraphs(chat);
            assert_eq!(found.len(), 3, "{found:?}");
            assert!(found[0].starts_with("Ana") || found[0].contains("10:02"), "{found:?}");
            assert!(found[1].contains("Bo") && found[1].ends_with("Or as XLSX?"), "{found:?}");
            assert!(found[2].ends_with("Both."));
        }
    }

    #[test]
    fn lines_of_prose_stay_joined() {
        for prose in [
            "The export is to be\nfast: it takes a second.",
            "We met at 10:02 and\nAna said: we need an export.\nBo agreed.",
            "Ana: we need an export of all cases\nthat were closed this year.",
            "Note: the export is\nDecision: it is CSV.",
            "The clinic opens at\n10:02 on Mondays.\n10:03 is too late.",
        ] {
            assert_eq!(paragraphs(prose).len(), 1, "{prose}");
        }
    }

    #[test]
    fn messages_in_a_quotation_stay_apart_too() {
        let source = read(Format::Markdown, b"> [10:02] Ana: Fast.\n> [10:03] Bo: Safe.").unwrap();
        assert_eq!(source.text, "[10:02] Ana: Fast.\n\n[10:03] Bo: Safe.");
        assert!(source.blocks.iter().all(|block| block.kind == BlockKind::Quote));
    }
}
