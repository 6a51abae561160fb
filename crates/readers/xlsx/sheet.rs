//! Reads the rows of one sheet.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use quick_xml::events::BytesStart;

use super::super::draft::{CHARACTERS, TextDraft, more_than, printable};
use super::super::package::{PartEvent, attribute, for_each_event, for_each_event_until, is_on};
use super::super::source::Unreadable;
use super::looks::{CellLook, CellLooks};
use super::numbers::NumberFormat;
use super::strings::{SharedStrings, TextScope, unescaped};
use super::table::{Row, TableWriter};

/// The last column of a sheet, "XFD".
const COLUMNS: usize = 16_384;
/// Maximum bytes of the text of all cells of a workbook, shown or hidden. A cell may refer to a text that others have
/// too, so that a small file could hold any amount of it.
const CELL_BYTES: usize = 4 * CHARACTERS;

/// How many bytes of cells may still be read.
pub struct CellBudget(usize);

impl Default for CellBudget {
    fn default() -> Self {
        Self(CELL_BYTES)
    }
}

impl CellBudget {
    fn take(&mut self, text: &str) -> Result<(), Unreadable> {
        self.0 = self.0.checked_sub(text.len()).ok_or_else(|| more_than(CHARACTERS, "characters of text"))?;
        Ok(())
    }
}

/// Reads a sheet with what it refers to.
pub struct SheetReader<'a> {
    pub strings: &'a SharedStrings,
    pub looks: &'a CellLooks,
    pub since_1904: bool,
    pub is_hidden: bool,
    pub title: &'a str,
}

impl SheetReader<'_> {
    /// Writes the rows that are shown and counts the text of the others.
    ///
    /// # Errors
    /// `Damaged` for malformed XML; `TooLarge` past the budget.
    pub fn read(&self, xml: &str, draft: &mut TextDraft, budget: &mut CellBudget) -> Result<(), Unreadable> {
        // The colours of a table's style and those that depend on a value are not looked at: white may be seen on them.
        let has_other_grounds = xml.contains("<tablePart") || xml.contains("conditionalFormatting");
        let mut rows = RowReader {
            sheet: self,
            hides_white: !has_other_grounds,
            merged: MergedCells::read(xml)?,
            hidden_columns: Vec::new(),
            table: TableWriter::new(draft, self.title),
            budget,
            failure: None,
            row: OpenRow::default(),
            cell: None,
            covering: BTreeMap::new(),
        };
        for_each_event_until(xml, |event| rows.handle(event))?;
        if let Some(failure) = rows.failure {
            return Err(failure);
        }
        rows.table.end();
        Ok(())
    }
}

/// The cells that cover others, by row and column.
#[derive(Default)]
struct MergedCells(HashMap<(usize, usize), MergedExtent>);

/// The last row and column of a merged cell.
#[derive(Clone, Copy)]
struct MergedExtent {
    row: usize,
    column: usize,
}

impl MergedCells {
    fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut merged = Self::default();
        // They come after the rows: most sheets have none and are read only once.
        if xml.contains("mergeCell ") {
            for_each_event(xml, |event| {
                if let PartEvent::Opens("mergeCell", tag) = event
                    && let Some((first, last)) =
                        attribute(tag, "ref").as_deref().and_then(|range| range.split_once(':'))
                    && let (Some(first), Some(last)) = (place(first), place(last))
                {
                    merged.0.insert(first, MergedExtent { row: last.0, column: last.1 });
                }
            })?;
        }
        Ok(merged)
    }
}

#[derive(Default)]
struct OpenRow {
    /// From 1.
    number: usize,
    is_hidden: bool,
    cells: BTreeMap<usize, String>,
    /// Column of the cell read last.
    column: usize,
}

struct OpenCell {
    kind: CellKind,
    look: CellLook,
    value: String,
    in_value: bool,
    scope: TextScope,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CellKind {
    Shared,
    Text,
    Boolean,
    Day,
    Number,
}

/// A merged cell whose rows are not yet over.
struct Covering {
    last_row: usize,
    text: String,
}

struct RowReader<'a> {
    sheet: &'a SheetReader<'a>,
    hides_white: bool,
    merged: MergedCells,
    /// First and last of each range, in order once the rows begin.
    hidden_columns: Vec<(usize, usize)>,
    table: TableWriter<'a>,
    budget: &'a mut CellBudget,
    failure: Option<Unreadable>,
    row: OpenRow,
    cell: Option<OpenCell>,
    covering: BTreeMap<usize, Covering>,
}

impl RowReader<'_> {
    fn handle(&mut self, event: PartEvent) -> ControlFlow<()> {
        match event {
            PartEvent::Opens("col", tag) => self.column(tag),
            PartEvent::Opens("sheetData", _) => self.sort_columns(),
            PartEvent::Opens("row", tag) => self.open_row(tag),
            PartEvent::Opens("c", tag) => self.open_cell(tag),
            PartEvent::Opens("v", _) | PartEvent::Closes("v") => {
                if let Some(cell) = &mut self.cell {
                    cell.in_value = matches!(event, PartEvent::Opens(..));
                }
            }
            PartEvent::Text(text) => {
                if let Some(cell) = self.cell.as_mut().filter(|cell| cell.in_value || cell.scope.is_shown()) {
                    cell.value.push_str(text);
                }
            }
            PartEvent::Closes("c") => self.failure = self.close_cell().err().or(self.failure.take()),
            PartEvent::Closes("row") => self.failure = self.close_row().err().or(self.failure.take()),
            PartEvent::Closes("sheetData") => return ControlFlow::Break(()),
            other => {
                if let Some(cell) = &mut self.cell {
                    cell.scope.follow(&other);
                }
            }
        }
        if self.failure.is_some() || self.table.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn column(&mut self, tag: &BytesStart) {
        let is_hidden = attribute(tag, "hidden").is_some_and(|value| is_on(&value))
            || attribute(tag, "width").is_some_and(|width| width.parse() == Ok(0.0_f64));
        let number = |name: &str| attribute(tag, name).and_then(|number| number.parse().ok());
        if let (true, Some(first), Some(last)) = (is_hidden, number("min"), number("max")) {
            self.hidden_columns.push((first, last));
        }
    }

    /// Joins the ranges of hidden columns that overlap, so that a column can be looked up in them.
    fn sort_columns(&mut self) {
        self.hidden_columns.sort_unstable();
        self.hidden_columns.dedup_by(|next, last| {
            let overlaps = next.0 <= last.1;
            if overlaps {
                last.1 = last.1.max(next.1);
            }
            overlaps
        });
    }

    fn is_hidden_column(&self, column: usize) -> bool {
        let behind = self.hidden_columns.partition_point(|(first, _)| *first <= column);
        behind.checked_sub(1).and_then(|at| self.hidden_columns.get(at)).is_some_and(|(_, last)| column <= *last)
    }

    fn open_row(&mut self, tag: &BytesStart) {
        let number = attribute(tag, "r").and_then(|number| number.parse().ok());
        let is_hidden = attribute(tag, "hidden").is_some_and(|value| is_on(&value))
            || attribute(tag, "ht").is_some_and(|height| height.parse() == Ok(0.0_f64));
        let number = number.unwrap_or(self.row.number.saturating_add(1));
        self.row = OpenRow { number, is_hidden, ..OpenRow::default() };
    }

    fn open_cell(&mut self, tag: &BytesStart) {
        let given = attribute(tag, "r").as_deref().and_then(place).map(|(_, column)| column);
        self.row.column = given.unwrap_or(self.row.column + 1);
        let kind = match attribute(tag, "t").as_deref() {
            Some("s") => CellKind::Shared,
            Some("str" | "inlineStr" | "e") => CellKind::Text,
            Some("b") => CellKind::Boolean,
            Some("d") => CellKind::Day,
            _ => CellKind::Number,
        };
        self.cell = Some(OpenCell {
            kind,
            look: self.sheet.looks.get(attribute(tag, "s").as_deref()),
            value: String::new(),
            in_value: false,
            scope: TextScope::default(),
        });
    }

    fn close_cell(&mut self) -> Result<(), Unreadable> {
        let Some(cell) = self.cell.take() else { return Ok(()) };
        let column = self.row.column;
        let text = match cell.kind {
            CellKind::Shared => self.sheet.strings.get(&cell.value).unwrap_or_default(),
            _ => &cell.value,
        };
        self.budget.take(text)?;
        let shown = match cell.kind {
            CellKind::Number => match cell.look.number {
                NumberFormat::Hidden => text.to_owned(),
                format => format.shown(text, self.sheet.since_1904),
            },
            CellKind::Boolean => if text.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            CellKind::Day => text.split('T').next().unwrap_or_default().to_owned(),
            CellKind::Shared | CellKind::Text => {
                printable(&unescaped(text)).split_whitespace().collect::<Vec<_>>().join(" ")
            }
        };
        if text.is_empty() || shown.is_empty() || column > COLUMNS {
            return Ok(());
        }
        let is_hidden = self.sheet.is_hidden
            || self.row.is_hidden
            || cell.look.number == NumberFormat::Hidden
            || (cell.look.is_white && self.hides_white)
            || self.is_hidden_column(column);
        if is_hidden {
            self.table.hide(&shown);
        } else {
            self.row.cells.insert(column, shown);
        }
        Ok(())
    }

    fn close_row(&mut self) -> Result<(), Unreadable> {
        let OpenRow { number, mut cells, .. } = std::mem::take(&mut self.row);
        self.row.number = number;
        if cells.is_empty() {
            return Ok(());
        }
        self.covering.retain(|_, covering| covering.last_row >= number);
        for (column, covering) in &self.covering {
            if !cells.contains_key(column) {
                self.budget.take(&covering.text)?;
                cells.insert(*column, covering.text.clone());
            }
        }
        let mut is_wide = false;
        for (column, text) in &cells {
            let Some(extent) = self.merged.0.get(&(number, *column)) else { continue };
            is_wide = is_wide || extent.column > *column;
            if extent.row > number {
                self.covering.insert(*column, Covering { last_row: extent.row, text: text.clone() });
            }
        }
        self.table.row(Row { cells: cells.into_iter().collect(), is_wide });
        Ok(())
    }
}

/// Returns the row and the column, from 1, of a reference such as "B12" or "$B$12".
fn place(reference: &str) -> Option<(usize, usize)> {
    let mut column = 0_usize;
    let mut row = 0_usize;
    for byte in reference.bytes().filter(|byte| *byte != b'$') {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' if row == 0 => {
                column = column * 26 + usize::from(byte.to_ascii_uppercase() - b'A') + 1;
            }
            b'0'..=b'9' => row = row.checked_mul(10)?.checked_add(usize::from(byte - b'0'))?,
            _ => return None,
        }
        if column > COLUMNS {
            return None;
        }
    }
    (column > 0 && row > 0).then_some((row, column))
}
