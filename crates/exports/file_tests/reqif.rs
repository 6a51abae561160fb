//! What goes out as ReqIF is a file of known elements, and comes back as the same items.

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read as _};
use std::time::{Duration, Instant};

use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

use super::samples;
use super::specification::{CriterionEntry, Specification};
use crate::import::{Comparison, FieldValue, Imported, compare, read_reqif};
use crate::{ExportFormat, write};

/// The document in the archive.
fn document(specification: &Specification) -> String {
    let mut archive = ZipArchive::new(Cursor::new(write(specification, ExportFormat::Reqif).unwrap())).unwrap();
    assert_eq!(archive.len(), 1);
    let mut text = String::new();
    archive.by_name("specification.reqif").unwrap().read_to_string(&mut text).unwrap();
    text
}

/// All elements with their attributes and the text that follows their start.
fn elements(document: &str) -> Vec<(String, HashMap<String, String>, String)> {
    let mut reader = Reader::from_str(document);
    reader.config_mut().expand_empty_elements = true;
    let mut elements: Vec<(String, HashMap<String, String>, String)> = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.unwrap();
                    let value = attribute.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned();
                    (attribute.key.as_ref().to_owned(), value)
                });
                elements.push((start.name().as_ref().to_owned(), attributes.collect(), String::new()));
            }
            Event::Text(text) => {
                if let Some((.., content)) = elements.last_mut() {
                    content.push_str(text.xml10_content().trim());
                }
            }
            Event::DocType(_) | Event::PI(_) | Event::Comment(_) | Event::CData(_) => panic!("a text became markup"),
            Event::Eof => return elements,
            _ => {}
        }
    }
}

fn came_back(specification: &Specification) -> Imported {
    read_reqif(&write(specification, ExportFormat::Reqif).unwrap()).unwrap()
}

/// Compares a document that was edited as text.
fn edited(specification: &Specification, edit: impl FnOnce(String) -> String) -> Comparison {
    compare(specification, &read_reqif(edit(document(specification)).as_bytes()).unwrap())
}

/// Nothing differs, and everything is found.
fn assert_unchanged(specification: &Specification, comparison: &Comparison) {
    assert_eq!(comparison.not_understood, []);
    assert_eq!(comparison.changed, []);
    assert_eq!(comparison.missing, []);
    assert_eq!(comparison.new_requirements, []);
    assert_eq!(comparison.new_user_stories, []);
    let items = specification.requirements.len() + specification.user_stories.len();
    assert_eq!(comparison.unchanged.len(), items);
}

#[test]
fn hostile_texts_stay_texts() {
    const XHTML: [&str; 7] = ["div", "p", "br", "table", "tr", "th", "td"];
    for language in ["EN", "DE", "AR"] {
        for (name, attributes, _) in elements(&document(&samples::hostile(language))) {
            let is_known = match name.strip_prefix("xhtml:") {
                Some(name) => XHTML.contains(&name) && attributes.is_empty(),
                None => name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'),
            };
            assert!(is_known, "{name} {attributes:?}");
            for value in attributes.values() {
                assert!(!value.contains(['\n', '\t', '\u{202e}', '\0', '\u{ffff}']), "{value:?}");
            }
        }
    }
}

#[test]
fn every_identifier_is_unique_and_every_reference_leads_to_one() {
    for specification in [samples::hostile("EN"), samples::empty(), samples::large(50)] {
        let elements = elements(&document(&specification));
        let mut identifiers = HashSet::new();
        for (name, attributes, _) in &elements {
            if let Some(identifier) = attributes.get("IDENTIFIER") {
                assert!(identifiers.insert(identifier.as_str()), "{name} {identifier}");
                let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
                assert!(identifier.starts_with('_') && identifier.chars().all(is_name), "{identifier}");
                let changed = attributes.get("LAST-CHANGE");
                assert!(changed.is_some_and(|time| time.ends_with('Z')) || name == "REQ-IF-HEADER", "{name}");
            }
        }
        let references: Vec<&String> =
            elements.iter().filter(|(name, ..)| name.ends_with("-REF")).map(|(.., target)| target).collect();
        assert!(!references.is_empty());
        for reference in references {
            assert!(identifiers.contains(reference.as_str()), "{reference}");
        }
    }
}

#[test]
fn the_same_specification_gives_the_same_bytes() {
    for specification in [samples::hostile("AR"), samples::empty()] {
        let (first, second) =
            (write(&specification, ExportFormat::Reqif).unwrap(), write(&specification, ExportFormat::Reqif).unwrap());
        assert!(first == second);
    }
}

#[test]
fn a_file_that_nobody_edited_changes_nothing() {
    for language in ["EN", "DE", "AR"] {
        let specification = samples::hostile(language);
        let imported = came_back(&specification);
        for (here, there) in specification.requirements.iter().zip(&imported.requirements) {
            assert_eq!(there.id.as_ref(), Some(&here.id));
            assert_eq!(there.code.as_ref(), Some(&here.code));
            assert_eq!(there.version, Some(here.version));
            assert_eq!(there.kind.as_ref(), Some(&here.kind));
            assert_eq!(there.category.as_deref(), Some(here.category.as_deref().unwrap_or_default()));
            assert_eq!(there.priority.as_ref(), Some(&here.priority));
            assert_eq!(there.workflow_status.as_ref(), Some(&here.workflow_status));
        }
        for (here, there) in specification.user_stories.iter().zip(&imported.user_stories) {
            assert_eq!(there.requirement_ids.as_ref(), Some(&here.requirement_ids));
            assert_eq!(there.acceptance_criteria.as_ref().unwrap().len(), here.acceptance_criteria.len());
        }
        assert_unchanged(&specification, &compare(&specification, &imported));
    }
    assert_unchanged(&samples::empty(), &compare(&samples::empty(), &came_back(&samples::empty())));
}

#[test]
fn paragraphs_blank_lines_and_long_words_come_back() {
    let mut specification = samples::large(2);
    let text = format!("First line\n\nthird <line> & more\n- item\n{}\n👩‍👩‍👧‍👦", "ab".repeat(40_000));
    specification.requirements[0].statement = text.clone();
    specification.user_stories[0].acceptance_criteria = vec![
        CriterionEntry { text: text.clone(), given: Some(text.clone()), ..Default::default() },
        CriterionEntry {
            code: "AC-9".into(),
            text: "| a | b |".into(),
            then: Some("\tc".into()),
            ..Default::default()
        },
    ];
    let imported = came_back(&specification);
    assert_eq!(imported.requirements[0].statement.as_ref(), Some(&text));
    let criteria = imported.user_stories[0].acceptance_criteria.as_ref().unwrap();
    assert_eq!((criteria[0].text.as_str(), criteria[0].given.as_deref()), (text.as_str(), Some(text.as_str())));
    assert_eq!((criteria[1].code.as_deref(), criteria[1].then.as_deref()), (Some("AC-9"), Some("c")));
    assert_unchanged(&specification, &compare(&specification, &imported));
}

#[test]
fn a_conflict_is_one_relation_and_links_that_lead_outside_are_kept() {
    let mut specification = samples::large(4);
    let (first, second) = (samples::id(1, 1), samples::id(1, 2));
    let (lost, gone) = (samples::id(1, 77), samples::id(1, 78));
    specification.requirements[0].conflicts_with = vec![second.clone(), lost.clone(), gone.clone()];
    specification.requirements[1].conflicts_with = vec![first.clone()];
    specification.requirements[2].duplicate_of = Some(first);
    specification.requirements[3].duplicate_of = Some(gone.clone());
    specification.user_stories[0].requirement_ids = vec![second.clone(), second.clone(), lost.clone()];
    let document = document(&specification);
    assert_eq!(document.matches("<SPEC-RELATION-TYPE-REF>_colloquy-relation-conflicts-with<").count(), 1);
    assert_eq!(document.matches("<SPEC-RELATION-TYPE-REF>_colloquy-relation-duplicates<").count(), 1);
    assert_eq!(document.matches("<SPEC-RELATION-TYPE-REF>_colloquy-relation-realises<").count(), 2);
    let imported = came_back(&specification);
    let [a, b, c, d] = imported.requirements.as_slice() else { panic!() };
    assert_eq!(a.conflicts_with.as_ref().unwrap(), &[lost.clone(), gone.clone(), second.clone()]);
    assert_eq!(b.conflicts_with.as_ref().unwrap(), &[samples::id(1, 1)]);
    assert_eq!((c.duplicate_of.clone(), d.duplicate_of.clone()), (Some(samples::id(1, 1)), Some(gone)));
    assert_eq!(imported.user_stories[0].requirement_ids.as_ref().unwrap(), &[lost, second]);
}

#[test]
fn a_word_that_the_interface_lacks_is_written_and_said_to_be_unknown() {
    let mut specification = samples::large(2);
    specification.requirements[0].priority = "<SOON & now>".into();
    specification.requirements[1].updated_at = "yesterday".into();
    let elements = elements(&document(&specification));
    assert!(
        elements
            .iter()
            .any(|(_, attributes, _)| { attributes.get("OTHER-CONTENT").is_some_and(|word| word == "<SOON & now>") })
    );
    let imported = came_back(&specification);
    assert_eq!(imported.requirements[0].priority, None);
    let [note] = imported.not_understood.as_slice() else { panic!("{:?}", imported.not_understood) };
    assert_eq!(note.reason, "The value “<SOON & now>” of “Priority” is not known here.");
    assert_eq!(compare(&specification, &imported).changed, []);
}

#[test]
fn only_what_was_edited_differs() {
    let specification = samples::large(3);
    let statement = "The system shall show the list of open orders";
    let comparison = edited(&specification, |document| document.replacen(statement, "The system may hide orders", 1));
    let [changed] = comparison.changed.as_slice() else { panic!("{:?}", comparison.changed) };
    assert_eq!((changed.entry.code.as_str(), changed.matched_by_id), ("REQ-001", true));
    let [field] = changed.fields.as_slice() else { panic!("{:?}", changed.fields) };
    assert_eq!(field.name, "statement");
    assert!(matches!(&field.after, FieldValue::Text(text) if text.starts_with("The system may hide orders of a ward")));
    assert_eq!((comparison.not_understood.len(), comparison.missing.len(), comparison.unchanged.len()), (0, 0, 3));

    // An attribute that its type has and the object leaves out was emptied.
    let role = "<xhtml:div>nurse</xhtml:div>";
    let comparison = edited(&specification, |document| document.replacen(role, "<xhtml:div/>", 1));
    let [changed] = comparison.changed.as_slice() else { panic!("{:?}", comparison.changed) };
    let [field] = changed.fields.as_slice() else { panic!("{:?}", changed.fields) };
    assert_eq!((field.name, &field.after), ("role", &FieldValue::Nothing));
}

#[test]
fn ten_thousand_requirements_go_out_and_come_back() {
    let specification = samples::large(10_000);
    let started = Instant::now();
    let imported = came_back(&specification);
    assert_unchanged(&specification, &compare(&specification, &imported));
    // Without optimisation it takes some seconds; quadratic work would take minutes.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
