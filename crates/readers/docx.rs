//! DOCX reader: the body's paragraphs with headings by style, list items, tables row by row, and footnotes after the
//! paragraph that refers to them.
//!
//! Left out: text that a tracked change deleted or moved away, hidden text, field codes, comments, headers and footers,
//! the older copy of a drawing (`mc:Fallback`). A DOCX has no pages: they are determined only when it is laid out for
//! printing.

use std::collections::HashMap;

use quick_xml::events::BytesStart;

use super::draft::TextDraft;
use super::package::{Package, PartEvent, attribute, damaged, for_each_event};
use super::source::{BlockKind, SourceText, Unreadable};
use super::styles::{Role, Styles, outline_level};

/// Reads a DOCX.
///
/// # Errors
/// `Encrypted`, `Damaged` or `TooLarge`.
pub fn read(bytes: &[u8]) -> Result<SourceText, Unreadable> {
    let mut package = Package::open(bytes)?;
    let styles = match package.part("word/styles.xml")? {
        Some(xml) => Styles::read(&xml)?,
        None => Styles::default(),
    };
    let mut notes = Notes::default();
    for (part, kind) in [("word/footnotes.xml", NoteKind::Foot), ("word/endnotes.xml", NoteKind::End)] {
        if let Some(xml) = package.part(part)? {
            notes.read(&xml, kind)?;
        }
    }
    let body = package.part("word/document.xml")?.ok_or_else(damaged)?;
    drop(package);
    let mut reader = BodyReader::new(&styles, notes);
    for_each_event(&body, |event| reader.handle(event))?;
    reader.draft.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NoteKind {
    Foot,
    End,
}

/// The text of footnotes and endnotes by kind and id.
#[derive(Default)]
struct Notes(HashMap<(NoteKind, String), String>);

impl Notes {
    /// Removes and returns the text of the notes with these ids. Each note is returned for its first reference only, so
    /// that a note with many references is not repeated in the text.
    fn take(&mut self, ids: &[(NoteKind, String)]) -> Vec<String> {
        ids.iter().filter_map(|id| self.0.remove(id)).map(|note| one_line(&note)).collect()
    }

    fn read(&mut self, xml: &str, kind: NoteKind) -> Result<(), Unreadable> {
        let mut skip = Skip::default();
        let mut open: Option<(String, String)> = None;
        for_each_event(xml, |event| {
            if skip.covers(&event) {
                return;
            }
            match event {
                PartEvent::Opens("footnote" | "endnote", tag) => {
                    open = attribute(tag, "id").map(|id| (id, String::new()));
                }
                PartEvent::Closes("footnote" | "endnote") => {
                    self.0.extend(open.take().map(|(id, text)| ((kind, id), text)));
                }
                PartEvent::Closes("p" | "tab" | "br") => {
                    if let Some((_, text)) = &mut open {
                        text.push(' ');
                    }
                }
                PartEvent::Text(content) => {
                    if let Some((_, text)) = &mut open {
                        text.push_str(content);
                    }
                }
                PartEvent::Opens(..) | PartEvent::Closes(_) => {}
            }
        })
    }
}

/// Tracks whether the reader is inside an element that is left out. Only text within `t` counts (`instrText` and
/// `delText` are separate elements).
#[derive(Default)]
struct Skip {
    depth: usize,
    in_text: bool,
}

impl Skip {
    fn covers(&mut self, event: &PartEvent) -> bool {
        match event {
            PartEvent::Opens("del" | "moveFrom" | "Fallback" | "instrText" | "delText", _) => self.depth += 1,
            PartEvent::Closes("del" | "moveFrom" | "Fallback" | "instrText" | "delText") => {
                self.depth = self.depth.saturating_sub(1);
                return true;
            }
            PartEvent::Opens("t", _) => self.in_text = true,
            PartEvent::Closes("t") => self.in_text = false,
            PartEvent::Text(_) => return self.depth > 0 || !self.in_text,
            PartEvent::Opens(..) | PartEvent::Closes(_) => {}
        }
        self.depth > 0
    }
}

/// A paragraph being read. Paragraphs of a text box are nested within the one that the box is anchored in.
#[derive(Default)]
struct Paragraph {
    text: String,
    role: Option<Role>,
    body_text: bool,
    is_shaded: bool,
    notes: Vec<(NoteKind, String)>,
}

/// A row of the outermost table; nested tables are read as part of their cell.
#[derive(Default)]
struct Row {
    cells: Vec<Vec<String>>,
}

struct BodyReader<'a> {
    draft: TextDraft,
    styles: &'a Styles,
    notes: Notes,
    skip: Skip,
    paragraphs: Vec<Paragraph>,
    tables: usize,
    row: Option<Row>,
    run: RunLook,
    in_run: bool,
    in_properties: bool,
}

/// What decides whether a run is seen.
#[derive(Default, Clone, Copy)]
struct RunLook {
    is_hidden: bool,
    is_white: bool,
    is_shaded: bool,
}

impl<'a> BodyReader<'a> {
    fn new(styles: &'a Styles, notes: Notes) -> Self {
        Self {
            draft: TextDraft::default(),
            styles,
            notes,
            skip: Skip::default(),
            paragraphs: Vec::new(),
            tables: 0,
            row: None,
            run: RunLook::default(),
            in_run: false,
            in_properties: false,
        }
    }

    fn handle(&mut self, event: PartEvent) {
        if self.skip.covers(&event) {
            return;
        }
        match event {
            PartEvent::Opens(element, tag) => self.opens(element, tag),
            PartEvent::Closes(element) => self.closes(element),
            PartEvent::Text(text) => self.write(text),
        }
    }

    fn opens(&mut self, element: &str, tag: &BytesStart) {
        match element {
            "p" => self.paragraphs.push(Paragraph::default()),
            "pPr" => self.in_properties = true,
            "r" => (self.run, self.in_run) = (RunLook::default(), true),
            "vanish" if !self.in_properties => {
                self.run.is_hidden = attribute(tag, "val").is_none_or(|val| val != "0" && val != "false");
            }
            "color" if self.in_run => {
                self.run.is_white = attribute(tag, "val").is_some_and(|color| color.eq_ignore_ascii_case("ffffff"));
            }
            "shd" | "highlight" if self.in_run => self.run.is_shaded = true,
            "shd" if self.in_properties => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_shaded = true;
                }
            }
            "tbl" => self.tables += 1,
            "tr" if self.tables == 1 => self.row = Some(Row::default()),
            "tc" if self.tables == 1 => {
                if let Some(row) = &mut self.row {
                    row.cells.push(Vec::new());
                }
            }
            "tab" if !self.in_properties => self.write("\t"),
            "br" | "cr" => self.write("\n"),
            "noBreakHyphen" => self.write("\u{2011}"),
            "footnoteReference" => self.refer(NoteKind::Foot, tag),
            "endnoteReference" => self.refer(NoteKind::End, tag),
            _ => self.property(element, tag),
        }
    }

    /// Applies a property that decides the paragraph's role.
    fn property(&mut self, element: &str, tag: &BytesStart) {
        let styles = self.styles;
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        match element {
            "pStyle" => {
                let role = attribute(tag, "val").and_then(|style| styles.role(&style));
                paragraph.role = role.or(paragraph.role);
            }
            "numPr" => paragraph.role = paragraph.role.or(Some(Role::ListItem)),
            "outlineLvl" => match attribute(tag, "val").and_then(|level| outline_level(&level)) {
                Some(level) => paragraph.role = Some(Role::Heading(level)),
                None => paragraph.body_text = true,
            },
            _ => {}
        }
    }

    fn closes(&mut self, element: &str) {
        match element {
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.paragraph(paragraph);
                }
            }
            "pPr" => self.in_properties = false,
            "r" => (self.run, self.in_run) = (RunLook::default(), false),
            "tbl" => self.tables = self.tables.saturating_sub(1),
            "tr" if self.tables == 1 => {
                if let Some(row) = self.row.take() {
                    self.table_row(row);
                }
            }
            _ => {}
        }
    }

    fn write(&mut self, text: &str) {
        let Some(paragraph) = self.paragraphs.last_mut() else { return };
        // The cells of a table often have a dark ground.
        let is_white = self.run.is_white && !self.run.is_shaded && !paragraph.is_shaded && self.tables == 0;
        if self.run.is_hidden || is_white {
            self.draft.hide(text);
        } else {
            paragraph.text.push_str(text);
        }
    }

    fn refer(&mut self, kind: NoteKind, tag: &BytesStart) {
        if let (Some(paragraph), Some(id)) = (self.paragraphs.last_mut(), attribute(tag, "id")) {
            paragraph.notes.push((kind, id));
        }
    }

    fn paragraph(&mut self, paragraph: Paragraph) {
        if let Some(cell) = self.row.as_mut().and_then(|row| row.cells.last_mut()) {
            cell.push(paragraph.text);
            cell.extend(self.notes.take(&paragraph.notes));
            return;
        }
        match paragraph.role.filter(|role| !(paragraph.body_text && matches!(role, Role::Heading(_)))) {
            Some(Role::Heading(level)) => self.draft.heading(level, &paragraph.text),
            Some(Role::ListItem) => self.draft.block(BlockKind::ListItem, &paragraph.text),
            Some(Role::Quote) => self.draft.block(BlockKind::Quote, &paragraph.text),
            Some(Role::Contents) => self.draft.block(BlockKind::Boilerplate, &paragraph.text),
            None => self.draft.block(BlockKind::Paragraph, &paragraph.text),
        }
        for note in self.notes.take(&paragraph.notes) {
            self.draft.block(BlockKind::Paragraph, &note);
        }
    }

    /// Writes a table row. A row with a single cell is a frame around paragraphs, not a table.
    fn table_row(&mut self, row: Row) {
        if let [only] = row.cells.as_slice() {
            for paragraph in only {
                self.draft.block(BlockKind::Paragraph, paragraph);
            }
            return;
        }
        let cells: Vec<String> = row.cells.iter().map(|cell| one_line(&cell.join(" "))).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            self.draft.block(BlockKind::TableRow, &cells.join(" | "));
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
