//! WordprocessingML: paragraphs, runs and tables, written as they come.
//!
//! Element names, styles and attributes are the program's own; the text of a stranger goes nowhere but into `w:t`, where nothing is a
//! field, a link or markup.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use unicode_bidi::{BidiInfo, Level};

use crate::text::{clean, clean_line, direction_of};
use crate::words::{Direction, Label, Words};

/// The namespace of what is written here.
pub(super) const WORD_NAMESPACE: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";

/// What the layout of a page depends on, the same for all parts of a file.
#[derive(Clone, Copy)]
pub(super) struct PageSetting<'a> {
    pub(super) words: Words,
    /// The language of runs from right to left.
    pub(super) complex_language: &'a str,
}

pub(super) struct WordMarkup<'a, W: Write> {
    out: Writer<W>,
    setting: PageSetting<'a>,
}

/// The width of a table below a text of an entry, and where it begins; in twentieths of a point.
const TABLE_WIDTH: &str = "7938";
const TABLE_START: &str = "1134";

impl<'a, W: Write> WordMarkup<'a, W> {
    pub(super) fn new(out: W, setting: PageSetting<'a>) -> io::Result<Self> {
        let mut markup = Self { out: Writer::new(out), setting };
        markup.out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), Some("yes"))))?;
        Ok(markup)
    }

    pub(super) fn flush(mut self) -> io::Result<()> {
        self.out.get_mut().flush()
    }

    pub(super) fn words(&self) -> Words {
        self.setting.words
    }

    /// The direction of the page, which a text without a direction of its own follows.
    pub(super) fn page(&self) -> Direction {
        self.setting.words.direction()
    }

    pub(super) fn start(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) -> io::Result<()> {
        self.out.write_event(Event::Start(BytesStart::new(name).with_attributes(attributes.iter().copied())))
    }

    pub(super) fn end(&mut self, name: &'static str) -> io::Result<()> {
        self.out.write_event(Event::End(BytesEnd::new(name)))
    }

    pub(super) fn empty(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) -> io::Result<()> {
        self.out.write_event(Event::Empty(BytesStart::new(name).with_attributes(attributes.iter().copied())))
    }

    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &str)],
        text: &str,
    ) -> io::Result<()> {
        self.start(name, attributes)?;
        self.out.write_event(Event::Text(BytesText::new(text)))?;
        self.end(name)
    }

    pub(super) fn paragraph(
        &mut self,
        style: &'static str,
        direction: Direction,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.start("w:p", &[])?;
        self.start("w:pPr", &[])?;
        self.empty("w:pStyle", &[("w:val", style)])?;
        if direction.is_rtl() {
            self.empty("w:bidi", &[])?;
        }
        self.end("w:pPr")?;
        content(self)?;
        self.end("w:p")
    }

    /// The text of a stranger as a paragraph of its own, in its own direction.
    pub(super) fn text_paragraph(&mut self, style: &'static str, text: &str) -> io::Result<()> {
        self.text_paragraph_after(style, |_, _| Ok(()), text)
    }

    /// The same with something before the text, in the direction of the text too.
    pub(super) fn text_paragraph_after(
        &mut self,
        style: &'static str,
        before: impl FnOnce(&mut Self, Direction) -> io::Result<()>,
        text: &str,
    ) -> io::Result<()> {
        let text = clean(text);
        let direction = direction_of(&text).unwrap_or(self.page());
        self.paragraph(style, direction, |markup| {
            before(markup, direction)?;
            markup.text(&text, direction)
        })
    }

    pub(super) fn label_paragraph(&mut self, style: &'static str, label: Label) -> io::Result<()> {
        let direction = self.page();
        self.paragraph(style, direction, |markup| markup.label(label))
    }

    pub(super) fn label(&mut self, label: Label) -> io::Result<()> {
        let (words, page) = (self.words(), self.page());
        self.line(words.label(label), None, page)
    }

    /// The text of a stranger; a line break stays one.
    pub(super) fn text(&mut self, text: &str, direction: Direction) -> io::Result<()> {
        for (line, index) in clean(text).split('\n').zip(0..) {
            if index > 0 {
                self.run(None, false, |markup| markup.empty("w:br", &[]))?;
            }
            self.line(line, None, direction)?;
        }
        Ok(())
    }

    /// The text of a stranger in one line, within a paragraph in the direction of the page.
    pub(super) fn inline(&mut self, text: &str) -> io::Result<()> {
        let page = self.page();
        self.line(&clean_line(text), None, page)
    }

    /// A clean text without line ends as runs, each in one direction: word processors leave it open what happens to a text whose letters go
    /// the other way than the run says.
    pub(super) fn line(&mut self, line: &str, style: Option<&'static str>, direction: Direction) -> io::Result<()> {
        if line.is_ascii() && !direction.is_rtl() {
            return self.text_run(line, style, false);
        }
        let level = if direction.is_rtl() { Level::rtl() } else { Level::ltr() };
        let bidi = BidiInfo::new(line, Some(level));
        let mut rest = line;
        for levels in bidi.levels.chunk_by(|one, next| one.is_rtl() == next.is_rtl()) {
            let (piece, after) = rest.split_at_checked(levels.len()).unwrap_or((rest, ""));
            rest = after;
            self.text_run(piece, style, levels.first().is_some_and(Level::is_rtl))?;
        }
        Ok(())
    }

    fn text_run(&mut self, text: &str, style: Option<&'static str>, rtl: bool) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.run(style, rtl, |markup| {
            for (piece, index) in text.split('\t').zip(0..) {
                if index > 0 {
                    markup.empty("w:tab", &[])?;
                }
                if !piece.is_empty() {
                    markup.element("w:t", &[("xml:space", "preserve")], piece)?;
                }
            }
            Ok(())
        })
    }

    pub(super) fn run(
        &mut self,
        style: Option<&'static str>,
        rtl: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.start("w:r", &[])?;
        if style.is_some() || rtl {
            self.start("w:rPr", &[])?;
            if let Some(style) = style {
                self.empty("w:rStyle", &[("w:val", style)])?;
            }
            if rtl {
                self.empty("w:rtl", &[])?;
                let language = self.setting.complex_language;
                self.empty("w:lang", &[("w:bidi", language)])?;
            }
            self.end("w:rPr")?;
        }
        content(self)?;
        self.end("w:r")
    }

    /// A table whose first row names the columns.
    pub(super) fn table<const COLUMNS: usize>(
        &mut self,
        widths: [&'static str; COLUMNS],
        rows: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.start("w:tbl", &[])?;
        self.start("w:tblPr", &[])?;
        self.empty("w:tblStyle", &[("w:val", "EntryTable")])?;
        if self.page().is_rtl() {
            self.empty("w:bidiVisual", &[])?;
        }
        self.empty("w:tblW", &[("w:w", TABLE_WIDTH), ("w:type", "dxa")])?;
        self.empty("w:tblInd", &[("w:w", TABLE_START), ("w:type", "dxa")])?;
        self.empty("w:tblLayout", &[("w:type", "fixed")])?;
        self.empty("w:tblLook", &[("w:val", "0020"), ("w:firstRow", "1")])?;
        self.end("w:tblPr")?;
        self.start("w:tblGrid", &[])?;
        for width in widths {
            self.empty("w:gridCol", &[("w:w", width)])?;
        }
        self.end("w:tblGrid")?;
        rows(self)?;
        self.end("w:tbl")
    }

    /// A row that stands again at the top of each page.
    pub(super) fn header_row(&mut self, columns: &[(&'static str, Label)]) -> io::Result<()> {
        self.start("w:tr", &[])?;
        self.start("w:trPr", &[])?;
        self.empty("w:cantSplit", &[])?;
        self.empty("w:tblHeader", &[])?;
        self.end("w:trPr")?;
        for (width, label) in columns {
            self.cell(width, |markup| markup.label_paragraph("CellLabel", *label))?;
        }
        self.end("w:tr")
    }

    /// A row that no page break divides.
    pub(super) fn row(&mut self, cells: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.start("w:tr", &[])?;
        self.start("w:trPr", &[])?;
        self.empty("w:cantSplit", &[])?;
        self.end("w:trPr")?;
        cells(self)?;
        self.end("w:tr")
    }

    /// One cell of a row, which must have at least one paragraph.
    pub(super) fn cell(&mut self, width: &str, content: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.start("w:tc", &[])?;
        self.start("w:tcPr", &[])?;
        self.empty("w:tcW", &[("w:w", width), ("w:type", "dxa")])?;
        self.end("w:tcPr")?;
        content(self)?;
        self.end("w:tc")
    }
}
