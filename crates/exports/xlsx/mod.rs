//! Workbooks: a sheet for each kind of item, and one for what is too long for a cell.
//!
//! Every text is written as a text cell: nothing is parsed as a formula or turned into a link. A text that would become a formula as soon
//! as somebody edits its cell also carries the mark that Excel sets for a leading apostrophe.

mod formats;
mod heights;
mod long_texts;

use rust_xlsxwriter::{
    ColNum, DataValidation, DocProperties, ExcelDateTime, Format, RowNum, Workbook, Worksheet, XlsxError,
};

use self::formats::CellFormats;
use self::heights::RowHeight;
use self::long_texts::{CellOwner, LongTexts};
use crate::fault::ExportFault;
use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::tables::{CellContent, ColumnReader, SpecificationTable, TableColumn, tables};
use crate::text::{clean_line, is_formula_like};
use crate::words::{Label, Words};

/// What a file may hold at most; tests set it lower.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Of a sheet, with the row of headings.
    pub(crate) rows: RowNum,
    /// Of a cell, in UTF-16 code units.
    pub(crate) cell_units: usize,
}

/// The limits of Excel.
const EXCEL: Limits = Limits { rows: 1_048_576, cell_units: 32_767 };

/// How many rows below the last one offer the choices of their columns to somebody who adds items.
const SPARE_ROWS: RowNum = 500;

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    write_within(specification, EXCEL)
}

pub(crate) fn write_within(specification: &Specification, limits: Limits) -> Result<Vec<u8>, ExportFault> {
    let words = Words::of(&specification.project.language);
    let codes = RequirementCodes::of(specification);
    let mut writer = WorkbookWriter {
        workbook: Workbook::new(),
        words,
        limits,
        formats: CellFormats::new(),
        long: LongTexts::default(),
    };
    writer.set_properties(specification).map_err(fault)?;
    for table in tables(specification, words, &codes) {
        writer.write_table(table).map_err(fault)?;
    }
    writer.write_long_texts().map_err(fault)?;
    writer.workbook.save_to_buffer().map_err(fault)
}

fn fault(error: XlsxError) -> ExportFault {
    ExportFault(format!("The workbook could not be written: {error}"))
}

struct WorkbookWriter {
    workbook: Workbook,
    words: Words,
    limits: Limits,
    formats: CellFormats,
    long: LongTexts,
}

impl WorkbookWriter {
    /// The time of creation is that of the content: a clock would make two files of the same content differ.
    fn set_properties(&mut self, specification: &Specification) -> Result<(), XlsxError> {
        let created = match excel_time(&specification.as_of) {
            Some(time) => time,
            None => ExcelDateTime::from_ymd(2000, 1, 1)?,
        };
        let title: String = clean_line(&specification.project.name).chars().take(200).collect();
        self.workbook.set_properties(&DocProperties::new().set_title(title).set_creation_datetime(&created));
        Ok(())
    }

    fn write_table(&mut self, table: SpecificationTable<'_>) -> Result<(), XlsxError> {
        let SpecificationTable { label, columns, rows } = table;
        let mut rows = rows.peekable();
        // Sheets that a person may add items to exist even when they are empty.
        let is_kept = matches!(label, Label::Requirements | Label::UserStories | Label::AcceptanceCriteria);
        if rows.peek().is_none() && !is_kept {
            return Ok(());
        }
        let mut number = 1;
        loop {
            let (words, formats) = (self.words, &self.formats);
            let sheet = new_sheet(&mut self.workbook, words, label, number)?;
            write_headings(sheet, words, formats, columns)?;
            let mut row = 1;
            while row < self.limits.rows
                && let Some(cells) = rows.next()
            {
                let mut height = RowHeight::default();
                for ((column, content), index) in columns.iter().zip(&cells).zip(0..) {
                    let owner = CellOwner { table: label, column: column.label, item: row_id(&cells) };
                    let cut = |text: &str| self.long.cut(text, self.limits.cell_units, words, owner);
                    height.add(column, content);
                    write_cell(sheet, formats, (row, index), content, cut)?;
                }
                sheet.set_row_height(row, height.points())?;
                row += 1;
            }
            finish_sheet(sheet, words, (label, columns), row - 1)?;
            if rows.peek().is_none() {
                return Ok(());
            }
            number += 1;
        }
    }

    fn write_long_texts(&mut self) -> Result<(), XlsxError> {
        if self.long.is_empty() {
            return Ok(());
        }
        let sheet = new_sheet(&mut self.workbook, self.words, Label::LongTexts, 1)?;
        write_headings(sheet, self.words, &self.formats, long_texts::COLUMNS)?;
        for (piece, row) in self.long.pieces().zip(1..) {
            let mut height = RowHeight::default();
            for ((column, content), index) in long_texts::COLUMNS.iter().zip(&piece.cells(self.words)).zip(0..) {
                height.add(column, content);
                write_cell(sheet, &self.formats, (row, index), content, |text| text.to_owned())?;
            }
            sheet.set_row_height(row, height.points())?;
        }
        let last_row = RowNum::try_from(self.long.pieces().count()).unwrap_or(RowNum::MAX);
        set_view(sheet, long_texts::COLUMNS, last_row, 1)
    }
}

fn new_sheet(workbook: &mut Workbook, words: Words, label: Label, number: u32) -> Result<&mut Worksheet, XlsxError> {
    let name = words.label(label);
    let sheet = workbook.add_worksheet();
    sheet.set_name(if number == 1 { name.to_owned() } else { format!("{name} ({number})") })?;
    sheet.set_right_to_left(words.direction().is_rtl());
    Ok(sheet)
}

fn write_headings(
    sheet: &mut Worksheet,
    words: Words,
    formats: &CellFormats,
    columns: &[TableColumn],
) -> Result<(), XlsxError> {
    for (column, index) in columns.iter().zip(0..) {
        sheet.write_string_with_format(0, index, words.label(column.label), &formats.heading)?;
        sheet.set_column_width(index, f64::from(column.width))?;
        if column.reader == ColumnReader::Program {
            sheet.set_column_hidden(index)?;
        }
    }
    let mut height = RowHeight::default();
    columns.iter().for_each(|column| height.add(column, &CellContent::Text(words.label(column.label).into())));
    sheet.set_row_height(0, height.points())?;
    Ok(())
}

/// The id of the item, which stands in the last column.
fn row_id<'a>(cells: &'a [CellContent<'_>]) -> &'a str {
    match cells.last() {
        Some(CellContent::Text(id)) => id,
        _ => "",
    }
}

fn write_cell(
    sheet: &mut Worksheet,
    formats: &CellFormats,
    (row, column): (RowNum, ColNum),
    content: &CellContent<'_>,
    cut: impl FnOnce(&str) -> String,
) -> Result<(), XlsxError> {
    match content {
        CellContent::Empty => {}
        CellContent::Number(number) => {
            let format: &Format = if number.fract() == 0.0 { &formats.whole } else { &formats.ratio };
            sheet.write_number_with_format(row, column, *number, format)?;
        }
        CellContent::Time(time) => match excel_time(time) {
            Some(parsed) => {
                let format = if time.contains('T') { &formats.time } else { &formats.date };
                sheet.write_datetime_with_format(row, column, &parsed, format)?;
            }
            None => return write_cell(sheet, formats, (row, column), &CellContent::Text(time.as_ref().into()), cut),
        },
        CellContent::Text(text) => {
            let format = if is_formula_like(text) { &formats.inert } else { &formats.text };
            sheet.write_string_with_format(row, column, cut(text), format)?;
        }
    }
    Ok(())
}

/// The last row is zero where the sheet has only its headings.
fn finish_sheet(
    sheet: &mut Worksheet,
    words: Words,
    (label, columns): (Label, &[TableColumn]),
    last_row: RowNum,
) -> Result<(), XlsxError> {
    if label == Label::Overview {
        return set_view(sheet, columns, last_row, 0);
    }
    set_view(sheet, columns, last_row, 1)?;
    let last_column = ColNum::try_from(columns.len().saturating_sub(1)).unwrap_or(ColNum::MAX);
    sheet.autofilter(0, 0, last_row, last_column)?;
    for (column, index) in columns.iter().zip(0..) {
        if let Some(set) = column.choices {
            let choices: Vec<&str> = set.rows().iter().map(|(word, _)| words.term(set, word)).collect();
            let last_choice = last_row.saturating_add(SPARE_ROWS).min(EXCEL.rows - 1);
            let choices = DataValidation::new().allow_list_strings(&choices)?;
            sheet.add_data_validation(1, index, last_choice, index, &choices)?;
        }
    }
    Ok(())
}

/// Headings stay in sight and are printed on every page. What is printed is for anyone, and as wide as a page.
fn set_view(
    sheet: &mut Worksheet,
    columns: &[TableColumn],
    last_row: RowNum,
    frozen_columns: ColNum,
) -> Result<(), XlsxError> {
    sheet.set_freeze_panes(1, frozen_columns)?.set_repeat_rows(0, 0)?.set_landscape().set_paper_size(A4);
    let printed = columns.iter().take_while(|column| column.reader == ColumnReader::Anyone).count();
    let last_column = ColNum::try_from(printed.saturating_sub(1)).unwrap_or(ColNum::MAX);
    sheet.set_print_area(0, 0, last_row, last_column)?.set_print_fit_to_pages(1, 0);
    Ok(())
}

/// As Excel numbers the sizes of paper.
const A4: u8 = 9;

/// Nothing that Excel has no number for: those stay text.
fn excel_time(time: &str) -> Option<ExcelDateTime> {
    let in_utc = time.len() == 10 || time.ends_with('Z') || time.ends_with("+00:00");
    if !in_utc || !time.is_ascii() || time.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let (whole_seconds, _) = time.trim_end_matches('Z').split_at_checked(19).unwrap_or((time, ""));
    ExcelDateTime::parse_from_str(whole_seconds).ok()
}
