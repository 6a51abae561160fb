//! Writes the rows of one sheet: the name of the sheet as a heading, then titles, then the table.

use super::super::comma::{are_names, filled};
use super::super::draft::TextDraft;
use super::super::source::BlockKind;

/// How many rows are looked at to tell the names of the columns from the title and the notes above them.
const FIRST_ROWS: usize = 10;

/// A row of a sheet: its cells that are shown, with the numbers of their columns from 1, none empty.
pub struct Row {
    pub cells: Vec<(usize, String)>,
    /// Whether its first cell covers several columns.
    pub is_wide: bool,
}

/// Writes rows. Nothing is written of a sheet without any.
pub struct TableWriter<'a> {
    draft: &'a mut TextDraft,
    title: Option<&'a str>,
    /// The names of the columns, by their numbers.
    names: Vec<String>,
    /// The rows at the beginning; `None` once it is known what they are.
    first_rows: Option<Vec<Row>>,
}

impl<'a> TableWriter<'a> {
    pub fn new(draft: &'a mut TextDraft, title: &'a str) -> Self {
        Self { draft, title: Some(title), names: Vec::new(), first_rows: Some(Vec::new()) }
    }

    /// Whether a limit was exceeded; the document is then rejected.
    pub fn is_full(&self) -> bool {
        self.draft.is_full()
    }

    /// Counts a cell that is not shown.
    pub fn hide(&mut self, text: &str) {
        self.draft.hide(text);
    }

    /// Writes a row, which has at least one cell.
    pub fn row(&mut self, row: Row) {
        if let Some(title) = self.title.take() {
            self.draft.heading(1, title);
        }
        match &mut self.first_rows {
            None => self.write(&row),
            Some(rows) => {
                rows.push(row);
                if rows.len() == FIRST_ROWS {
                    self.end();
                }
            }
        }
    }

    /// Writes what was held back. The first row that is about as wide as the table may name its columns; those above it
    /// are titles and notes.
    pub fn end(&mut self) {
        let rows = self.first_rows.take().unwrap_or_default();
        let width = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let is_in_table = |row: &Row| row.cells.len() * 3 > width * 2;
        let first = rows.iter().position(is_in_table).unwrap_or(0);
        for (at, row) in rows.iter().enumerate() {
            match row.cells.as_slice() {
                [(_, title)] if at < first => self.draft.block(BlockKind::Paragraph, title),
                _ if at == first && rows.len() > 1 && self.takes_names(row) => self.write_names(),
                _ => self.write(row),
            }
        }
    }

    /// Takes a row for the names of the columns if it reads so.
    fn takes_names(&mut self, row: &Row) -> bool {
        let cells: Vec<String> = row.cells.iter().map(|(_, value)| value.clone()).collect();
        if !are_names(&cells) {
            return false;
        }
        for (column, name) in &row.cells {
            if self.names.len() <= *column {
                self.names.resize(column + 1, String::new());
            }
            if let Some(place) = self.names.get_mut(*column) {
                place.clone_from(name);
            }
        }
        true
    }

    fn write_names(&mut self) {
        let names: Vec<&str> = self.names.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        self.draft.block(BlockKind::Boilerplate, &names.join(" | "));
    }

    fn write(&mut self, row: &Row) {
        match row.cells.as_slice() {
            // A line across the table, which says what the rows below are about.
            [(_, label)] if row.is_wide => self.draft.block(BlockKind::Paragraph, label),
            cells => {
                let cells = cells.iter().map(|(column, value)| (*column, value.as_str()));
                self.draft.block(BlockKind::TableRow, &filled(cells, &self.names));
            }
        }
    }
}
