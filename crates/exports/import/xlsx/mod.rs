//! Reads a workbook that was exported from here, also after a spreadsheet program has saved it again.
//!
//! Sheets and columns are found by their headings, in any of the languages that files are written in; their order does not matter. A
//! column that is gone is a field that the file does not speak of.

mod items;
mod tokens;
mod workbook;

use std::collections::HashMap;

use self::workbook::{SheetCell, SheetRow, WorkbookReader, column_name};
use super::bounds::{ItemBudget, MAX_ITEMS, MAX_NAME_BYTES, MAX_TEXT_PIECES, UpperBound};
use super::fault::{ImportFault, MAX_PLACE_LENGTH, cut};
use super::imported::Imported;
use super::notes::NoteList;
use crate::text::clean;
use crate::words::Label;

pub(super) fn read(bytes: &[u8]) -> Result<Imported, ImportFault> {
    let mut workbook = WorkbookReader::open(bytes)?;
    let mut notes = NoteList::default();
    let mut rows = RowBounds::default();
    let mut sheets = Vec::new();
    for (position, name) in workbook.sheet_names().iter().enumerate() {
        let Some(label) = label_of_sheet(name) else {
            notes.add(name, "This sheet is not one of those that are exported: it is not read.");
            continue;
        };
        if READ_SHEETS.contains(&label) {
            let mut sheet = ImportedSheet::new(label, name);
            workbook.rows(position, |row| sheet.add(row, &mut rows, &mut notes))?;
            sheets.push(sheet);
        }
    }
    // What its cells need of it is in the rows.
    drop(workbook);
    if !sheets.iter().any(|sheet| matches!(sheet.label, Label::Requirements | Label::UserStories)) {
        return Err(ImportFault::new(
            "The workbook has no sheet of requirements or user stories that was exported from here.",
        ));
    }
    let mut continuations = Continuations::of(&sheets);
    let mut imported = items::read(sheets, &mut continuations, &mut notes)?;
    (imported.not_understood, imported.more_not_understood) = notes.into_parts();
    Ok(imported)
}

/// How many rows all sheets may have together.
struct RowBounds {
    items: UpperBound,
    pieces: UpperBound,
}

impl Default for RowBounds {
    fn default() -> Self {
        Self {
            items: UpperBound::up_to(MAX_ITEMS, "The workbook has more than {} items."),
            pieces: UpperBound::up_to(MAX_TEXT_PIECES, "The workbook has more than {} pieces of long texts."),
        }
    }
}

/// What the other sheets say follows from these, or is not taken over from files.
const READ_SHEETS: [Label; 4] = [Label::Requirements, Label::UserStories, Label::AcceptanceCriteria, Label::LongTexts];

/// `Requirements`, or `Requirements (2)` where one sheet was not enough.
fn label_of_sheet(name: &str) -> Option<Label> {
    // Excel writes 31 characters at most.
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let base = match name.rsplit_once(" (") {
        Some((base, number)) if number.strip_suffix(')').is_some_and(|number| number.parse::<u32>().is_ok()) => base,
        _ => name,
    };
    Label::SECTIONS.into_iter().find(|label| label.is_written(base))
}

struct ImportedSheet {
    label: Label,
    name: String,
    /// Known once its first row is read.
    columns: Option<Vec<(Label, usize)>>,
    rows: Vec<SheetRow>,
}

impl ImportedSheet {
    fn new(label: Label, name: &str) -> Self {
        Self { label, name: cut(name, MAX_PLACE_LENGTH).into_owned(), columns: None, rows: Vec::new() }
    }

    fn columns(&self) -> &[(Label, usize)] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// Takes a row: the first one names the columns, and of the others only their cells are kept.
    fn add(&mut self, row: SheetRow, bounds: &mut RowBounds, notes: &mut NoteList) -> Result<(), ImportFault> {
        let Some(columns) = &self.columns else {
            self.columns = Some(self.named_columns(row.cells, notes));
            return Ok(());
        };
        if columns.is_empty() {
            return Ok(());
        }
        let counted = if self.label == Label::LongTexts { bounds.pieces.count() } else { bounds.items.count() };
        counted.map_err(ImportFault::new)?;
        let mut cells: Vec<SheetCell> = Vec::with_capacity(columns.len().min(row.cells.len()));
        for cell in row.cells {
            let is_known = columns.iter().any(|(_, column)| *column == cell.column);
            // The first one of a column counts.
            if is_known && !cells.iter().any(|before| before.column == cell.column) {
                cells.push(cell);
            }
        }
        self.rows.push(SheetRow { number: row.number, cells });
        Ok(())
    }

    fn named_columns(&self, headings: Vec<SheetCell>, notes: &mut NoteList) -> Vec<(Label, usize)> {
        let known = items::columns_of(self.label);
        let mut columns: Vec<(Label, usize)> = Vec::new();
        for heading in headings {
            let place = format!("{}, {}1", self.name, column_name(heading.column));
            let written = heading_label(&heading.text, |label| known.contains(&label));
            match written {
                Some(label) if columns.iter().any(|(column, _)| *column == label) => {
                    notes.add(&place, "This column occurs twice: the first one is read.");
                }
                Some(label) => columns.push((label, heading.column)),
                None if heading_label(&heading.text, |_| true).is_some() => {}
                None => notes.add(&place, "This column is not one of those that are exported: it is not read."),
            }
        }
        if columns.is_empty() {
            let unknown = "No column of this sheet has a heading that is known here: its rows are not read.";
            notes.add(&self.name, unknown);
        }
        columns
    }

    fn cell<'a>(&self, row: &'a SheetRow, label: Label) -> Option<&'a SheetCell> {
        let (_, column) = self.columns().iter().find(|(known, _)| *known == label)?;
        row.cells.iter().find(|cell| cell.column == *column)
    }

    fn place(&self, row: &SheetRow) -> String {
        format!("{}, row {}", self.name, row.number)
    }
}

/// The label, of those that are meant, that a heading is in any of the languages.
fn heading_label(heading: &str, is_meant: impl Fn(Label) -> bool) -> Option<Label> {
    if heading.len() > MAX_NAME_BYTES {
        return None;
    }
    Label::written(heading).iter().copied().find(|label| is_meant(*label))
}

/// One row with what is needed to read its cells.
struct ImportedRows<'a> {
    sheet: &'a ImportedSheet,
    row: &'a SheetRow,
    continuations: &'a mut Continuations,
    budget: &'a mut ItemBudget,
    notes: &'a mut NoteList,
}

impl ImportedRows<'_> {
    /// `None` where the sheet has no such column, or its cell cannot be used; an empty text where the cell is empty.
    fn text(&mut self, label: Label) -> Option<String> {
        self.sheet.columns().iter().find(|(known, _)| *known == label)?;
        let Some(cell) = self.sheet.cell(self.row, label) else { return Some(String::new()) };
        if cell.is_formula {
            self.note(label, "The cell holds a formula: it is not read. Write the text itself.");
            return None;
        }
        let text = clean(&cell.text).into_owned();
        let Some((beginning, _)) = continued(&text) else { return Some(text) };
        let id = self.sheet.cell(self.row, Label::Id);
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

    fn note(&mut self, label: Label, reason: &str) {
        let column =
            self.sheet.columns().iter().find(|(known, _)| *known == label).map(|(_, column)| column_name(*column));
        let place = format!("{}, {}{}", self.sheet.name, column.unwrap_or_default(), self.row.number);
        self.notes.add(&place, reason);
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
                let cell = |label| sheet.cell(row, label).map(|cell| cell.text.as_str());
                let table = cell(Label::Sheet).and_then(label_of_sheet);
                let column = cell(Label::Column).and_then(|name| heading_label(name, is_text));
                let part = cell(Label::Part).and_then(|part| part.parse::<u32>().ok());
                if let (Some(table), Some(column), Some(part)) = (table, column, part) {
                    let key = (table, column, cell(Label::Id).unwrap_or_default().to_owned());
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
