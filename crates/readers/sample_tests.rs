//! Tests of the readers of office files and mails on samples that many different programs and libraries wrote:
//! `tests/samples/FORMAT/expected.tsv` says what is to be found in each of them, in order, and what is not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::tests::honest;
use super::*;

/// A row of `expected.tsv`.
struct Expected {
    is_shown: bool,
    page: Option<u32>,
    section: String,
    text: String,
}

fn folder(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples").join(format)
}

/// Returns the rows by the files that they are about.
fn expected(format: &str) -> BTreeMap<String, Vec<Expected>> {
    let list = std::fs::read_to_string(folder(format).join("expected.tsv")).unwrap();
    let mut files: BTreeMap<String, Vec<Expected>> = BTreeMap::new();
    for line in list.lines().skip(1) {
        let [file, shown, page, section, text] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        files.entry(file.to_owned()).or_default().push(Expected {
            is_shown: shown == "yes",
            page: page.parse().ok(),
            section: section.to_owned(),
            text: text.to_owned(),
        });
    }
    files
}

fn page_of(source: &SourceText, start: usize, end: usize) -> Option<u32> {
    let on = |page: &&SourcePage| page.start_offset <= start && end <= page.end_offset;
    source.pages.iter().find(on).map(|page| page.page)
}

/// Returns the title of the innermost section.
fn section_of(source: &SourceText, start: usize) -> &str {
    let within = source.sections.iter().filter(|section| section.start_offset <= start && start < section.end_offset);
    within.max_by_key(|section| section.start_offset).map_or("", |section| &section.title)
}

/// Checks each sample of a format, of which there are so many at least; returns what is wrong, file by file.
fn check(format: Format, least: usize) -> Vec<String> {
    let name = format.name();
    let files = expected(name);
    let there = std::fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unlisted: Vec<String> =
        there.filter(|file| file.ends_with(&format!(".{name}")) && !files.contains_key(file)).collect();
    assert_eq!(unlisted, Vec::<String>::new(), "samples without expectations");
    assert!(files.len() >= least, "{} samples of {name}", files.len());
    let mut wrong = Vec::new();
    for (file, rows) in files {
        let bytes = std::fs::read(folder(name).join(&file)).unwrap();
        assert_eq!(sniff(&file, bytes.as_slice()).unwrap(), Ok(format), "{file}");
        let source = read(format, &bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
        honest(&source);
        wrong.extend(faults(&source, &rows).into_iter().map(|fault| format!("{file}: {fault}")));
    }
    wrong
}

fn faults(source: &SourceText, rows: &[Expected]) -> Vec<String> {
    let mut faults = Vec::new();
    // Offset in bytes behind the text found last.
    let mut behind = 0;
    for row in rows {
        if !row.is_shown {
            if source.text.contains(&row.text) {
                faults.push(format!("has {:?}", row.text));
            }
            continue;
        }
        let Some(at) = source.text[behind..].find(&row.text).map(|at| behind + at) else {
            faults.push(format!("lacks {:?} behind {behind}:\n{}", row.text, source.text));
            continue;
        };
        behind = at + row.text.len();
        let start = source.text[..at].chars().count();
        let end = start + row.text.chars().count();
        assert_eq!(slice(&source.text, start, end), Some(row.text.as_str()));
        let block = source.blocks.iter().find(|block| block.start_offset <= start && end <= block.end_offset);
        if block.is_none() {
            faults.push(format!("{:?} is in more than one block", row.text));
        }
        if page_of(source, start, end) != row.page {
            faults.push(format!("{:?} is on page {:?}", row.text, page_of(source, start, end)));
        }
        if section_of(source, start) != row.section && !row.section.is_empty() {
            faults.push(format!("{:?} is in section {:?}", row.text, section_of(source, start)));
        }
    }
    for inner in
        ["<a:", "</", "xmlns", "rId", "PK\u{3}", "schemas.", "charset=", "=3D", "boundary", "\u{fffd}", "_x000"]
    {
        if source.text.contains(inner) {
            faults.push(format!("has {inner:?} of the file's inner workings"));
        }
    }
    faults
}

#[test]
fn presentations_of_many_programs_are_read_slide_by_slide() {
    assert_eq!(check(Format::Pptx, 19), Vec::<String>::new());
}

#[test]
fn workbooks_of_many_programs_are_read_sheet_by_sheet() {
    assert_eq!(check(Format::Xlsx, 19), Vec::<String>::new());
}

#[test]
fn opendocument_texts_of_many_programs_are_read_by_their_headings() {
    assert_eq!(check(Format::Odt, 19), Vec::<String>::new());
}

#[test]
fn mails_of_many_programs_are_read_with_their_headers() {
    assert_eq!(check(Format::Eml, 19), Vec::<String>::new());
}

#[test]
fn of_pdfs_of_many_programs_is_read_what_is_seen_on_their_pages() {
    assert_eq!(check(Format::Pdf, 11), Vec::<String>::new());
}
