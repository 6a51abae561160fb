//! ODT reader: paragraphs, headings by their level, list items, tables row by row, and notes after the paragraph that
//! refers to them.
//!
//! Left out and counted: text, paragraphs and sections that are hidden, white letters on no ground. Left out: text that a
//! tracked change deleted, comments, headers and footers, descriptions of pictures. An ODT has no pages: they are
//! determined only when it is laid out for printing.

use quick_xml::events::BytesStart;

use super::draft::TextDraft;
use super::odt_styles::{OdtRole, OdtStyles, TextLook};
use super::package::{Package, PartEvent, attribute, damaged, for_each_event};
use super::source::{BlockKind, SourceText, Unreadable, UnreadableReason};

/// Maximum number of spaces that one element stands for.
const SPACES: usize = 100;

/// Reads an ODT.
///
/// # Errors
/// `Encrypted`, `Damaged` or `TooLarge`.
pub fn read(bytes: &[u8]) -> Result<SourceText, Unreadable> {
    let mut package = Package::open(bytes)?;
    // The parts of an encrypted document are no parts of an encrypted ZIP: the list of parts says so.
    if package.part("META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(Unreadable::new(UnreadableReason::Encrypted, "This document is protected by a password."));
    }
    let mut styles = OdtStyles::default();
    if let Some(xml) = package.part("styles.xml")? {
        styles.read(&xml)?;
    }
    let content = package.part("content.xml")?.ok_or_else(damaged)?;
    drop(package);
    styles.read(&content)?;
    let mut reader = OdtReader { styles, ..OdtReader::default() };
    for_each_event(&content, |event| reader.handle(event))?;
    if !reader.is_text {
        return Err(damaged());
    }
    reader.draft.finish()
}

/// A paragraph being read. Those of a text box or a note are nested within the one that it is anchored in.
#[derive(Default)]
struct OdtParagraph {
    text: String,
    role: Option<OdtRole>,
    look: TextLook,
    /// The looks of the open spans, innermost last.
    spans: Vec<TextLook>,
    /// The text of the notes that it refers to.
    notes: Vec<String>,
}

/// A row of the outermost table; nested tables are read as part of their cell.
#[derive(Default)]
struct Row {
    is_hidden: bool,
    cells: Vec<String>,
}

#[derive(Default)]
struct OdtReader {
    draft: TextDraft,
    styles: OdtStyles,
    /// Whether the document is a text, not a sheet or a drawing.
    is_text: bool,
    /// Depth within elements that are left out.
    skipped: usize,
    /// Depth within elements that are hidden.
    hidden: usize,
    /// For each open section and conditional text whether it is hidden.
    parts: Vec<bool>,
    paragraphs: Vec<OdtParagraph>,
    lists: usize,
    indexes: usize,
    tables: usize,
    row: Option<Row>,
    /// Depth within notes; their paragraphs belong to the paragraph around.
    notes: usize,
}

/// Elements that are left out with all that is in them.
fn is_skipped(element: &str) -> bool {
    matches!(
        element,
        "tracked-changes"
            | "annotation"
            | "note-citation"
            | "ruby-text"
            | "title"
            | "desc"
            | "forms"
            | "scripts"
            | "automatic-styles"
            | "font-face-decls"
            | "covered-table-cell"
            | "math"
            | "event-listeners"
    )
}

impl OdtReader {
    fn handle(&mut self, event: PartEvent) {
        match event {
            PartEvent::Opens(element, _) if is_skipped(element) => self.skipped += 1,
            PartEvent::Closes(element) if is_skipped(element) => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 => {}
            PartEvent::Opens(element, tag) => self.opens(element, tag),
            PartEvent::Closes(element) => self.closes(element),
            PartEvent::Text(text) => self.write(text),
        }
    }

    fn opens(&mut self, element: &str, tag: &BytesStart) {
        match element {
            "text" => self.is_text = true,
            "p" | "h" => self.open_paragraph(element, tag),
            "span" => {
                let look = attribute(tag, "style-name").map(|style| self.styles.look(&style)).unwrap_or_default();
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    let around = paragraph.spans.last().copied().unwrap_or(paragraph.look);
                    paragraph.spans.push(around.with(look));
                }
            }
            // A condition is stored with its outcome.
            "hidden-text" => {
                let is_hidden = attribute(tag, "is-hidden").is_none_or(|is_hidden| is_hidden == "true");
                if let Some(text) = attribute(tag, "string-value").filter(|_| is_hidden) {
                    self.draft.hide(&text);
                }
                self.open_part(is_hidden);
            }
            "hidden-paragraph" => {
                let is_hidden = attribute(tag, "is-hidden").is_none_or(|is_hidden| is_hidden == "true");
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.look.is_hidden |= is_hidden;
                }
            }
            "section" => {
                let is_hidden = match attribute(tag, "display").as_deref() {
                    Some("none") => true,
                    Some("condition") => attribute(tag, "is-hidden").is_some_and(|is_hidden| is_hidden == "true"),
                    _ => false,
                };
                self.open_part(is_hidden);
            }
            "list" => self.lists += 1,
            "table-of-content" | "alphabetical-index" | "illustration-index" | "table-index" | "object-index"
            | "user-index" | "bibliography" => self.indexes += 1,
            "table" => self.tables += 1,
            "table-row" if self.tables == 1 => {
                let is_hidden = attribute(tag, "visibility").is_some_and(|visibility| visibility != "visible");
                self.row = Some(Row { is_hidden, cells: Vec::new() });
            }
            "table-cell" if self.tables == 1 => {
                if let Some(row) = &mut self.row {
                    row.cells.push(String::new());
                }
            }
            "note" => self.notes += 1,
            "s" => {
                let count = attribute(tag, "c").and_then(|count| count.parse().ok()).unwrap_or(1_usize);
                self.push(&" ".repeat(count.min(SPACES)));
            }
            "tab" => self.push("\t"),
            "line-break" => self.push("\n"),
            _ => {}
        }
    }

    fn closes(&mut self, element: &str) {
        match element {
            "p" | "h" => self.close_paragraph(),
            "span" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.spans.pop();
                }
            }
            "hidden-text" | "section" => self.close_part(),
            "list" => self.lists = self.lists.saturating_sub(1),
            "table-of-content" | "alphabetical-index" | "illustration-index" | "table-index" | "object-index"
            | "user-index" | "bibliography" => self.indexes = self.indexes.saturating_sub(1),
            "table" => self.tables = self.tables.saturating_sub(1),
            "table-row" if self.tables == 1 => self.close_row(),
            "note" => self.notes = self.notes.saturating_sub(1),
            _ => {}
        }
    }

    fn open_part(&mut self, is_hidden: bool) {
        self.parts.push(is_hidden);
        self.hidden += usize::from(is_hidden);
    }

    fn close_part(&mut self) {
        if self.parts.pop() == Some(true) {
            self.hidden = self.hidden.saturating_sub(1);
        }
    }

    fn open_paragraph(&mut self, element: &str, tag: &BytesStart) {
        let style = attribute(tag, "style-name");
        let look = style.as_deref().map(|style| self.styles.look(style)).unwrap_or_default();
        let role = if element == "h" {
            let level = attribute(tag, "outline-level").and_then(|level| level.parse().ok());
            Some(OdtRole::Heading(level.unwrap_or(1)))
        } else {
            style.as_deref().and_then(|style| self.styles.role(style))
        };
        self.paragraphs.push(OdtParagraph { role, look, ..OdtParagraph::default() });
    }

    /// Adds text; white space of the file is one space.
    fn write(&mut self, text: &str) {
        if self.paragraphs.is_empty() {
            return;
        }
        let mut collapsed = String::with_capacity(text.len());
        let mut after_space = self.paragraphs.last().is_some_and(|paragraph| paragraph.text.ends_with(' '));
        for character in text.chars() {
            let is_space = matches!(character, ' ' | '\t' | '\r' | '\n');
            if !is_space {
                collapsed.push(character);
            } else if !after_space {
                collapsed.push(' ');
            }
            after_space = is_space;
        }
        self.push(&collapsed);
    }

    fn push(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        let look = paragraph.spans.last().copied().unwrap_or(paragraph.look);
        // The cells of a table often have a dark ground.
        let is_white = look.is_white == Some(true) && look.is_shaded != Some(true) && self.tables == 0;
        if self.hidden > 0 || look.is_hidden || is_white || self.row.as_ref().is_some_and(|row| row.is_hidden) {
            self.draft.hide(text);
        } else {
            paragraph.text.push_str(text);
        }
    }

    fn close_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else { return };
        if paragraph.look.is_hidden {
            std::iter::once(&paragraph.text).chain(&paragraph.notes).for_each(|text| self.draft.hide(text));
            return;
        }
        if self.notes > 0
            && let Some(around) = self.paragraphs.last_mut()
        {
            around.notes.push(one_line(&paragraph.text));
            return;
        }
        if let Some(cell) = self.row.as_mut().and_then(|row| row.cells.last_mut()) {
            for text in std::iter::once(&paragraph.text).chain(&paragraph.notes) {
                cell.push(' ');
                cell.push_str(text);
            }
            return;
        }
        match paragraph.role {
            _ if self.indexes > 0 => self.draft.block(BlockKind::Boilerplate, &paragraph.text),
            Some(OdtRole::Heading(level)) => self.draft.heading(level, &paragraph.text),
            Some(OdtRole::Quote) => self.draft.block(BlockKind::Quote, &paragraph.text),
            Some(OdtRole::Code) => self.draft.block(BlockKind::Code, &paragraph.text),
            None if self.lists > 0 => self.draft.block(BlockKind::ListItem, &paragraph.text),
            None => self.draft.block(BlockKind::Paragraph, &paragraph.text),
        }
        for note in &paragraph.notes {
            self.draft.block(BlockKind::Paragraph, note);
        }
    }

    /// Writes a table row. A row with a single cell is a frame around paragraphs, not a table.
    fn close_row(&mut self) {
        let Some(row) = self.row.take() else { return };
        let cells: Vec<String> = row.cells.iter().map(|cell| one_line(cell)).collect();
        match cells.as_slice() {
            [only] => self.draft.block(BlockKind::Paragraph, only),
            cells if cells.iter().all(String::is_empty) => {}
            cells => self.draft.block(BlockKind::TableRow, &cells.join(" | ")),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
