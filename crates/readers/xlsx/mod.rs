//! XLSX reader: each sheet is a section, its rows as in CSV: `name: value | name: value` where the first row names the
//! columns.
//!
//! Cells are read as a person sees them: dates as `2026-03-02`, numbers without separators, of a formula its stored
//! result. A merged cell that covers several rows stands in each of them. Left out and counted: hidden sheets, rows,
//! columns and cells, and white letters on no ground. Left out: formulas, comments, headers and footers, charts and
//! drawings.
//!
//! It is not built on a library for spreadsheets: those hold a whole sheet as a grid, which two cells at opposite corners
//! make as large as a sheet may be, and do not say what is hidden.

mod looks;
mod numbers;
mod sheet;
mod strings;
mod table;

use std::collections::HashSet;

use super::draft::TextDraft;
use super::package::{Package, PartEvent, attribute, damaged, for_each_event, is_on, relation_id};
use super::source::{SourceText, Unreadable};
use looks::CellLooks;
use sheet::{CellBudget, SheetReader};
use strings::SharedStrings;

/// Reads an XLSX.
///
/// # Errors
/// `Encrypted`, `Damaged` or `TooLarge`.
pub fn read(bytes: &[u8]) -> Result<SourceText, Unreadable> {
    let mut package = Package::open(bytes)?;
    let main = package.main_part("xl/workbook.xml")?;
    let relations = package.relations(&main)?;
    let workbook = Workbook::read(&package.part(&main)?.ok_or_else(damaged)?)?;
    let part_of = |kind: &str, usual: &str| relations.of_kind(kind).unwrap_or(usual).to_owned();
    let strings = match package.part(&part_of("sharedStrings", "xl/sharedStrings.xml"))? {
        Some(xml) => SharedStrings::read(&xml)?,
        None => SharedStrings::default(),
    };
    let looks = match package.part(&part_of("styles", "xl/styles.xml"))? {
        Some(xml) => CellLooks::read(&xml)?,
        None => CellLooks::default(),
    };
    let mut draft = TextDraft::default();
    let mut budget = CellBudget::default();
    let mut seen = HashSet::new();
    for sheet in workbook.sheets {
        let Some(part) = relations.get(&sheet.relation).filter(|relation| relation.kind == "worksheet") else {
            continue;
        };
        // No program writes a sheet twice: a list that names one again and again would make a small file large.
        if !seen.insert(part.target.as_str()) {
            continue;
        }
        let Some(xml) = package.part(&part.target)? else { continue };
        let reader = SheetReader {
            strings: &strings,
            looks: &looks,
            since_1904: workbook.since_1904,
            is_hidden: sheet.is_hidden,
            title: &sheet.name,
        };
        reader.read(&xml, &mut draft, &mut budget)?;
        if draft.is_full() {
            break;
        }
    }
    draft.finish()
}

/// The list of the sheets.
#[derive(Default)]
struct Workbook {
    sheets: Vec<Sheet>,
    /// Whether days are counted from 1904, as old programs for the Macintosh did.
    since_1904: bool,
}

struct Sheet {
    name: String,
    relation: String,
    is_hidden: bool,
}

impl Workbook {
    fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut workbook = Self::default();
        let mut is_workbook = false;
        for_each_event(xml, |event| match event {
            PartEvent::Opens("workbook", _) => is_workbook = true,
            PartEvent::Opens("workbookPr", tag) => {
                workbook.since_1904 = attribute(tag, "date1904").is_some_and(|value| is_on(&value));
            }
            PartEvent::Opens("sheet", tag) => {
                if let Some(relation) = relation_id(tag) {
                    workbook.sheets.push(Sheet {
                        name: attribute(tag, "name").unwrap_or_default(),
                        relation,
                        is_hidden: attribute(tag, "state").is_some_and(|state| state != "visible"),
                    });
                }
            }
            _ => {}
        })?;
        if is_workbook { Ok(workbook) } else { Err(damaged()) }
    }
}

#[cfg(test)]
mod tests;
