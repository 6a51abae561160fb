//! What goes out as a workbook comes back as the same items.

use std::io::{Cursor, Read as _, Write as _};

use super::samples;
use crate::import::{Imported, compare, read_xlsx};
use crate::specification::Specification;
use crate::{ExportFormat, write, xlsx};

fn came_back(specification: &Specification) -> Imported {
    read_xlsx(&write(specification, ExportFormat::Xlsx).unwrap()).unwrap()
}

#[test]
fn a_workbook_that_nobody_edited_changes_nothing() {
    for language in ["EN", "DE", "AR"] {
        let specification = samples::hostile(language);
        let imported = came_back(&specification);
        assert_eq!(imported.not_understood, [], "{language}");
        assert_eq!(imported.requirements.len(), specification.requirements.len());
        assert_eq!(imported.user_stories.len(), specification.user_stories.len());
        for (here, there) in specification.requirements.iter().zip(&imported.requirements) {
            assert_eq!(there.id.as_ref(), Some(&here.id));
            assert_eq!(there.code.as_ref(), Some(&here.code));
            assert_eq!(there.version, Some(here.version));
            assert_eq!(there.statement.as_deref(), Some(&*crate::text::clean(&here.statement)));
            assert_eq!(there.kind.as_ref(), Some(&here.kind));
            assert_eq!(there.priority.as_ref(), Some(&here.priority));
            assert_eq!(there.workflow_status.as_ref(), Some(&here.workflow_status));
        }
        let comparison = compare(&specification, &imported);
        assert!(comparison.new_user_stories.is_empty() && comparison.missing.is_empty(), "{language}");
        assert!(
            comparison.changed.is_empty() && comparison.new_requirements.is_empty(),
            "{language}: {:?}",
            comparison.changed
        );
    }
}

#[test]
fn an_edited_statement_and_a_new_row_are_found() {
    let specification = samples::hostile("DE");
    let mut edited = specification.clone();
    edited.requirements[0].statement = "Das System muss etwas anderes.".to_owned();
    edited.requirements[0].priority = "LOW".to_owned();
    edited.user_stories[0].acceptance_criteria[0].then = Some("fertig".to_owned());
    let mut added = edited.requirements[1].clone();
    (added.id, added.code, added.title) = (String::new(), String::new(), "Neu".to_owned());
    edited.requirements.push(added);
    let comparison = compare(&specification, &came_back(&edited));
    assert_eq!(comparison.new_requirements.len(), 1, "{comparison:?}");
    assert_eq!(comparison.changed.len(), 2, "{comparison:?}");
}

#[test]
fn a_text_longer_than_a_cell_comes_back_whole() {
    let mut specification = samples::hostile("AR");
    let long: String = (0..20_000).map(|number| format!("{number}🙂 ")).collect();
    specification.requirements[0].statement = long.clone();
    specification.user_stories[0].acceptance_criteria[0].text = long.clone();
    let imported = came_back(&specification);
    assert_eq!(imported.not_understood, []);
    assert_eq!(imported.requirements[0].statement.as_ref(), Some(&long));
    assert_eq!(imported.user_stories[0].acceptance_criteria.as_ref().unwrap()[0].text, long);
}

#[test]
fn more_rows_than_a_sheet_holds_go_on_in_the_next() {
    let specification = samples::hostile("EN");
    let limits = xlsx::Limits { rows: 5, cell_units: 200 };
    let imported = read_xlsx(&xlsx::write_within(&specification, limits).unwrap()).unwrap();
    assert_eq!(imported.not_understood, []);
    let codes: Vec<_> = imported.requirements.iter().map(|found| found.code.clone().unwrap()).collect();
    let here: Vec<_> = specification.requirements.iter().map(|entry| entry.code.clone()).collect();
    assert_eq!(codes, here);
    assert!(imported.user_stories.iter().all(|story| story.acceptance_criteria.as_ref().unwrap().len() == 1));
}

/// The workbook of the sample with one part changed.
fn tampered(part: &str, change: impl Fn(String) -> String) -> Vec<u8> {
    let bytes = write(&samples::hostile("EN"), ExportFormat::Xlsx).unwrap();
    let mut from = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..from.len() {
        let mut file = from.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let mut content = String::new();
        file.read_to_string(&mut content).unwrap();
        to.start_file(&name, zip::write::SimpleFileOptions::default()).unwrap();
        to.write_all(if name == part { change(content) } else { content }.as_bytes()).unwrap();
    }
    to.finish().unwrap().into_inner()
}

const FIRST_SHEET: &str = "xl/worksheets/sheet2.xml";

#[test]
fn hostile_workbooks_are_refused_with_their_place() {
    let entity = tampered("xl/sharedStrings.xml", |xml| {
        xml.replacen("<sst", "<!DOCTYPE sst [<!ENTITY a \"aaaaaaaaaa\">]><sst", 1)
    });
    let fault = read_xlsx(&entity).unwrap_err();
    assert!(fault.to_string().contains("document type"), "{fault}");

    let entity = tampered("xl/sharedStrings.xml", |xml| xml.replacen("<t>", "<t>&a;", 1));
    assert!(read_xlsx(&entity).unwrap_err().to_string().contains("entity"));

    let missing = tampered(FIRST_SHEET, |xml| xml.replacen("t=\"s\"><v>", "t=\"s\"><v>99999", 1));
    assert_eq!(read_xlsx(&missing).unwrap_err().place.as_deref(), Some("Requirements, A1"));

    let wide = tampered(FIRST_SHEET, |xml| xml.replacen("r=\"A1\"", "r=\"XFE1\"", 1));
    assert!(read_xlsx(&wide).unwrap_err().to_string().contains("too many columns"));

    let torn = tampered(FIRST_SHEET, |xml| xml.chars().take(xml.len() / 2).collect());
    assert!(read_xlsx(&torn).is_err());

    let deep =
        tampered(FIRST_SHEET, |xml| xml.replacen("<sheetData>", &format!("<sheetData>{}", "<a>".repeat(10_000)), 1));
    assert!(read_xlsx(&deep).unwrap_err().to_string().contains("elements"));

    let bomb = tampered(FIRST_SHEET, |_| " ".repeat(201 * 1024 * 1024));
    assert!(read_xlsx(&bomb).unwrap_err().to_string().contains("MiB"));

    for not_a_workbook in [&b""[..], b"PK", b"<html>", &[0; 1000]] {
        assert!(read_xlsx(not_a_workbook).is_err());
    }
}

#[test]
fn formulas_and_unknown_words_are_named_and_not_read() {
    let formula = tampered(FIRST_SHEET, |xml| {
        let start = xml.find("<c r=\"C2\"").unwrap();
        let end = start + xml[start..].find("</c>").unwrap();
        format!("{}<c r=\"C2\" t=\"str\"><f>1+1</f><v>2</v>{}", &xml[..start], &xml[end..])
    });
    let imported = read_xlsx(&formula).unwrap();
    assert_eq!(imported.requirements[0].statement, None);
    assert_eq!(imported.not_understood[0].place, "Requirements, C2");

    let mut specification = samples::hostile("EN");
    specification.requirements[0].priority = "SOON".to_owned();
    let imported = came_back(&specification);
    assert_eq!(imported.requirements[0].priority, None);
    assert_eq!(imported.not_understood[0].place, "Requirements, F2");
}
