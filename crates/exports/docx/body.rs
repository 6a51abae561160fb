//! The body of the document: cover and contents, the summary, and the chapters of entries.

use std::io::{self, Write};

use super::markup::{WORD_NAMESPACE, WordMarkup};
use crate::outline::{
    EntryView, OutlineChapter, OutlineCriterion, OutlineEntry, OutlineFact, OutlineSource, chapters, cover,
    has_summary, summary_lists,
};
use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::text::{clean, clean_line};
use crate::words::Label;

const CRITERION_WIDTHS: [&str; 2] = ["1134", "6804"];

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
    let words = markup.words();
    let chapters = chapters(specification, words);
    title(markup, specification)?;
    contents(markup, specification, &chapters)?;
    let mut writer = BodyWriter { markup, headings: HeadingCounter::default() };
    writer.summary(specification)?;
    let mut view = EntryView::new(specification, words, codes);
    for chapter in &chapters {
        writer.chapter(chapter, &mut view)?;
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
    for (label, value) in cover(specification, markup.words()) {
        labelled(markup, "Normal", label, |markup| markup.inline(&value))?;
    }
    prose(markup, &project.description)
}

/// What the field of the contents would collect, without the page numbers, which only a layout knows. The rest begins on a new page.
fn contents<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    specification: &Specification,
    chapters: &[OutlineChapter<'_>],
) -> io::Result<()> {
    let page = markup.page();
    let has_summary = has_summary(specification);
    if !has_summary && chapters.is_empty() {
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
    let words = markup.words();
    let mut headings = HeadingCounter::default();
    if has_summary {
        contents_line(markup, "TOC1", &headings.next_chapter(), words.label(Label::Summary))?;
        for (label, _) in summary_lists(specification) {
            contents_line(markup, "TOC2", &headings.next_group(), words.label(label))?;
        }
    }
    for chapter in chapters {
        contents_line(markup, "TOC1", &headings.next_chapter(), words.label(chapter.label))?;
        for title in chapter.groups.iter().filter_map(|group| group.title) {
            contents_line(markup, "TOC2", &headings.next_group(), title)?;
        }
    }
    markup.paragraph("TOC1", page, |markup| field_mark(markup, "end"))?;
    markup.end("w:sdtContent")?;
    markup.end("w:sdt")?;
    markup.paragraph("Normal", page, |markup| {
        markup.run(None, false, |markup| markup.empty("w:br", &[("w:type", "page")]))
    })
}

fn field_mark<W: Write>(markup: &mut WordMarkup<'_, W>, kind: &'static str) -> io::Result<()> {
    markup.run(None, false, |markup| markup.empty("w:fldChar", &[("w:fldCharType", kind)]))
}

fn contents_line<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    style: &'static str,
    heading: &NumberedHeading,
    title: &str,
) -> io::Result<()> {
    let page = markup.page();
    markup.paragraph(style, page, |markup| {
        markup.start("w:hyperlink", &[("w:anchor", &heading.bookmark()), ("w:history", "1")])?;
        markup.line(&heading.shown, None, page)?;
        markup.run(None, false, |markup| markup.empty("w:tab", &[]))?;
        markup.inline(title)?;
        markup.end("w:hyperlink")
    })
}

fn prose<W: Write>(markup: &mut WordMarkup<'_, W>, text: &str) -> io::Result<()> {
    if text.trim().is_empty() { Ok(()) } else { markup.text_paragraph("Normal", text) }
}

fn page_layout<W: Write>(markup: &mut WordMarkup<'_, W>) -> io::Result<()> {
    markup.start("w:sectPr", &[])?;
    markup.empty("w:footerReference", &[("w:type", "default"), ("r:id", "rId4")])?;
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

/// `Priority: High`, in the direction of the page.
fn labelled<W: Write>(
    markup: &mut WordMarkup<'_, W>,
    style: &'static str,
    label: Label,
    value: impl FnOnce(&mut WordMarkup<'_, W>) -> io::Result<()>,
) -> io::Result<()> {
    let page = markup.page();
    markup.paragraph(style, page, |markup| {
        label_run(markup, label)?;
        value(markup)
    })
}

fn label_run<W: Write>(markup: &mut WordMarkup<'_, W>, label: Label) -> io::Result<()> {
    let (words, page) = (markup.words(), markup.page());
    markup.line(words.label(label), Some("InlineLabel"), page)?;
    markup.line(": ", Some("InlineLabel"), page)
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
    chapter: usize,
    group: usize,
    position: usize,
}

impl HeadingCounter {
    fn next_chapter(&mut self) -> NumberedHeading {
        (self.chapter, self.group, self.position) = (self.chapter + 1, 0, self.position + 1);
        NumberedHeading { shown: self.chapter.to_string(), position: self.position }
    }

    fn next_group(&mut self) -> NumberedHeading {
        (self.group, self.position) = (self.group + 1, self.position + 1);
        NumberedHeading { shown: format!("{}.{}", self.chapter, self.group), position: self.position }
    }
}

struct BodyWriter<'m, 'a, W: Write> {
    markup: &'m mut WordMarkup<'a, W>,
    headings: HeadingCounter,
}

impl<W: Write> BodyWriter<'_, '_, W> {
    fn summary(&mut self, specification: &Specification) -> io::Result<()> {
        if !has_summary(specification) {
            return Ok(());
        }
        let words = self.markup.words();
        let heading = self.headings.next_chapter();
        self.heading("Heading1", &heading, words.label(Label::Summary))?;
        prose(self.markup, &specification.summary.text)?;
        for (label, texts) in summary_lists(specification) {
            let heading = self.headings.next_group();
            self.heading("Heading2", &heading, words.label(label))?;
            for text in texts {
                self.markup.text_paragraph("ListBullet", text)?;
            }
        }
        Ok(())
    }

    fn chapter<'s>(&mut self, chapter: &OutlineChapter<'s>, view: &mut EntryView<'s>) -> io::Result<()> {
        let heading = self.headings.next_chapter();
        self.heading("Heading1", &heading, self.markup.words().label(chapter.label))?;
        for group in &chapter.groups {
            if let Some(title) = group.title {
                let heading = self.headings.next_group();
                self.heading("Heading2", &heading, title)?;
            }
            for section in &group.sections {
                if let Some(title) = section.title {
                    self.markup.text_paragraph("Heading3", &clean_line(title))?;
                }
                section.items.iter().try_for_each(|item| entry(self.markup, &view.entry(*item)))?;
            }
        }
        Ok(())
    }

    fn heading(&mut self, style: &'static str, heading: &NumberedHeading, title: &str) -> io::Result<()> {
        let (page, id) = (self.markup.page(), heading.position.to_string());
        self.markup.paragraph(style, page, |markup| {
            markup.empty("w:bookmarkStart", &[("w:id", &id), ("w:name", &heading.bookmark())])?;
            markup.inline(title)?;
            markup.empty("w:bookmarkEnd", &[("w:id", &id)])
        })
    }
}

/// The code and beside it the title or the text; below it the rest. What belongs together stays on one page.
fn entry<W: Write>(markup: &mut WordMarkup<'_, W>, entry: &OutlineEntry<'_>) -> io::Result<()> {
    let is_followed = !entry.is_bare();
    let first = if is_followed || entry.title.is_some() && entry.text.is_some() { "EntryKept" } else { "Entry" };
    let code = clean_line(entry.code);
    match (entry.title, entry.text) {
        (Some(title), _) => {
            let page = markup.page();
            markup.paragraph(first, page, |markup| {
                markup.line(&code, Some("EntryCode"), page)?;
                markup.run(None, false, |markup| markup.empty("w:tab", &[]))?;
                markup.line(&clean_line(title), Some("InlineLabel"), page)
            })?;
            if let Some(text) = entry.text {
                markup.text_paragraph(if is_followed { "EntryTextKept" } else { "EntryText" }, text)?;
            }
        }
        (None, text) => {
            let code = |markup: &mut WordMarkup<'_, W>, direction| {
                markup.line(&code, Some("EntryCode"), direction)?;
                markup.run(None, false, |markup| markup.empty("w:tab", &[]))
            };
            markup.text_paragraph_after(first, code, text.unwrap_or_default())?;
        }
    }
    facts(markup, entry)?;
    for (label, remark) in &entry.remarks {
        remark.lines().try_for_each(|line| labelled(markup, "EntryNote", *label, |markup| markup.inline(line)))?;
    }
    criteria(markup, &entry.criteria)?;
    sources(markup, &entry.sources)
}

/// In one line.
fn facts<W: Write>(markup: &mut WordMarkup<'_, W>, entry: &OutlineEntry<'_>) -> io::Result<()> {
    if entry.facts.is_empty() {
        return Ok(());
    }
    let is_last = entry.remarks.is_empty() && entry.criteria.is_empty() && entry.sources.is_empty();
    let (words, page) = (markup.words(), markup.page());
    markup.paragraph(if is_last { "EntryNote" } else { "EntryNoteKept" }, page, |markup| {
        for ((label, fact), index) in entry.facts.iter().zip(0..) {
            if index > 0 {
                markup.line(" · ", None, page)?;
            }
            label_run(markup, *label)?;
            match fact {
                OutlineFact::Text(text) => markup.inline(text)?,
                OutlineFact::Codes(codes) => {
                    let codes: Vec<&str> = codes.iter().map(|(code, _)| *code).collect();
                    markup.inline(&codes.join(words.comma()))?;
                }
            }
        }
        Ok(())
    })
}

fn sources<W: Write>(markup: &mut WordMarkup<'_, W>, sources: &[OutlineSource<'_>]) -> io::Result<()> {
    if sources.is_empty() {
        return Ok(());
    }
    let words = markup.words();
    let (open, close) = words.quotation_marks();
    let notes = sources.iter().map(|source| {
        let place = source.place.join(words.comma());
        source.quote.map_or_else(|| place.clone(), |quote| format!("{place}: {open}{}{close}", clean_line(quote)))
    });
    let notes = notes.collect::<Vec<_>>().join("; ");
    labelled(markup, "EntryNote", Label::Sources, |markup| markup.inline(&notes))
}

fn criteria<W: Write>(markup: &mut WordMarkup<'_, W>, criteria: &[OutlineCriterion<'_>]) -> io::Result<()> {
    if criteria.is_empty() {
        return Ok(());
    }
    let [code_width, text_width] = CRITERION_WIDTHS;
    markup.label_paragraph("EntryLabel", Label::AcceptanceCriteria)?;
    markup.table(CRITERION_WIDTHS, |markup| {
        markup.header_row(&[(code_width, Label::Code), (text_width, Label::Criterion)])?;
        criteria.iter().try_for_each(|criterion| {
            markup.row(|markup| {
                markup.cell(code_width, |markup| markup.text_paragraph("CellText", criterion.code))?;
                markup.cell(text_width, |markup| criterion_text(markup, criterion))
            })
        })
    })
}

fn criterion_text<W: Write>(markup: &mut WordMarkup<'_, W>, criterion: &OutlineCriterion<'_>) -> io::Result<()> {
    markup.text_paragraph("CellText", criterion.text)?;
    let page = markup.page();
    for (label, step) in &criterion.steps {
        markup.paragraph("CellText", page, |markup| {
            let words = markup.words();
            markup.line(words.label(*label), Some("InlineLabel"), page)?;
            markup.line(" ", None, page)?;
            markup.text(&clean(step), page)
        })?;
    }
    Ok(())
}
