//! The sheets of a workbook and the texts in their cells.

use std::collections::HashMap;

use super::super::bounds::{BoundedArchive, MAX_PARTS, MAX_SHARED_TEXTS, MAX_UNPACKED_BYTES, UpperBound};
use super::super::fault::{ImportFault, MAX_PLACE_LENGTH, cut};
use super::super::xml::XmlToken;
use super::tokens::PartTokens;

/// As many as Excel has.
const MAX_COLUMNS: usize = 16_384;
const MAX_ROWS: u32 = 1_048_576;
const MAX_SHEETS: usize = 200;

pub(super) struct WorkbookReader<'a> {
    archive: BoundedArchive<'a>,
    /// Names and paths.
    sheets: Vec<(String, String)>,
    shared: Vec<String>,
    /// The elements of the XML so far.
    elements: usize,
    /// Many cells may share one text: what they take together is bounded as if each had its own.
    text_bytes_left: u64,
}

pub(super) struct SheetRow {
    /// Counted from 1.
    pub(super) number: u32,
    pub(super) cells: Vec<SheetCell>,
}

pub(super) struct SheetCell {
    /// Counted from 0.
    pub(super) column: usize,
    pub(super) text: String,
    pub(super) is_formula: bool,
}

const WORKBOOK: &str = "xl/workbook.xml";
const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
const SHARED_STRINGS: &str = "xl/sharedStrings.xml";

impl<'a> WorkbookReader<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ImportFault> {
        let mut archive = BoundedArchive::open(bytes)?;
        let Some(workbook) = archive.read(WORKBOOK)? else {
            return Err(ImportFault::new("The file is not an XLSX workbook."));
        };
        let relations = archive.read(RELATIONS)?.unwrap_or_default();
        let mut elements = 0;
        let sheets = sheet_paths(&workbook, &relations, &mut elements)?;
        let shared = match archive.read(SHARED_STRINGS)? {
            Some(part) => shared_strings(&part, &mut elements)?,
            None => Vec::new(),
        };
        Ok(Self { archive, sheets, shared, elements, text_bytes_left: MAX_UNPACKED_BYTES })
    }

    pub(super) fn sheet_names(&self) -> Vec<String> {
        self.sheets.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Visits the rows that have a cell with a text or a number, of the sheet at a position. One row is in memory at a time.
    pub(super) fn rows(
        &mut self,
        position: usize,
        mut visit: impl FnMut(SheetRow) -> Result<(), ImportFault>,
    ) -> Result<(), ImportFault> {
        let Some((sheet, path)) = self.sheets.get(position).cloned() else { return Ok(()) };
        let sheet = cut(&sheet, MAX_PLACE_LENGTH).into_owned();
        let sheet = sheet.as_str();
        let missing = || ImportFault::at(sheet, "The workbook names this sheet, but does not have it.");
        let part = self.archive.read(&path)?.ok_or_else(missing)?;
        let mut tokens = PartTokens::of(sheet, &part, self.elements);
        let mut row = SheetRow { number: 0, cells: Vec::new() };
        let mut next_column = 0;
        while let Some(token) = tokens.next()? {
            match token {
                XmlToken::Start(element) if element.name == "row" => {
                    let number = element.attribute("r").and_then(|number| number.parse().ok());
                    row = SheetRow { number: number.unwrap_or(row.number.saturating_add(1)), cells: Vec::new() };
                    if row.number > MAX_ROWS {
                        return Err(ImportFault::at(sheet, "The sheet has more rows than a workbook can have."));
                    }
                    next_column = 0;
                }
                XmlToken::Start(element) if element.name == "c" => {
                    let column = element.attribute("r").and_then(column_of).unwrap_or(next_column);
                    if column >= MAX_COLUMNS || row.cells.len() >= MAX_COLUMNS {
                        return Err(ImportFault::at(sheet, format!("Row {} has too many columns.", row.number)));
                    }
                    next_column = column + 1;
                    let place = || format!("{sheet}, {}{}", column_name(column), row.number);
                    let kind = element.attribute("t").unwrap_or("n").to_owned();
                    let cell = self.cell(&mut tokens, column, &kind, place)?;
                    if !cell.text.is_empty() || cell.is_formula {
                        row.cells.push(cell);
                    }
                }
                XmlToken::End(name) if name == "row" && !row.cells.is_empty() => {
                    let number = row.number;
                    visit(std::mem::replace(&mut row, SheetRow { number, cells: Vec::new() }))?;
                }
                _ => {}
            }
        }
        self.elements = tokens.elements();
        Ok(())
    }

    fn cell(
        &mut self,
        tokens: &mut PartTokens<'_>,
        column: usize,
        kind: &str,
        place: impl Fn() -> String,
    ) -> Result<SheetCell, ImportFault> {
        let mut value = String::new();
        let mut inline = RichText::default();
        let (mut in_value, mut is_formula) = (false, false);
        while let Some(token) = tokens.next()? {
            match token {
                XmlToken::Start(element) if element.name == "v" => in_value = true,
                XmlToken::Start(element) if element.name == "f" => is_formula = true,
                XmlToken::Start(element) => inline.start(&element.name),
                XmlToken::End(name) if name == "c" => break,
                XmlToken::End(name) if name == "v" => in_value = false,
                XmlToken::End(name) => inline.end(&name),
                XmlToken::Text(text) if in_value => value.push_str(&text),
                XmlToken::Text(text) => inline.text(&text),
            }
        }
        let text = match kind {
            "s" => {
                let shared = value.trim().parse().ok().and_then(|index: usize| self.shared.get(index));
                shared
                    .cloned()
                    .ok_or_else(|| ImportFault::at(place(), "The text of this cell is missing in the file."))?
            }
            "inlineStr" => unescaped(&inline.text),
            "str" => unescaped(&value),
            _ => value,
        };
        let taken = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.text_bytes_left = self.text_bytes_left.checked_sub(taken).ok_or_else(|| {
            ImportFault::at(place(), "The texts of all cells up to this one are larger than a file may be.")
        })?;
        Ok(SheetCell { column, text, is_formula })
    }
}

/// The text of runs, without the readings of Asian scripts beside them.
#[derive(Default)]
struct RichText {
    text: String,
    in_text: bool,
    in_reading: bool,
}

impl RichText {
    fn start(&mut self, name: &str) {
        match name {
            "t" => self.in_text = true,
            "rPh" => self.in_reading = true,
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "rPh" => self.in_reading = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_text && !self.in_reading {
            self.text.push_str(text);
        }
    }
}

fn sheet_paths(workbook: &[u8], relations: &[u8], elements: &mut usize) -> Result<Vec<(String, String)>, ImportFault> {
    let mut targets: HashMap<String, String> = HashMap::new();
    let mut parts = UpperBound::up_to(MAX_PARTS, "The workbook names more than {} parts.");
    let mut tokens = PartTokens::of(RELATIONS, relations, *elements);
    while let Some(token) = tokens.next()? {
        if let XmlToken::Start(element) = token
            && let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target"))
        {
            parts.count().map_err(|message| ImportFault::at(RELATIONS, message))?;
            // The first of an id counts.
            targets.entry(id.to_owned()).or_insert_with(|| target.to_owned());
        }
    }
    let mut sheets = Vec::new();
    let mut tokens = PartTokens::of(WORKBOOK, workbook, tokens.elements());
    while let Some(token) = tokens.next()? {
        if let XmlToken::Start(element) = token
            && element.name == "sheet"
            && let (Some(name), Some(id)) = (element.attribute("name"), element.attribute("id"))
            && let Some(target) = targets.get(id)
        {
            let path = match target.strip_prefix('/') {
                Some(absolute) => absolute.to_owned(),
                None => format!("xl/{target}"),
            };
            if sheets.len() == MAX_SHEETS {
                return Err(ImportFault::new(format!("The workbook has more than {MAX_SHEETS} sheets.")));
            }
            sheets.push((name.to_owned(), path));
        }
    }
    *elements = tokens.elements();
    Ok(sheets)
}

fn shared_strings(part: &[u8], elements: &mut usize) -> Result<Vec<String>, ImportFault> {
    let mut tokens = PartTokens::of(SHARED_STRINGS, part, *elements);
    let mut texts = UpperBound::up_to(MAX_SHARED_TEXTS, "The workbook has more than {} texts.");
    let mut strings = Vec::new();
    let mut current = RichText::default();
    while let Some(token) = tokens.next()? {
        match token {
            XmlToken::Start(element) => current.start(&element.name),
            XmlToken::End(name) if name == "si" => {
                texts.count().map_err(|message| ImportFault::at(SHARED_STRINGS, message))?;
                strings.push(unescaped(&std::mem::take(&mut current).text));
            }
            XmlToken::End(name) => current.end(&name),
            XmlToken::Text(text) => current.text(&text),
        }
    }
    *elements = tokens.elements();
    Ok(strings)
}

/// Workbooks write characters that XML cannot carry, and texts that look like this, as `_x000D_`.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("_x") {
        plain.push_str(before);
        let digits = after.get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let escaped = digits
            .filter(|_| after.as_bytes().get(4) == Some(&b'_'))
            .and_then(|digits| char::from_u32(u32::from_str_radix(digits, 16).ok()?));
        match (escaped, after.get(5..)) {
            (Some(character), Some(following)) => {
                plain.push(character);
                rest = following;
            }
            _ => {
                plain.push_str("_x");
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The column of `AB12`, counted from 0.
fn column_of(reference: &str) -> Option<usize> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic);
    let column =
        letters.take(4).fold(0, |column, letter| column * 26 + usize::from(letter.to_ascii_uppercase() - b'A') + 1);
    column.checked_sub(1)
}

/// The letters of a column that is counted from 0.
pub(super) fn column_name(column: usize) -> String {
    let mut letters = Vec::new();
    let mut left = column + 1;
    while left > 0 {
        letters.push(char::from(b'A' + u8::try_from((left - 1) % 26).unwrap_or_default()));
        left = (left - 1) / 26;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_and_escapes_are_read() {
        for (reference, column) in [("A1", 0), ("Z9", 25), ("AA1", 26), ("XFD1048576", 16_383)] {
            assert_eq!(column_of(reference), Some(column));
            assert!(reference.starts_with(&column_name(column)));
        }
        assert_eq!(column_of("12"), None);
        assert_eq!(unescaped("a_x000D_b _x005F_x000D_ _xyz_ _x00"), "a\rb _x000D_ _xyz_ _x00");
    }
}
