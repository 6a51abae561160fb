//! The body of the document: title, contents, summary and the sections of entries.

use std::io::{self, Write};

use super::markup::{WORD_NAMESPACE, WordMarkup};
use crate::markdown::has_summary;
use crate::outline::{OutlineEntry, OutlineFact, head, sections, summary_lists};
use crate::references::RequirementCodes;
use crate::specification::{CriterionEntry, Specification};
use crate::text::clean_line;
use crate::words::Label;

const FACT_WIDTHS: [&str; 2] = ["2268", "6804"];
const CRITERION_WIDTHS: [&str; 2] = ["1418", "7654"];

/// A field that a word processor can bring up to date, with page numbers, from the headings of the first two levels.
const CONTENTS_FIELD: &str = r#" TOC \o "1-2" \h \z \u "#;

pub(super) fn document<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    specification: &Specification,
    codes: &RequirementCodes<'_>,
) -> io::Result<()> {
    let namespaces = [
        ("xmlns:w", WORD_NAMESPACE),
        ("xmlns:r", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"),
    ];
    markup.start("w:document", &namespaces)?;
    markup.start("w:body", &[])?;
    title(markup, specification)?;
    contents(markup, specification, codes)?;
    let mut writer = BodyWriter { markup, headings: HeadingCounter::default(), footnotes: 0 };
    writer.summary(specification)?;
    let words = writer.markup.words();
    for section in sections(specification, words, codes) {
        writer.section_heading(section.label)?;
        for entry in section.entries {
            writer.entry(&entry)?;
        }
    }
    // A table must not be the last of a body.
    markup.empty("w:p", &[])?;
    page_layout(markup)?;
    markup.end("w:body")?;
    markup.end("w:document")
}

fn title<W: Write>(markup: &mut WordMarkup<'_, W>, specification: &Specification) -> io::Result<()> {
    let project = &specification.project;
    markup.text_paragraph("Title", &clean_line(&project.name))?;
    markup.label_paragraph("Subtitle", Label::Specification)?;
    if head(specification).next().is_some() {
        markup.table(FACT_WIDTHS, false, |markup| {
            for (label, value) in head(specification) {
                fact(markup, label, |markup| markup.text_paragraph("CellText", value))?;
            }
            Ok(())
        })?;
        // Keeps the description off the table.
        markup.empty("w:p", &[])?;
    }
    prose(markup, &project.description)
}

/// What the field of the contents would collect, without the page numbers, which only a layout knows.
fn contents<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    specification: &Specification,
    codes: &RequirementCodes<'_>,
) -> io::Result<()> {
    let (words, page) = (markup.words(), markup.page());
    let lists = if has_summary(specification) { Some(summary_lists(specification)) } else { None };
    let mut sections = sections(specification, words, codes).into_iter().peekable();
    if lists.is_none() && sections.peek().is_none() {
        return Ok(());
    }
    markup.start("w:sdt", &[])?;
    markup.start("w:sdtPr", &[])?;
    markup.start("w:docPartObj", &[])?;
    markup.empty("w:docPartGallery", &[("w:val", "Table of Contents")])?;
    markup.empty("w:docPartUnique", &[])?;
    markup.end("w:docPartObj")?;
    markup.end("w:sdtPr")?;
    markup.start("w:sdtContent", &[])?;
    markup.label_paragraph("TOCHeading", Label::Contents)?;
    markup.paragraph("TOC1", page, |markup| {
        field_mark(markup, "begin")?;
        markup
            .run(None, false, |markup| markup.element("w:instrText", &[("xml:space", "preserve")], CONTENTS_FIELD))?;
        field_mark(markup, "separate")
    })?;
    let mut headings = HeadingCounter::default();
    if let Some(lists) = lists {
        contents_line(markup, "TOC1", &headings.next_section(), |markup| markup.label(Label::Summary))?;
        for (label, _) in lists {
            contents_line(markup, "TOC2", &headings.next_entry(), |markup| markup.label(label))?;
        }
    }
    for section in sections {
        contents_line(markup, "TOC1", &headings.next_section(), |markup| markup.label(section.label))?;
        for entry in section.entries {
            contents_line(markup, "TOC2", &headings.next_entry(), |markup| entry_title(markup, &entry))?;
        }
    }
    markup.paragraph("TOC1", page, |markup| field_mark(markup, "end"))?;
    markup.end("w:sdtContent")?;
    markup.end("w:sdt")
}

fn field_mark<W: Write>(markup: &mut WordMarkup<'_, W>, kind: &'static str) -> io::Result<()> {
    markup.run(None, false, |markup| markup.empty("w:fldChar", &[("w:fldCharType", kind)]))
}

fn contents_line<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    style: &'static str,
    heading: &NumberedHeading,
    shown: impl FnOnce(&mut WordMarkup<'_, W>) -> io::Result<()>,
) -> io::Result<()> {
    let page = markup.page();
    markup.paragraph(style, page, |markup| {
        markup.start("w:hyperlink", &[("w:anchor", &heading.bookmark()), ("w:history", "1")])?;
        markup.line(&heading.shown, None, page)?;
        markup.run(None, false, |markup| markup.empty("w:tab", &[]))?;
        shown(markup)?;
        markup.end("w:hyperlink")
    })
}

fn entry_title<W: Write>(markup: &mut WordMarkup<'_, W>, entry: &OutlineEntry<'_>) -> io::Result<()> {
    markup.inline(&format!("{} {}", entry.code, entry.title))
}

fn prose<W: Write>(markup: &mut WordMarkup<'_, W>, text: &str) -> io::Result<()> {
    if text.trim().is_empty() { Ok(()) } else { markup.text_paragraph("Normal", text) }
}

fn page_layout<W: Write>(markup: &mut WordMarkup<'_, W>) -> io::Result<()> {
    markup.start("w:sectPr", &[])?;
    markup.empty("w:footerReference", &[("w:type", "default"), ("r:id", "rId5")])?;
    markup.empty("w:pgSz", &[("w:w", "11906"), ("w:h", "16838")])?;
    let margins = [
        ("w:top", "1417"),
        ("w:right", "1417"),
        ("w:bottom", "1417"),
        ("w:left", "1417"),
        ("w:header", "708"),
        ("w:footer", "708"),
        ("w:gutter", "0"),
    ];
    markup.empty("w:pgMar", &margins)?;
    if markup.page().is_rtl() {
        markup.empty("w:bidi", &[])?;
    }
    markup.end("w:sectPr")
}

/// The row of a table of facts; the value has at least one paragraph.
fn fact<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    label: Label,
    value: impl FnOnce(&mut WordMarkup<'_, W>) -> io::Result<()>,
) -> io::Result<()> {
    let [label_width, value_width] = FACT_WIDTHS;
    markup.start("w:tr", &[])?;
    markup.cell(label_width, |markup| markup.label_paragraph("CellLabel", label))?;
    markup.cell(value_width, value)?;
    markup.end("w:tr")
}

fn fact_value<W: Write>(markup: &mut WordMarkup<'_, W>, value: &OutlineFact<'_>) -> io::Result<()> {
    match value {
        OutlineFact::Text(text) => markup.text_paragraph("CellText", text),
        OutlineFact::Lines(lines) => lines.iter().try_for_each(|line| markup.text_paragraph("CellText", line)),
        OutlineFact::Codes(codes) => {
            let codes = codes.iter().map(|(code, _)| clean_line(code)).collect::<Vec<_>>().join(", ");
            let page = markup.page();
            markup.paragraph("CellText", page, |markup| markup.inline(&codes))
        }
    }
}

/// The number of a heading as the numbering of the word processor counts it, and the name that the contents lead to.
struct NumberedHeading {
    shown: String,
    position: usize,
}

impl NumberedHeading {
    fn bookmark(&self) -> String {
        format!("_Toc{:08}", self.position)
    }
}

/// Counts the headings in the order of the document: the contents and the body must agree.
#[derive(Default)]
struct HeadingCounter {
    section: usize,
    entry: usize,
    position: usize,
}

impl HeadingCounter {
    fn next_section(&mut self) -> NumberedHeading {
        (self.section, self.entry, self.position) = (self.section + 1, 0, self.position + 1);
        NumberedHeading { shown: self.section.to_string(), position: self.position }
    }

    fn next_entry(&mut self) -> NumberedHeading {
        (self.entry, self.position) = (self.entry + 1, self.position + 1);
        NumberedHeading { shown: format!("{}.{}", self.section, self.entry), position: self.position }
    }
}

struct BodyWriter<'m, 'a, W: Write> {
    markup: &'m mut WordMarkup<'a, W>,
    headings: HeadingCounter,
    /// How many footnotes were referred to.
    footnotes: usize,
}

impl<'a, W: Write> BodyWriter<'_, 'a, W> {
    fn summary(&mut self, specification: &Specification) -> io::Result<()> {
        if !has_summary(specification) {
            return Ok(());
        }
        self.section_heading(Label::Summary)?;
        prose(self.markup, &specification.summary.text)?;
        for (label, texts) in summary_lists(specification) {
            let heading = self.headings.next_entry();
            self.heading("Heading2", &heading, |markup| markup.label(label), 0)?;
            for text in texts {
                self.markup.text_paragraph("ListBullet", text)?;
            }
        }
        Ok(())
    }

    fn section_heading(&mut self, label: Label) -> io::Result<()> {
        let heading = self.headings.next_section();
        self.heading("Heading1", &heading, |markup| markup.label(label), 0)
    }

    fn heading(
        &mut self,
        style: &'static str,
        heading: &NumberedHeading,
        shown: impl FnOnce(&mut WordMarkup<'a, W>) -> io::Result<()>,
        sources: usize,
    ) -> io::Result<()> {
        let Self { markup, footnotes, .. } = self;
        let (page, id) = (markup.page(), heading.position.to_string());
        markup.paragraph(style, page, |markup| {
            markup.empty("w:bookmarkStart", &[("w:id", &id), ("w:name", &heading.bookmark())])?;
            shown(markup)?;
            markup.empty("w:bookmarkEnd", &[("w:id", &id)])?;
            footnote_references(markup, footnotes, sources)
        })
    }

    fn entry(&mut self, entry: &OutlineEntry<'_>) -> io::Result<()> {
        let heading = self.headings.next_entry();
        // Footnotes follow the text, or the title where there is no other text.
        let after_title = if entry.text.is_some() { 0 } else { entry.sources.len() };
        self.heading("Heading2", &heading, |markup| entry_title(markup, entry), after_title)?;
        let Self { markup, footnotes, .. } = self;
        if let Some(text) = entry.text {
            markup.text_paragraph_and("Normal", text, |markup| {
                footnote_references(markup, footnotes, entry.sources.len())
            })?;
        }
        if !entry.facts.is_empty() {
            markup.table(FACT_WIDTHS, false, |markup| {
                entry
                    .facts
                    .iter()
                    .try_for_each(|(label, value)| fact(markup, *label, |markup| fact_value(markup, value)))
            })?;
        }
        criteria(markup, entry.criteria)
    }
}

fn footnote_references<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    footnotes: &mut usize,
    sources: usize,
) -> io::Result<()> {
    for index in 0..sources {
        // A space, since a comma in a heading would show in contents that are brought up to date.
        if index > 0 {
            markup.run(Some("FootnoteReference"), false, |markup| {
                markup.element("w:t", &[("xml:space", "preserve")], " ")
            })?;
        }
        *footnotes += 1;
        let id = footnotes.to_string();
        markup.run(Some("FootnoteReference"), false, |markup| markup.empty("w:footnoteReference", &[("w:id", &id)]))?;
    }
    Ok(())
}

fn criteria<W: Write>(markup: &mut WordMarkup<'_, W>, criteria: &[CriterionEntry]) -> io::Result<()> {
    if criteria.is_empty() {
        return Ok(());
    }
    let [code_width, text_width] = CRITERION_WIDTHS;
    markup.label_paragraph("EntryLabel", Label::AcceptanceCriteria)?;
    markup.table(CRITERION_WIDTHS, true, |markup| {
        markup.header_row(&[(code_width, Label::Code), (text_width, Label::Criterion)])?;
        criteria.iter().try_for_each(|criterion| {
            markup.start("w:tr", &[])?;
            markup.cell(code_width, |markup| markup.text_paragraph("CellText", &criterion.code))?;
            markup.cell(text_width, |markup| criterion_text(markup, criterion))?;
            markup.end("w:tr")
        })
    })
}

fn criterion_text<W: Write>(markup: &mut WordMarkup<'_, W>, criterion: &CriterionEntry) -> io::Result<()> {
    markup.text_paragraph("CellText", &criterion.text)?;
    let page = markup.page();
    let steps = [(Label::Given, &criterion.given), (Label::When, &criterion.when), (Label::Then, &criterion.then)];
    for (label, step) in steps {
        let Some(step) = step.as_deref().filter(|step| !step.trim().is_empty()) else { continue };
        markup.paragraph("CellText", page, |markup| {
            let words = markup.words();
            markup.line(words.label(label), Some("InlineLabel"), page)?;
            markup.line(" ", None, page)?;
            markup.text(step, page)
        })?;
    }
    Ok(())
}
