//! The sources of all entries as footnotes, in the order in which the body refers to them.

use std::io::{self, Write};

use super::markup::{WORD_NAMESPACE, WordMarkup};
use crate::outline::{sections, source_line};
use crate::references::RequirementCodes;
use crate::specification::{SourceEntry, Specification};

pub(super) fn footnotes<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    specification: &Specification,
    codes: &RequirementCodes<'_>,
) -> io::Result<()> {
    markup.start("w:footnotes", &[("xmlns:w", WORD_NAMESPACE)])?;
    separator(markup, "-1", "separator", "w:separator")?;
    separator(markup, "0", "continuationSeparator", "w:continuationSeparator")?;
    let words = markup.words();
    let sources = sections(specification, words, codes)
        .into_iter()
        .flat_map(|section| section.entries)
        .flat_map(|entry| entry.sources);
    for (source, number) in sources.zip(1_usize..) {
        footnote(markup, source, number)?;
    }
    markup.end("w:footnotes")
}

/// The line between the text and the footnotes.
fn separator<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    id: &'static str,
    kind: &'static str,
    mark: &'static str,
) -> io::Result<()> {
    let direction = markup.page();
    markup.start("w:footnote", &[("w:type", kind), ("w:id", id)])?;
    markup.paragraph("FootnoteText", direction, |markup| markup.run(None, false, |markup| markup.empty(mark, &[])))?;
    markup.end("w:footnote")
}

fn footnote<W: Write>(markup: &mut WordMarkup<'_, W>, source: &SourceEntry, number: usize) -> io::Result<()> {
    let (words, direction) = (markup.words(), markup.page());
    markup.start("w:footnote", &[("w:id", &number.to_string())])?;
    markup.paragraph("FootnoteText", direction, |markup| {
        markup.run(Some("FootnoteReference"), false, |markup| markup.empty("w:footnoteRef", &[]))?;
        markup.line(" ", None, direction)?;
        markup.inline(&source_line(words, source))
    })?;
    if !source.quote.trim().is_empty() {
        markup.text_paragraph("FootnoteQuote", &source.quote)?;
    }
    markup.end("w:footnote")
}
