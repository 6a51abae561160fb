//! Reads a workbook that was exported from here, also after a spreadsheet program has saved it again.
//!
//! Sheets and columns are found by their headings, in any of the languages that files are written in; their order does not matter. A
//! column that is gone is a field that the file does not speak of.

mod items;
mod tokens;
mod workbook;

use std::collections::HashMap;

use self::workbook::{SheetRow, WorkbookReader, column_name};
use super::bounds::MAX_ITEMS;
use super::{ImportFault, Imported, NotUnderstood};
use crate::text::clean;
use crate::words::Label;

pub(super) fn read(bytes: &[u8]) -> Result<Imported, ImportFault> {
    let mut workbook = WorkbookReader::open(bytes)?;
    let mut notes = Vec::new();
    let mut sheets = Vec::new();
    for name in workbook.sheet_names() {
        let Some(label) = label_of_sheet(&name) else {
            notes.push(note(&name, "This sheet is not one of those that are exported: it is not read."));
            continue;
        };
        if READ_SHEETS.contains(&label) {
            sheets.push(ImportedSheet::new(label, &name, workbook.rows(&name)?, &mut notes));
        }
    }
    if !sheets.iter().any(|sheet| matches!(sheet.label, Label::Requirements | Label::UserStories)) {
        return Err(ImportFault::new(
            "The workbook has no sheet of requirements or user stories that was exported from here.",
        ));
    }
    let items =
        sheets.iter().filter(|sheet| sheet.label != Label::LongTexts).map(|sheet| sheet.rows.len()).sum::<usize>();
    if items > MAX_ITEMS {
        return Err(ImportFault::new(format!("The workbook has more than {MAX_ITEMS} items.")));
    }
    let mut continuations = Continuations::of(&sheets);
    let mut imported = items::read(&sheets, &mut continuations, &mut notes);
    imported.not_understood = notes;
    Ok(imported)
}

/// What the other sheets say follows from these, or is not taken over from files.
const READ_SHEETS: [Label; 4] = [Label::Requirements, Label::UserStories, Label::AcceptanceCriteria, Label::LongTexts];

/// `Requirements`, or `Requirements (2)` where one sheet was not enough.
fn label_of_sheet(name: &str) -> Option<Label> {
    let base = match name.rsplit_once(" (") {
        Some((base, number)) if number.strip_suffix(')').is_some_and(|number| number.parse::<u32>().is_ok()) => base,
        _ => name,
    };
    Label::SECTIONS.into_iter().find(|label| label.is_written(base))
}

fn note(place: &str, reason: impl Into<String>) -> NotUnderstood {
    NotUnderstood { place: place.to_owned(), reason: reason.into() }
}

struct ImportedSheet {
    label: Label,
    name: String,
    columns: Vec<(Label, usize)>,
    rows: Vec<SheetRow>,
}

impl ImportedSheet {
    fn new(label: Label, name: &str, rows: Vec<SheetRow>, notes: &mut Vec<NotUnderstood>) -> Self {
        let known = items::columns_of(label);
        let mut columns: Vec<(Label, usize)> = Vec::new();
        let mut rows = rows.into_iter();
        for heading in rows.next().map(|row| row.cells).unwrap_or_default() {
            let place = format!("{name}, {}1", column_name(heading.column));
            match Label::ALL.iter().find(|label| known.contains(label) && label.is_written(&heading.text)) {
                Some(label) if columns.iter().any(|(column, _)| column == label) => {
                    notes.push(note(&place, "This column occurs twice: the first one is read."));
                }
                Some(label) => columns.push((*label, heading.column)),
                None if Label::ALL.iter().any(|label| label.is_written(&heading.text)) => {}
                None => notes.push(note(&place, "This column is not one of those that are exported: it is not read.")),
            }
        }
        if columns.is_empty() {
            notes.push(note(name, "No column of this sheet has a heading that is known here: its rows are not read."));
            return Self { label, name: name.to_owned(), columns, rows: Vec::new() };
        }
        Self { label, name: name.to_owned(), columns, rows: rows.collect() }
    }

    fn place(&self, row: &SheetRow) -> String {
        format!("{}, row {}", self.name, row.number)
    }
}

/// One row with what is needed to read its cells.
struct ImportedRows<'a> {
    sheet: &'a ImportedSheet,
    row: &'a SheetRow,
    continuations: &'a mut Continuations,
    notes: &'a mut Vec<NotUnderstood>,
}

impl ImportedRows<'_> {
    /// `None` where the sheet has no such column, or its cell cannot be used; an empty text where the cell is empty.
    fn text(&mut self, label: Label) -> Option<String> {
        let (_, column) = self.sheet.columns.iter().find(|(known, _)| *known == label)?;
        let Some(cell) = self.row.cells.iter().find(|cell| cell.column == *column) else {
            return Some(String::new());
        };
        if cell.is_formula {
            self.note(label, "The cell holds a formula: it is not read. Write the text itself.");
            return None;
        }
        let text = clean(&cell.text).into_owned();
        let Some((beginning, _)) = continued(&text) else { return Some(text) };
        let id = self.sheet.columns.iter().find(|(known, _)| *known == Label::Id);
        let id = id.and_then(|(_, column)| self.row.cells.iter().find(|cell| cell.column == *column));
        let key = (self.sheet.label, label, id.map(|cell| cell.text.clone()).unwrap_or_default());
        match self.continuations.take(&key) {
            Some(rest) => Some(format!("{beginning}{rest}")),
            None => {
                self.note(label, "The text continues in the sheet of long texts, but its rows are missing there.");
                None
            }
        }
    }

    /// As [`ImportedRows::text`], where an empty cell says nothing.
    fn filled(&mut self, label: Label) -> Option<String> {
        self.text(label).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn note(&mut self, label: Label, reason: impl Into<String>) {
        let column =
            self.sheet.columns.iter().find(|(known, _)| *known == label).map(|(_, column)| column_name(*column));
        let place = format!("{}, {}{}", self.sheet.name, column.unwrap_or_default(), self.row.number);
        self.notes.push(note(&place, reason));
    }
}

/// The beginning of a text that ends with the note of its continuation, and the row that the note names.
fn continued(text: &str) -> Option<(&str, u32)> {
    let (beginning, note) = text.rsplit_once("\n… (")?;
    let (phrase, row) = note.strip_suffix(')')?.rsplit_once(' ')?;
    Label::ContinuesInRow.is_written(phrase).then_some(())?;
    Some((beginning, row.parse().ok()?))
}

/// The sheet, the column and the id of the item that a piece of a long text belongs to.
type CellKey = (Label, Label, String);

/// The pieces of long texts by the cell that they belong to, with their numbers.
struct Continuations(HashMap<CellKey, Vec<(u32, String)>>);

impl Continuations {
    fn of(sheets: &[ImportedSheet]) -> Self {
        let mut pieces: HashMap<CellKey, Vec<(u32, String)>> = HashMap::new();
        for sheet in sheets.iter().filter(|sheet| sheet.label == Label::LongTexts) {
            for row in &sheet.rows {
                let cell = |label| {
                    let (_, column) = sheet.columns.iter().find(|(known, _)| *known == label)?;
                    row.cells.iter().find(|cell| cell.column == *column).map(|cell| cell.text.as_str())
                };
                let table = cell(Label::Sheet).and_then(label_of_sheet);
                let column = cell(Label::Column)
                    .and_then(|name| Label::ALL.iter().find(|label| label.is_written(name) && is_text(**label)));
                let part = cell(Label::Part).and_then(|part| part.parse::<u32>().ok());
                if let (Some(table), Some(column), Some(part)) = (table, column, part) {
                    let key = (table, *column, cell(Label::Id).unwrap_or_default().to_owned());
                    pieces.entry(key).or_default().push((part, cell(Label::Text).unwrap_or_default().to_owned()));
                }
            }
        }
        Self(pieces)
    }

    /// The rest of the text, if all of its pieces are there.
    fn take(&mut self, key: &CellKey) -> Option<String> {
        let mut pieces = self.0.remove(key)?;
        pieces.sort_by_key(|(part, _)| *part);
        let is_whole = pieces.iter().zip(2..).all(|((part, _), expected)| *part == expected);
        is_whole.then(|| pieces.into_iter().map(|(_, text)| text).collect())
    }
}

/// Whether a column holds texts of any length.
fn is_text(label: Label) -> bool {
    READ_SHEETS.into_iter().any(|sheet| items::columns_of(sheet).contains(&label))
}
