//! Documents of a word processor.

use std::collections::HashSet;
use std::io::{Cursor, Read as _};
use std::time::Instant;

use quick_xml::events::Event;

use super::samples;
use crate::specification::Specification;
use crate::text::{clean, clean_line};
use crate::words::{Label, Words};
use crate::{ExportFormat, write};

fn parts(specification: &Specification) -> Vec<(String, String)> {
    unpacked(write(specification, ExportFormat::Docx).unwrap())
}

fn unpacked(bytes: Vec<u8>) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut file = archive.by_index(index).unwrap();
            let mut content = String::new();
            file.read_to_string(&mut content).unwrap();
            (file.name().unwrap().into_owned(), content)
        })
        .collect()
}

fn part(specification: &Specification, name: &str) -> String {
    parts(specification).into_iter().find(|(found, _)| found == name).unwrap().1
}

/// An element as a reader sees it.
#[derive(Debug)]
struct SeenElement {
    path: Vec<String>,
    attributes: Vec<(String, String)>,
    text: String,
}

impl SeenElement {
    fn name(&self) -> &str {
        self.path.last().unwrap()
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// All elements in the order of their beginnings; fails where a reader would.
fn elements(xml: &str) -> Vec<SeenElement> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut seen: Vec<SeenElement> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name().into_inner().to_owned();
                let mut path = open.last().map_or_else(Vec::new, |index| seen[*index].path.clone());
                path.push(name);
                let attributes = start
                    .attributes()
                    .map(|attribute| {
                        let attribute = attribute.unwrap();
                        (attribute.key.into_inner().to_owned(), attribute.value.into_owned())
                    })
                    .collect();
                seen.push(SeenElement { path, attributes, text: String::new() });
                if matches!(event, Event::Start(_)) {
                    open.push(seen.len() - 1);
                }
            }
            Event::End(_) => drop(open.pop().unwrap()),
            Event::Text(text) => {
                if let Some(index) = open.last() {
                    seen[*index].text.push_str(text);
                }
            }
            Event::GeneralRef(reference) => {
                let character = match &**reference {
                    "amp" => '&',
                    "lt" => '<',
                    "gt" => '>',
                    "quot" => '"',
                    "apos" => '\'',
                    other => panic!("unknown entity {other}"),
                };
                seen[*open.last().unwrap()].text.push(character);
            }
            Event::Eof => break,
            Event::Decl(_) => {}
            other => panic!("unexpected {other:?}"),
        }
    }
    assert!(open.is_empty(), "elements are left open");
    seen
}

/// The texts of the paragraphs with their styles and whether they run from right to left.
fn paragraphs(xml: &str) -> Vec<(String, bool, String)> {
    let mut found: Vec<(String, bool, String)> = Vec::new();
    for element in elements(xml) {
        let inside = element.path.iter().any(|name| name == "w:pPr");
        match (element.name(), found.last_mut()) {
            ("w:p", _) => found.push(Default::default()),
            ("w:pStyle", Some(paragraph)) => paragraph.0 = element.attribute("w:val").unwrap().to_owned(),
            ("w:bidi", Some(paragraph)) if inside => paragraph.1 = true,
            ("w:t", Some(paragraph)) => paragraph.2.push_str(&element.text),
            ("w:br", Some(paragraph)) => paragraph.2.push('\n'),
            ("w:tab", Some(paragraph)) => paragraph.2.push('\t'),
            _ => {}
        }
    }
    found
}

#[test]
fn the_same_specification_gives_the_same_document() {
    for specification in [samples::hostile("AR"), samples::empty()] {
        let first = write(&specification, ExportFormat::Docx).unwrap();
        assert!(first == write(&specification, ExportFormat::Docx).unwrap());
    }
}

#[test]
fn every_part_is_well_formed_declared_and_there() {
    for specification in [samples::empty(), samples::hostile("EN"), samples::hostile("AR"), samples::hostile("DE")] {
        let parts = parts(&specification);
        let names: HashSet<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), parts.len());
        for (name, xml) in &parts {
            let forbidden =
                |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{fffe}' | '\u{ffff}');
            assert!(!xml.contains(forbidden), "{name}");
            for element in elements(xml) {
                if name == "[Content_Types].xml" && element.name() == "Override" {
                    let part = element.attribute("PartName").unwrap();
                    assert!(names.contains(part.strip_prefix('/').unwrap()), "{part}");
                }
                if element.name() == "Relationship" {
                    let folder = if name.starts_with("word/") { "word/" } else { "" };
                    let target = format!("{folder}{}", element.attribute("Target").unwrap());
                    assert!(names.contains(target.as_str()), "{target}");
                    assert_eq!(element.attribute("TargetMode"), None);
                }
            }
        }
        let styles = part(&specification, "word/styles.xml");
        assert!(!styles.contains("-LANGUAGE"));
        let known: HashSet<String> =
            elements(&styles).iter().filter_map(|element| element.attribute("w:styleId").map(str::to_owned)).collect();
        for name in ["word/document.xml", "word/footer.xml"] {
            for element in elements(&part(&specification, name)) {
                if matches!(element.name(), "w:pStyle" | "w:rStyle" | "w:tblStyle") {
                    assert!(known.contains(element.attribute("w:val").unwrap()), "{element:?}");
                }
            }
        }
    }
}

#[test]
fn nothing_in_a_text_becomes_a_field_a_link_or_markup() {
    let mut specification = samples::hostile("EN");
    let field = "{ HYPERLINK \"http://evil.example\" } <w:instrText> DDEAUTO c:\\cmd.exe </w:instrText> \u{13} INCLUDETEXT x \u{14}\u{15}";
    specification.requirements[1].statement = field.to_owned();
    specification.requirements[1].sources[0].quote = format!("{} {field}", "Much more was said. ".repeat(30));
    specification.requirements[2].title = "]]>\u{fffe}<![CDATA[ x ]]>\u{feff}<?php ?><!-- ".to_owned();
    specification.project.name = format!("{field}</dc:title>");
    let (mut known, mut allowed) = (HashSet::new(), 0);
    for element in elements(&part(&specification, "word/document.xml")) {
        known.insert(element.name().to_owned());
        match element.name() {
            "w:instrText" => {
                allowed += 1;
                assert_eq!(element.text, " TOC \\o \"1-2\" \\h \\z \\u ");
            }
            "w:hyperlink" => {
                assert_eq!(element.attribute("r:id"), None);
                assert!(element.attribute("w:anchor").unwrap().starts_with("_Toc"));
            }
            "w:t" => {}
            _ => assert_eq!(element.text, "", "{element:?}"),
        }
    }
    assert_eq!(allowed, 1);
    for forbidden in ["w:fldSimple", "w:object", "w:drawing", "w:pict", "w:altChunk"] {
        assert!(!known.contains(forbidden), "{forbidden}");
    }
    let body = paragraphs(&part(&specification, "word/document.xml"));
    let shown = clean(field).into_owned();
    // In the title, as the text, and as a quote.
    for style in ["EntryText", "EntryNote"] {
        assert!(
            body.iter()
                .any(|(found, _, text)| found.starts_with(style) && clean_line(text).contains(&clean_line(&shown))),
            "{style}"
        );
    }
    let core = part(&specification, "docProps/core.xml");
    let title = elements(&core).into_iter().find(|element| element.name() == "dc:title").unwrap();
    assert_eq!(title.text, clean_line(&specification.project.name));
}

#[test]
fn every_text_is_in_the_document_once_as_it_was_cleaned() {
    let specification = samples::hostile("EN");
    let body = paragraphs(&part(&specification, "word/document.xml"));
    let times = |style: &str, text: &str| {
        body.iter().filter(|(found, _, shown)| found.trim_end_matches("Kept") == style && shown == text).count()
    };
    for entry in specification.requirements.iter().skip(1) {
        // The title says the same: the code stands alone before the statement.
        assert_eq!(times("Entry", &format!("{}\t{}", entry.code, clean(&entry.statement))), 1, "{:?}", entry.statement);
    }
    let first = &specification.requirements[0];
    assert_eq!(times("Entry", &format!("{}\t{}", first.code, clean_line(&first.title))), 1);
    assert_eq!(times("EntryText", &clean(&first.statement)), 1);
    for story in &specification.user_stories {
        let criterion = &story.acceptance_criteria[0];
        assert!(times("CellText", &clean(&criterion.text)) > 0);
    }
    let notes = |part: &str| body.iter().any(|(style, _, text)| style.starts_with("EntryNote") && text.contains(part));
    assert!(notes("Tracker issue: CLIN-1"));
    // Codes of those that are in the document; ids are for machines.
    assert!(notes("Conflicts with: REQ-002 · ") || notes("Conflicts with: REQ-002"));
    assert!(!body.iter().any(|(_, _, text)| text.contains(&samples::id(1, 9_999))));
}

#[test]
fn what_says_nothing_is_left_out_and_a_brief_stays_brief() {
    for language in ["EN", "DE", "AR"] {
        let specification = samples::brief(language);
        let words = Words::of(language);
        let body = paragraphs(&part(&specification, "word/document.xml"));
        let text: String = body.iter().map(|(_, _, text)| format!("{text}\n")).collect();
        // The first ones are said by the others, with their numbers before them.
        for entry in specification.requirements.iter().skip(4) {
            assert_eq!(text.matches(&*entry.statement).count(), 1, "{}", entry.statement);
        }
        for id in [&specification.project.id, &specification.requirements[0].id] {
            assert!(!text.contains(id.as_str()));
        }
        for label in [Label::Version, Label::Confidence, Label::RevisionSource, Label::Type] {
            assert!(!text.contains(&format!("{}: ", words.label(label))), "{label:?}");
        }
        assert!(!text.contains('…') && !text.contains("2026-11-24"), "{text}");
        let unknown = words.term(crate::words::TermSet::Priority, "UNKNOWN");
        assert!(!text.contains(unknown), "{unknown}");
        let head: Vec<&str> = body.iter().take(5).map(|(_, _, text)| text.as_str()).collect();
        assert_eq!(head[2], format!("{}: {}", words.label(Label::AsOf), words.day("2026-11-24").unwrap()));
        assert_eq!(head[3], format!("{}: Ada Lovelace", words.label(Label::ExportedBy)));
        let contains = words.term(crate::words::TermSet::Selection, "NOT_REJECTED");
        assert_eq!(head[4], format!("{}: {contains}", words.label(Label::Contains)));
        // What a story quotes is said by a requirement, and what was said aloud by the first that cites it.
        let quotes = text.matches(words.quotation_marks().0).count();
        assert_eq!(quotes, 1, "{text}");
    }
}

#[test]
fn the_status_is_said_where_items_differ_in_it() {
    let mut specification = samples::brief("EN");
    let says = |specification: &Specification| {
        let xml = part(specification, "word/document.xml");
        paragraphs(&xml).iter().filter(|(_, _, text)| text.contains("Status: ")).count()
    };
    assert_eq!(says(&specification), specification.requirements.len() + specification.user_stories.len());
    specification.requirements.iter_mut().for_each(|entry| entry.workflow_status = "APPROVED".to_owned());
    assert_eq!(says(&specification), 0);
}

#[test]
fn the_contents_lead_to_every_heading_in_its_order() {
    let specification = samples::hostile("DE");
    let xml = part(&specification, "word/document.xml");
    let seen = elements(&xml);
    let of = |name: &str, attribute: &str| -> Vec<String> {
        seen.iter()
            .filter(|element| element.name() == name)
            .map(|element| element.attribute(attribute).unwrap().to_owned())
            .collect()
    };
    let bookmarks = of("w:bookmarkStart", "w:name");
    assert_eq!(of("w:hyperlink", "w:anchor"), bookmarks);
    assert_eq!(bookmarks.iter().collect::<HashSet<_>>().len(), bookmarks.len());
    assert_eq!(of("w:fldChar", "w:fldCharType"), ["begin", "separate", "end"]);
    let paragraphs = paragraphs(&xml);
    let with = |prefix: &'static str| paragraphs.iter().filter(move |(style, _, _)| style.starts_with(prefix));
    let (mut section, mut entry) = (0, 0);
    let headings = with("Heading").filter(|(style, _, _)| style != "Heading3");
    let numbered = headings.map(|(style, _, text)| {
        (section, entry) = if style == "Heading1" { (section + 1, 0) } else { (section, entry + 1) };
        let number = if style == "Heading1" { section.to_string() } else { format!("{section}.{entry}") };
        format!("{number}\t{text}")
    });
    let numbered: Vec<String> = numbered.collect();
    let contents: Vec<String> = with("TOC")
        .filter(|(style, _, text)| style != "TOCHeading" && !text.is_empty())
        .map(|(_, _, text)| text.trim_end().to_owned())
        .collect();
    assert_eq!(contents, numbered);
    let named: Vec<&str> = contents.iter().skip(5).take(3).map(String::as_str).collect();
    assert_eq!(named, ["2\tAnforderungen", "2.1\tFunktionale Anforderungen", "2.2\tLeistungseffizienz"]);
}

#[test]
fn every_source_is_a_short_note() {
    let mut specification = samples::hostile("EN");
    specification.requirements[1].sources[1].quote = "In other\nwords.".to_owned();
    let body = paragraphs(&part(&specification, "word/document.xml"));
    let notes: Vec<&str> =
        body.iter().map(|(_, _, text)| text.as_str()).filter(|text| text.starts_with("Sources: ")).collect();
    let sources = specification.requirements.len()
        + specification.user_stories.len()
        + specification.risks.len()
        + specification.decisions.len();
    assert_eq!(notes.len(), sources);
    let places = "Sources: Interview = notes.docx, Page 3; Kick-off, 7:05–7:11, Ada <Lovelace>";
    assert_eq!(notes[0], places);
    assert_eq!(notes[1], format!("{places}: “In other words.”"));
}

#[test]
fn the_page_follows_the_language_and_each_text_its_own_letters() {
    let mut specification = samples::hostile("AR");
    specification.requirements[1].statement = "Only English, 12 words".to_owned();
    specification.requirements[2].statement = "يدعم HTTP 2 فقط".to_owned();
    let xml = part(&specification, "word/document.xml");
    let body = paragraphs(&xml);
    let seen = elements(&xml);
    assert!(seen.iter().any(|element| element.path.ends_with(&["w:sectPr".to_owned(), "w:bidi".to_owned()])));
    let tables = seen.iter().filter(|element| element.name() == "w:tbl").count();
    assert_eq!(seen.iter().filter(|element| element.name() == "w:bidiVisual").count(), tables);
    for (style, rtl, text) in &body {
        // The headings of a source are read as they are written.
        if (style.starts_with("Heading") && style != "Heading3") || style.starts_with("TOC") || style == "CellLabel" {
            assert!(*rtl, "{style} {text}");
        }
    }
    let direction = |part: &str| {
        body.iter().find(|(style, _, text)| style.starts_with("EntryText") && text.starts_with(part)).unwrap().1
    };
    assert!(!direction("Only English"));
    assert!(direction("يدعم HTTP"));
    // Letters of one direction to a run: each run from the right has the mark and the language.
    assert!(xml.contains(
        "<w:r><w:rPr><w:rtl/><w:lang w:bidi=\"ar-SA\"/></w:rPr><w:t xml:space=\"preserve\">يدعم </w:t></w:r>\
         <w:r><w:t xml:space=\"preserve\">HTTP 2</w:t></w:r>\
         <w:r><w:rPr><w:rtl/><w:lang w:bidi=\"ar-SA\"/></w:rPr><w:t xml:space=\"preserve\"> فقط</w:t></w:r>"
    ));
    assert!(xml.contains(Words::of("AR").label(Label::AcceptanceCriteria)));

    let mut specification = samples::hostile("EN");
    specification.requirements[1].statement = "يجب أن يعمل".to_owned();
    let xml = part(&specification, "word/document.xml");
    assert!(!xml.contains("<w:bidiVisual/>"));
    let body = paragraphs(&xml);
    assert!(body.iter().any(|(style, rtl, text)| style.starts_with("EntryText") && *rtl && text.starts_with("يجب")));
    assert!(
        !elements(&xml).iter().any(|element| element.path.ends_with(&["w:sectPr".to_owned(), "w:bidi".to_owned()]))
    );
}

#[test]
fn the_header_of_a_table_of_criteria_is_repeated_and_no_row_is_torn() {
    let specification = samples::hostile("EN");
    let seen = elements(&part(&specification, "word/document.xml"));
    let count = |name: &str| seen.iter().filter(|element| element.name() == name).count();
    assert!(count("w:tr") > 0 && count("w:tr") == count("w:cantSplit"));
    let headers = seen.iter().filter(|element| element.name() == "w:tblHeader").count();
    assert_eq!(headers, specification.user_stories.len());
}

#[test]
fn a_table_is_not_followed_by_another_or_by_the_end() {
    for specification in [samples::hostile("AR"), samples::empty()] {
        let xml = part(&specification, "word/document.xml");
        assert!(!xml.contains("</w:tbl><w:tbl>") && !xml.contains("</w:tbl><w:sectPr"));
        assert!(!xml.contains("</w:tcPr></w:tc>"), "a cell without a paragraph");
    }
}

#[test]
fn an_empty_project_has_a_title_and_no_contents() {
    let xml = part(&samples::empty(), "word/document.xml");
    let body = paragraphs(&xml);
    assert_eq!(body[0], ("Title".to_owned(), false, "Nothing yet".to_owned()));
    assert!(!xml.contains("TOC") && !xml.contains("Heading"));
    // Without any time of its own there is none in the properties.
    let core = part(&Specification::default(), "docProps/core.xml");
    assert!(!core.contains("dcterms:created"));
}

#[test]
fn the_properties_have_the_time_of_the_content_or_none() {
    let created = |as_of: &str| {
        let core = part(&Specification { as_of: as_of.to_owned(), ..samples::empty() }, "docProps/core.xml");
        elements(&core).into_iter().find(|element| element.name() == "dcterms:created").map(|element| element.text)
    };
    assert_eq!(created("2026-11-24T17:30:00Z").as_deref(), Some("2026-11-24T17:30:00Z"));
    assert_eq!(created("2026-11-24T17:30:00.123456Z").as_deref(), Some("2026-11-24T17:30:00Z"));
    for other in ["", "yesterday", "2026-11-24", "2026-11-24T17:30:00+02:00", "2026-11-24T17:30:0éZ"] {
        assert_eq!(created(other), None, "{other}");
    }
}

#[test]
fn spelling_is_checked_in_the_language_of_the_project() {
    for (language, latin, complex) in [
        ("EN", "en-US", "ar-SA"),
        ("de_at", "de-AT", "ar-SA"),
        ("FR", "fr", "ar-SA"),
        ("AUTO", "en-US", "ar-SA"),
        ("AR", "en-US", "ar-SA"),
        ("HE", "en-US", "he"),
        ("\"><x", "en-US", "ar-SA"),
    ] {
        let mut specification = samples::empty();
        specification.project.language = language.to_owned();
        let styles = part(&specification, "word/styles.xml");
        assert!(styles.contains(&format!("w:val=\"{latin}\" w:eastAsia=\"zh-CN\" w:bidi=\"{complex}\"")), "{language}");
    }
}

#[test]
fn long_words_and_letters_of_both_directions_in_turn_stay_whole() {
    let mut specification = samples::large(6);
    let texts = [
        "x".repeat(100_000),
        "aש".repeat(5_000),
        "\n\t".repeat(5_000) + "z",
        "🙂".to_owned(),
        "e\u{301}\u{200d}".repeat(999),
    ];
    for (entry, text) in specification.requirements.iter_mut().zip(&texts) {
        entry.statement.clone_from(text);
        entry.title = format!("Title of {text}");
    }
    let body = paragraphs(&part(&specification, "word/document.xml"));
    for (entry, text) in specification.requirements.iter().zip(&texts) {
        let has = |style: &str, shown: &str| body.iter().any(|(found, _, text)| found == style && text == shown);
        assert!(has("EntryTextKept", text), "{}", entry.code);
        let title = clean_line(&format!("Title of {text}"));
        assert!(has("EntryKept", &format!("{}\t{title}", entry.code)), "{}", entry.code);
    }
}

#[test]
fn ten_thousand_requirements_stay_cheap() {
    let specification = samples::large(10_000);
    let started = Instant::now();
    let bytes = write(&specification, ExportFormat::Docx).unwrap();
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    assert!(bytes.len() < 20_000_000, "{}", bytes.len());
    let (_, document) = unpacked(bytes).into_iter().find(|(name, _)| name == "word/document.xml").unwrap();
    assert_eq!(document.matches("Sources").count(), 15_000);
}
