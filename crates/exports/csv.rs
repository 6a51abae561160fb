//! Comma-separated files, one for each kind of item, in an archive.
//!
//! They are UTF-8 with a byte order mark, without which Excel takes them for the code page of the computer. A text that a spreadsheet
//! would take for a formula has an apostrophe before it: the format knows no other way to say that a value is a text.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::fault::ExportFault;
use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::tables::{CellContent, SpecificationTable, tables};
use crate::text::inert;
use crate::words::{Label, Words};

pub(crate) fn write(specification: &Specification) -> Result<Vec<u8>, ExportFault> {
    let words = Words::of(&specification.project.language);
    let codes = RequirementCodes::of(specification);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    // The time is fixed: the same specification gives the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    for table in tables(specification, words, &codes) {
        let SpecificationTable { label, columns, mut rows } = table;
        let Some(first) = rows.next() else { continue };
        archive.start_file(file_name(label), options).map_err(fault)?;
        archive.write_all("\u{feff}".as_bytes()).map_err(fault)?;
        let mut records = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(&mut archive);
        records.write_record(columns.iter().map(|column| words.label(column.label))).map_err(fault)?;
        for row in std::iter::once(first).chain(rows) {
            records.write_record(row.into_iter().map(value)).map_err(fault)?;
        }
        records.flush().map_err(fault)?;
    }
    Ok(archive.finish().map_err(fault)?.into_inner())
}

fn fault(error: impl std::fmt::Display) -> ExportFault {
    ExportFault(format!("The comma-separated files could not be written: {error}"))
}

fn value(content: CellContent<'_>) -> String {
    match content {
        CellContent::Empty => String::new(),
        CellContent::Number(number) => number.to_string(),
        CellContent::Text(text) | CellContent::Time(text) => inert(text).into_owned(),
    }
}

/// The same in every language: scripts look for it.
fn file_name(table: Label) -> &'static str {
    match table {
        Label::Requirements => "requirements.csv",
        Label::UserStories => "user-stories.csv",
        Label::AcceptanceCriteria => "acceptance-criteria.csv",
        Label::Risks => "risks.csv",
        Label::OpenQuestions => "open-questions.csv",
        Label::ActionItems => "action-items.csv",
        Label::Decisions => "decisions.csv",
        Label::Sources => "sources.csv",
        _ => "overview.csv",
    }
}
