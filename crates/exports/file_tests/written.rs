//! What is written, format by format.

use std::io::{Cursor, Read as _};
use std::time::Instant;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::samples;
use crate::specification::Specification;
use crate::words::{Label, Words};
use crate::{ExportFormat, write};

/// The formats whose rules are tested here.
const FORMATS: [ExportFormat; 5] =
    [ExportFormat::Xlsx, ExportFormat::Csv, ExportFormat::Json, ExportFormat::Markdown, ExportFormat::Html];

fn text_of(specification: &Specification, format: ExportFormat) -> String {
    String::from_utf8(write(specification, format).unwrap()).unwrap()
}

/// The files of an archive, with their names.
fn unpacked(specification: &Specification, format: ExportFormat) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(write(specification, format).unwrap())).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut file = archive.by_index(index).unwrap();
            let mut content = String::new();
            file.read_to_string(&mut content).unwrap();
            (file.name().unwrap().into_owned(), content)
        })
        .collect()
}

#[test]
fn the_same_specification_gives_the_same_bytes() {
    for format in FORMATS {
        for specification in [samples::hostile("AR"), samples::empty()] {
            let (first, second) = (write(&specification, format).unwrap(), write(&specification, format).unwrap());
            assert!(first == second, "{format:?}");
        }
    }
}

#[test]
fn an_empty_project_has_no_empty_sections() {
    let specification = samples::empty();
    let html = text_of(&specification, ExportFormat::Html);
    assert!(!html.contains("<section") && html.contains("Nothing yet"), "{html}");
    assert!(!html.contains("<dl>\n</dl>") || specification.as_of.is_empty());
    let markdown = text_of(&specification, ExportFormat::Markdown);
    assert!(!markdown.contains("Requirements\n"), "{markdown}");
    let names: Vec<String> = unpacked(&specification, ExportFormat::Csv).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["overview.csv"]);
    let sheets =
        unpacked(&specification, ExportFormat::Xlsx).into_iter().filter(|(name, _)| name.contains("worksheets/sheet"));
    assert_eq!(sheets.count(), 4);
}

#[test]
fn no_cell_of_a_workbook_is_a_formula_or_a_link() {
    for (name, xml) in unpacked(&samples::hostile("EN"), ExportFormat::Xlsx) {
        if name.contains("worksheets/") {
            assert!(!xml.contains("<f>") && !xml.contains("<f "), "{name}");
            assert!(!xml.contains("<hyperlink"), "{name}");
        }
        assert!(!name.contains("worksheets/_rels"), "{name}");
        assert!(!xml.contains('\u{202e}') && !xml.contains('\0'), "{name}");
        if name == "xl/styles.xml" {
            assert!(xml.contains("quotePrefix=\"1\""));
        }
        if name == "docProps/core.xml" {
            assert!(xml.contains("2026-11-24T17:30:00Z"), "{xml}");
        }
    }
}

#[test]
fn sheets_of_a_language_from_the_right_are_laid_out_from_the_right() {
    for (language, rtl) in [("AR", true), ("DE", false)] {
        for (name, xml) in unpacked(&samples::hostile(language), ExportFormat::Xlsx) {
            if name.contains("worksheets/sheet") {
                assert_eq!(xml.contains("rightToLeft=\"1\""), rtl, "{name}");
            }
        }
        let html = text_of(&samples::hostile(language), ExportFormat::Html);
        let start = if rtl { "<html lang=\"ar\" dir=\"rtl\">" } else { "<html lang=\"de\" dir=\"ltr\">" };
        assert!(html.contains(start));
        assert!(html.contains(Words::of(language).label(Label::AcceptanceCriteria)));
    }
    // A text keeps its own direction on a page of the other.
    let html = text_of(&samples::hostile("AR"), ExportFormat::Html);
    assert!(html.contains("<p class=\"text\" dir=\"ltr\"># Heading"));
}

#[test]
fn no_field_of_a_comma_separated_file_begins_like_a_formula() {
    for (name, content) in unpacked(&samples::hostile("EN"), ExportFormat::Csv) {
        let content = content.strip_prefix('\u{feff}').unwrap_or_else(|| panic!("{name} has no mark"));
        assert!(content.ends_with("\r\n"));
        let mut records = ::csv::ReaderBuilder::new().has_headers(true).from_reader(content.as_bytes());
        let width = records.headers().unwrap().len();
        for record in records.records() {
            let record = record.unwrap();
            assert_eq!(record.len(), width, "{name}");
            for field in &record {
                assert!(!crate::text::is_formula_like(field), "{name}: {field:?}");
            }
        }
    }
}

const ELEMENTS: [&str; 25] = [
    "html", "head", "title", "style", "body", "header", "nav", "main", "section", "article", "h1", "h2", "h3", "h4",
    "h5", "div", "b", "p", "ul", "li", "dl", "dt", "dd", "a", "bdi",
];
const ATTRIBUTES: [&str; 10] =
    ["lang", "dir", "id", "class", "href", "charset", "http-equiv", "content", "name", "aria-labelledby"];

#[test]
fn html_has_no_markup_of_strangers_and_loads_nothing() {
    let html = text_of(&samples::hostile("EN"), ExportFormat::Html);
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    // Every link leads to an anchor of the file.
    for link in html.split("href=\"#").skip(1) {
        let target = link.split('"').next().unwrap();
        assert_eq!(html.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
    }
    // Its elements and attributes are those of the program, and every element that has an end is closed.
    let without_type = html.replace("<!DOCTYPE html>", "");
    let mut open = Vec::new();
    for tag in without_type.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        for (end, _) in tag.match_indices("=\"") {
            let name = tag[..end].rsplit([' ', '"']).next().unwrap();
            assert!(ATTRIBUTES.contains(&name), "{tag}");
        }
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{open:?}"),
            None if tag.starts_with("meta ") => {}
            None => {
                let name = tag.split(' ').next().unwrap();
                assert!(ELEMENTS.contains(&name), "{tag}");
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn markdown_has_only_the_structure_of_the_program() {
    let specification = samples::hostile("EN");
    let markdown = text_of(&specification, ExportFormat::Markdown);
    let mut headings = Vec::new();
    for event in Parser::new_ext(&markdown, Options::all()) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => headings.push(level),
            Event::Start(Tag::Paragraph | Tag::List(None) | Tag::Item | Tag::Strong) => {}
            Event::Start(Tag::Link { dest_url, .. }) => assert!(dest_url.starts_with('#'), "{dest_url}"),
            Event::InlineHtml(html) | Event::Html(html) => {
                assert!(html.starts_with("<a id=\"") || html.as_ref() == "</a>", "{html}");
            }
            Event::Text(text) => assert!(!text.contains("://") && !text.to_lowercase().contains("www."), "{text}"),
            Event::SoftBreak | Event::HardBreak | Event::End(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let of = |level| headings.iter().filter(|found| **found == level).count();
    // The contents, the summary and six chapters; the four lists of the summary and two groups, with a section in each.
    assert_eq!((of(HeadingLevel::H1), of(HeadingLevel::H2), of(HeadingLevel::H3), of(HeadingLevel::H4)), (1, 8, 6, 2));
    assert!(!markdown.contains("@ada") && !markdown.contains("@evil"));
}

#[test]
fn json_is_the_specification_itself() {
    let specification = samples::hostile("AR");
    let text = text_of(&specification, ExportFormat::Json);
    assert!(text.starts_with("{\n  \"format\": \"colloquy-specification/1\",\n  \"project\""), "{}", &text[..80]);
    assert_eq!(serde_json::from_str::<Specification>(&text).unwrap(), specification);
    assert!(!text.contains('\u{202e}') && text.contains("\\u202e"));
}

#[test]
fn other_items_are_named_by_their_codes() {
    let specification = samples::hostile("EN");
    let markdown = text_of(&specification, ExportFormat::Markdown);
    let second = &specification.requirements[1];
    assert!(markdown.contains(&format!("**Duplicate of:** [REQ-002](#item-{})", second.id)), "{markdown}");
    for format in [ExportFormat::Html, ExportFormat::Markdown] {
        let text = text_of(&specification, format).replace('\\', "");
        for shown in ["7:05–7:11", "Page 3", "Access › Roles", "CLIN-1", "Vague word (Low)"] {
            assert!(text.contains(shown), "{format:?}: {shown}");
        }
    }
}

#[test]
fn ten_thousand_requirements_are_written_in_seconds() {
    let specification = samples::large(10_000);
    for format in FORMATS {
        let start = Instant::now();
        let bytes = write(&specification, format).unwrap();
        assert!(bytes.len() < 64 * 1024 * 1024, "{format:?}: {}", bytes.len());
        assert!(start.elapsed().as_secs() < 60, "{format:?}: {:?}", start.elapsed());
    }
}

#[test]
fn one_very_long_word_is_carried_by_every_format() {
    let mut specification = samples::hostile("EN");
    specification.requirements[0].title = "x".repeat(200_000);
    for format in FORMATS {
        write(&specification, format).unwrap();
    }
}
