//! Files for the import that unpack to far more than they are, or cost more than in proportion to their size.

use std::io::{Cursor, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use api_client::sources::SampleFile;

const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
const SHEET: &str = "xl/worksheets/sheet1.xml";
const WORKBOOK: &str = "xl/workbook.xml";

/// A part of a workbook: its path, how it begins, what is repeated how often, and how it ends.
type WorkbookPart<'a> = (&'a str, &'a str, &'a str, usize, &'a str);

/// Returns the files: attributes without end, rows without end, and sheets that each look through all relations.
///
/// # Errors
/// Returns a message if a file can't be written.
pub fn hostile() -> Result<Vec<SampleFile>, String> {
    let one_sheet: WorkbookPart =
        (WORKBOOK, "<workbook><sheets><sheet name=\"Requirements\" id=\"r1\"/></sheets>", "", 0, "</workbook>");
    let its_relation: WorkbookPart = (
        RELATIONS,
        "<Relationships><Relationship Id=\"r1\" Target=\"worksheets/sheet1.xml\"/>",
        "",
        0,
        "</Relationships>",
    );
    Ok(vec![
        workbook("attributes.xlsx", &[(WORKBOOK, "<workbook", " a=\"\"", 30_000_000, "></workbook>")])?,
        workbook(
            "rows.xlsx",
            &[
                one_sheet,
                its_relation,
                (
                    SHEET,
                    "<worksheet><sheetData>",
                    "<row><c t=\"inlineStr\"><is><t>x</t></is></c><c><v>1</v></c></row>",
                    1_000_000,
                    "</sheetData></worksheet>",
                ),
            ],
        )?,
        workbook(
            "relations.xlsx",
            &[
                (WORKBOOK, "<workbook><sheets>", "<sheet name=\"a\" id=\"b\"/>", 1_000_000, "</sheets></workbook>"),
                (RELATIONS, "<Relationships>", "<Relationship Id=\"c\" Target=\"d\"/>", 1_000_000, "</Relationships>"),
            ],
        )?,
    ])
}

fn workbook(name: &str, parts: &[WorkbookPart]) -> Result<SampleFile, String> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, begin, repeated, times, end) in parts {
        archive.start_file(*path, SimpleFileOptions::default()).map_err(|error| error.to_string())?;
        let mut write = |text: &str| archive.write_all(text.as_bytes()).map_err(|error| error.to_string());
        write(begin)?;
        let many = repeated.repeat(1_000);
        for _ in 0..times / 1_000 {
            write(&many)?;
        }
        write(end)?;
    }
    let content = archive.finish().map_err(|error| error.to_string())?.into_inner();
    Ok(SampleFile { name: name.to_owned(), content })
}

#[cfg(test)]
mod tests {
    use super::hostile;

    #[test]
    fn hostile_files_are_small() {
        for file in hostile().unwrap() {
            assert!(file.content.len() < 1024 * 1024, "{}: {} bytes", file.name, file.content.len());
        }
    }
}
