//! Files that come back: those of other programs, hostile ones, and how they are compared with what is here.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::samples;
use super::specification::Specification;
use crate::import::{
    ChangedEntry, Comparison, Imported, ImportedCriterion, ImportedRequirement, ImportedUserStory, NotUnderstood,
    compare, read_reqif,
};

const FOREIGN: &str = include_str!("foreign.reqif");

/// A document around the parts of `REQ-IF-CONTENT`.
pub(super) fn document(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <REQ-IF xmlns=\"http://www.omg.org/spec/ReqIF/20110401/reqif.xsd\" xmlns:xhtml=\"http://www.w3.org/1999/xhtml\">\
         <CORE-CONTENT><REQ-IF-CONTENT>{content}</REQ-IF-CONTENT></CORE-CONTENT></REQ-IF>"
    )
}

pub(super) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn refusal(bytes: &[u8]) -> String {
    read_reqif(bytes).unwrap_err().to_string()
}

fn note(place: &str, reason: &str) -> NotUnderstood {
    NotUnderstood { place: place.into(), reason: reason.into() }
}

fn some(text: &str) -> Option<String> {
    Some(text.into())
}

#[test]
fn a_file_of_another_program_is_read_and_what_it_has_beyond_is_listed() {
    let imported = read_reqif(FOREIGN.as_bytes()).unwrap();
    let expected = Imported {
        requirements: vec![
            ImportedRequirement {
                id: some("_a2"),
                code: some("17"),
                title: some("Login"),
                statement: some("The system shall:\n- greet & “log in” users\n- log them out"),
                priority: some("HIGH"),
                conflicts_with: Some(vec!["_a3".into()]),
                place: "line 61".into(),
                ..Default::default()
            },
            ImportedRequirement {
                id: some("_a3"),
                code: some("18"),
                title: some(""),
                statement: some("See the figure."),
                priority: some("MEDIUM"),
                conflicts_with: Some(vec!["_a2".into()]),
                place: "line 78".into(),
                ..Default::default()
            },
        ],
        user_stories: vec![ImportedUserStory {
            id: some("_a4"),
            title: some("As a nurse"),
            acceptance_criteria: Some(vec![
                ImportedCriterion { text: "A code is sent".into(), ..Default::default() },
                ImportedCriterion { text: "It expires".into(), ..Default::default() },
            ]),
            place: "line 92".into(),
            ..Default::default()
        }],
        not_understood: vec![
            note("line 118", "The attributes of the specification “Ward” are not used."),
            note("line 56", "The heading “Access” is not a requirement."),
            note("line 61", "The attribute “Cost centre” is not used. (2 times in the file)"),
            note("line 78", "Pictures and embedded files are not taken over."),
            note("line 78", "The value “Someday” of “Status” is not known here."),
            note("line 101", "Relations of type “traces to” are not used."),
            note("line 111", "A relation of type “contradicts” links objects that it cannot link here."),
        ],
        more_not_understood: 0,
    };
    assert_eq!(imported.requirements, expected.requirements);
    assert_eq!(imported.user_stories, expected.user_stories);
    assert_eq!(imported.not_understood, expected.not_understood);
}

#[test]
fn an_archive_may_hold_several_documents_and_other_files() {
    let second =
        document("<SPEC-OBJECTS><SPEC-OBJECT IDENTIFIER=\"_b1\"/><SPEC-OBJECT IDENTIFIER=\"_a3\"/></SPEC-OBJECTS>");
    let bytes = archive(&[
        ("b.ReqIF", second.as_bytes()),
        ("a.reqif", FOREIGN.as_bytes()),
        ("files/figure.png", b"\x89PNG"),
        ("../../etc/passwd", b"x"),
    ]);
    let imported = read_reqif(&bytes).unwrap();
    let places: Vec<&str> = imported.requirements.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(places, ["a.reqif, line 61", "a.reqif, line 78", "b.ReqIF, line 2"]);
    for expected in [
        note("../../etc/passwd", "The file “../../etc/passwd” of the archive is not used."),
        note("files/figure.png", "The file “files/figure.png” of the archive is not used."),
        note("b.ReqIF, line 2", "The identifier “_a3” is used more than once."),
    ] {
        assert!(imported.not_understood.contains(&expected), "{:?}", imported.not_understood);
    }
    assert_eq!(refusal(&archive(&[("readme.txt", b"x")])), "The archive has no .reqif file.");
}

#[test]
fn what_has_no_name_is_named_by_its_identifier() {
    let content = "<SPEC-OBJECTS><SPEC-OBJECT IDENTIFIER=\"_a\"><VALUES><ATTRIBUTE-VALUE-STRING THE-VALUE=\"x\"><DEFINITION>\
                   <R>_f</R></DEFINITION></ATTRIBUTE-VALUE-STRING></VALUES></SPEC-OBJECT></SPEC-OBJECTS><SPEC-RELATIONS>\
                   <SPEC-RELATION><TYPE><R>_r</R></TYPE></SPEC-RELATION></SPEC-RELATIONS><SPEC-RELATION-GROUPS><G/></SPEC-RELATION-GROUPS>";
    let imported = read_reqif(document(content).as_bytes()).unwrap();
    assert_eq!(
        imported.not_understood,
        [
            note("line 2", "The part “SPEC-RELATION-GROUPS” is not used."),
            note("line 2", "The attribute “_f” is not used."),
            note("line 2", "Relations of type “_r” are not used."),
        ]
    );
    let expected = ImportedRequirement { id: some("_a"), place: "line 2".into(), ..Default::default() };
    assert_eq!(imported.requirements, [expected]);
}

#[test]
fn encodings_with_a_byte_order_mark_are_read() {
    let text = FOREIGN.replacen("encoding=\"UTF-8\"", "encoding=\"UTF-16\"", 1);
    let plain = read_reqif(FOREIGN.as_bytes()).unwrap();
    let wide = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
    for bytes in [
        [b"\xff\xfe".to_vec(), wide(u16::to_le_bytes)].concat(),
        [b"\xfe\xff".to_vec(), wide(u16::to_be_bytes)].concat(),
        [b"\xef\xbb\xbf".to_vec(), FOREIGN.as_bytes().to_vec()].concat(),
    ] {
        assert_eq!(read_reqif(&bytes).unwrap(), plain);
    }
    for broken in [&b"\xff\xfe<"[..], b"\xff\xfe\x00\xd8", b"\x80\x81", b"<REQ-IF>\xff</REQ-IF>"] {
        assert_eq!(refusal(broken), "The file is not text in UTF-8 or UTF-16.");
    }
}

#[test]
fn what_is_not_reqif_is_refused_with_its_place() {
    let whole = document("<SPEC-OBJECTS>\n<SPEC-OBJECT IDENTIFIER=\"_a\"></SPEC-OBJECT></SPEC-OBJECTS>");
    assert_eq!(read_reqif(whole.as_bytes()).unwrap().requirements.len(), 1);
    for (bytes, message) in [
        ("", "line 1: The file is not ReqIF: it has no elements."),
        ("hello", "line 1: The file is not ReqIF: it has no elements."),
        ("<html>\n</html>", "line 1: The file is not ReqIF: its first element is “html”."),
        ("PK\u{3}\u{4}nothing", "The file is damaged: its list of contents cannot be read."),
    ] {
        assert_eq!(refusal(bytes.as_bytes()), message);
    }
    for (broken, place) in [
        (whole.replace("</SPEC-OBJECT>", "</OTHER>"), "line 3: The XML is damaged"),
        (whole.replace("IDENTIFIER=\"_a\"", "IDENTIFIER=_a"), "line 3: The XML has a damaged attribute."),
        (whole.replace("\"_a\"", "\"&secret;\""), "line 3: The XML has a damaged attribute."),
        (whole.replace("\"_a\"", "\"&#0;\""), "line 3: The XML has a damaged attribute."),
        (whole.replace("</SPEC-OBJECT>", "&secret;</SPEC-OBJECT>"), "line 3: The XML uses an entity"),
        (format!("{whole}</REQ-IF>"), "line 3: The XML is damaged"),
    ] {
        assert!(refusal(broken.as_bytes()).starts_with(place), "{}", refusal(broken.as_bytes()));
    }
    // Wherever the document is cut, it is refused, and nothing panics.
    for end in (0..FOREIGN.len()).filter(|end| FOREIGN.is_char_boundary(*end)).step_by(7) {
        assert!(read_reqif(&FOREIGN.as_bytes()[..end]).is_err() || FOREIGN[end..].trim().is_empty(), "{end}");
    }
}

#[test]
fn document_types_are_refused_before_they_expand() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;\">]>";
    let external = "<!DOCTYPE x SYSTEM \"file:///etc/passwd\">";
    for doctype in [bomb, external, "<!DOCTYPE REQ-IF>"] {
        let text = document("").replacen('\n', &format!("\n{doctype}\n"), 1);
        assert_eq!(refusal(text.as_bytes()), "line 2: The XML has a document type, which is not allowed.");
    }
}

#[test]
fn bombs_are_refused() {
    let deep = document(&"<a>".repeat(1_000));
    assert!(refusal(deep.as_bytes()).ends_with("The XML has too many elements, or they are nested too deeply."));
    let wide = document(&"<a/>".repeat(4_000_001));
    assert!(refusal(wide.as_bytes()).ends_with("The XML has too many elements, or they are nested too deeply."));
    let many = document(&format!("<SPEC-OBJECTS>{}</SPEC-OBJECTS>", "<SPEC-OBJECT/>".repeat(50_001)));
    assert_eq!(refusal(many.as_bytes()), "line 2: The file has more than 50000 objects.");
    // Each of them alone would be read.
    let text = document(&" ".repeat(101 * 1024 * 1024));
    let twice = archive(&[("a.reqif", text.as_bytes()), ("b.reqif", text.as_bytes())]);
    assert!(twice.len() < 1024 * 1024);
    assert_eq!(refusal(&twice), "b.reqif: The file unpacks to more than 200 MiB.");
    assert_eq!(refusal(&vec![b' '; 50 * 1024 * 1024 + 1]), "The file is larger than 50 MiB.");
}

/// What the project itself would be as a file.
pub(super) fn as_file(specification: &Specification) -> Imported {
    let requirements = specification.requirements.iter().map(|one| ImportedRequirement {
        id: Some(one.id.clone()),
        code: Some(one.code.clone()),
        version: Some(one.version),
        title: Some(one.title.clone()),
        statement: Some(one.statement.clone()),
        kind: Some(one.kind.clone()),
        category: Some(one.category.clone().unwrap_or_default()),
        priority: Some(one.priority.clone()),
        workflow_status: Some(one.workflow_status.clone()),
        duplicate_of: Some(one.duplicate_of.clone().unwrap_or_default()),
        conflicts_with: Some(one.conflicts_with.clone()),
        place: one.code.clone(),
    });
    let user_stories = specification.user_stories.iter().map(|one| ImportedUserStory {
        id: Some(one.id.clone()),
        code: Some(one.code.clone()),
        version: Some(one.version),
        requirement_ids: Some(one.requirement_ids.clone()),
        title: Some(one.title.clone()),
        role: Some(one.role.clone().unwrap_or_default()),
        goal: Some(one.goal.clone()),
        benefit: Some(one.benefit.clone().unwrap_or_default()),
        description: Some(one.description.clone()),
        priority: Some(one.priority.clone()),
        acceptance_criteria: Some(
            one.acceptance_criteria
                .iter()
                .map(|criterion| ImportedCriterion {
                    text: criterion.text.clone(),
                    given: criterion.given.clone(),
                    when: criterion.when.clone(),
                    then: criterion.then.clone(),
                    ..Default::default()
                })
                .collect(),
        ),
        workflow_status: Some(one.workflow_status.clone()),
        place: one.code.clone(),
    });
    Imported { requirements: requirements.collect(), user_stories: user_stories.collect(), ..Imported::default() }
}

/// Each changed item with the names of the fields that differ.
fn changes(comparison: &Comparison) -> Vec<(&str, Vec<&str>)> {
    let fields = |one: &'_ ChangedEntry| one.fields.iter().map(|field| field.name).collect();
    comparison.changed.iter().map(|one| (one.entry.code.as_str(), fields(one))).collect()
}

fn reasons(comparison: &Comparison) -> Vec<(&str, &str)> {
    comparison.not_understood.iter().map(|note| (note.place.as_str(), note.reason.as_str())).collect()
}

#[test]
fn the_project_itself_differs_in_nothing_and_an_empty_file_lacks_everything() {
    for specification in [samples::hostile("AR"), samples::large(3), samples::empty()] {
        let items = specification.requirements.len() + specification.user_stories.len();
        let same = compare(&specification, &as_file(&specification));
        assert_eq!((changes(&same), reasons(&same)), (vec![], vec![]));
        assert_eq!((same.unchanged.len(), same.missing.len()), (items, 0));
        let empty = compare(&specification, &Imported::default());
        assert_eq!((empty.unchanged.len(), empty.missing.len(), empty.changed.len()), (0, items, 0));
    }
}

#[test]
fn an_item_is_found_by_its_id_before_its_code() {
    let specification = samples::large(4);
    let mut file = as_file(&specification);
    let [first, second, third, fourth] = file.requirements.as_mut_slice() else { panic!() };
    // The code was changed in the file, to that of another requirement; the id decides.
    first.code = some("REQ-003");
    first.title = some("By id");
    // The id is that of another program; the code decides, in any case.
    second.id = some("_x9");
    second.code = some(" req-002 ");
    second.title = some("By code");
    // Neither is known here.
    third.id = some("_x10");
    third.code = some("X-1");
    fourth.id = Some(samples::id(1, 4).to_uppercase());
    fourth.version = Some(2);
    fourth.statement = some("Older");
    let comparison = compare(&specification, &file);
    assert_eq!(
        changes(&comparison),
        [("REQ-001", vec!["title"]), ("REQ-002", vec!["title"]), ("REQ-004", vec!["statement"])]
    );
    let found: Vec<(bool, i64, Option<i64>)> =
        comparison.changed.iter().map(|one| (one.matched_by_id, one.current_version, one.version_in_file)).collect();
    assert_eq!(found, [(true, 3, Some(3)), (false, 3, Some(3)), (true, 3, Some(2))]);
    assert_eq!(comparison.new_requirements, [file.requirements[2].clone()]);
    assert_eq!(comparison.missing.iter().map(|one| one.code.as_str()).collect::<Vec<_>>(), ["REQ-003"]);
}

#[test]
fn every_field_that_a_file_has_is_compared_and_no_other() {
    let specification = samples::large(2);
    let mut file = as_file(&specification);
    let other = || some("other");
    file.requirements[0] = ImportedRequirement {
        id: Some(samples::id(1, 1)),
        title: other(),
        statement: other(),
        kind: other(),
        category: some(""),
        priority: other(),
        ..Default::default()
    };
    file.requirements[1] = ImportedRequirement { code: some("REQ-002"), ..Default::default() };
    file.user_stories[0] = ImportedUserStory {
        requirement_ids: Some(vec!["req-002".into(), samples::id(1, 2)]),
        title: other(),
        role: some(" "),
        goal: other(),
        benefit: other(),
        description: other(),
        priority: other(),
        acceptance_criteria: Some(Vec::new()),
        ..file.user_stories[0].clone()
    };
    let comparison = compare(&specification, &file);
    let of_story =
        ["title", "role", "goal", "benefit", "description", "priority", "requirementIds", "acceptanceCriteria"];
    assert_eq!(
        changes(&comparison),
        [("REQ-001", vec!["title", "statement", "type", "category", "priority"]), ("US-001", of_story.to_vec()),]
    );
    let json = serde_json::to_value(&comparison.changed[1].fields).unwrap();
    assert_eq!(json[1], serde_json::json!({ "name": "role", "before": "nurse", "after": null }));
    assert_eq!(json[6]["after"], serde_json::json!([samples::id(1, 2)]));
    assert_eq!(comparison.unchanged.len(), 1);
    // Blanks and line ends are those of programs, not of people.
    let mut file = as_file(&specification);
    file.requirements[0].title = some(" Open\n orders of\ta ward ");
    file.requirements[1].statement = Some(specification.requirements[1].statement.replace(' ', "  "));
    assert_eq!(changes(&compare(&specification, &file)), []);
}

#[test]
fn what_files_do_not_decide_is_said_and_not_taken_over() {
    let mut specification = samples::large(4);
    specification.requirements[0].conflicts_with = vec![samples::id(1, 2)];
    // Whichever of the two names it, it is the same conflict.
    let mut file = as_file(&specification);
    file.requirements[0].conflicts_with = Some(Vec::new());
    file.requirements[1].conflicts_with = Some(vec!["REQ-001".into()]);
    assert_eq!(reasons(&compare(&specification, &file)), []);
    file.requirements[1].conflicts_with = Some(vec!["REQ-003".into()]);
    file.requirements[2].duplicate_of = some("REQ-004");
    file.requirements[3].workflow_status = some("APPROVED");
    file.requirements[3].conflicts_with = None;
    let comparison = compare(&specification, &file);
    let conflicts = "The file names other conflicts; conflicts are not taken over.";
    assert_eq!(
        reasons(&comparison),
        [
            ("REQ-001", conflicts),
            ("REQ-002", conflicts),
            ("REQ-003", "The file names another duplicate; duplicates are not taken over."),
            ("REQ-003", conflicts),
            ("REQ-004", "The status APPROVED is not taken over; it stays NEEDS_REVIEW."),
        ]
    );
    assert_eq!(comparison.changed, []);
}

#[test]
fn new_items_keep_their_links_and_what_says_nothing_is_listed() {
    let specification = samples::large(2);
    let place = |place: &str| place.to_owned();
    let mut file = as_file(&specification);
    file.requirements.extend([
        ImportedRequirement { id: some("_new"), title: some("New"), place: place("a"), ..Default::default() },
        ImportedRequirement { id: some("_blank"), title: some(" "), place: place("b"), ..Default::default() },
        ImportedRequirement { code: some("REQ-001"), title: some("Again"), place: place("c"), ..Default::default() },
    ]);
    let links = ["_NEW", "REQ-002", "nowhere\u{202e}"].map(String::from).to_vec();
    file.user_stories.extend([
        ImportedUserStory {
            goal: some("New"),
            requirement_ids: Some(links),
            workflow_status: some("APPROVED"),
            place: place("d"),
            ..Default::default()
        },
        ImportedUserStory { place: place("e"), ..Default::default() },
    ]);
    let comparison = compare(&specification, &file);
    assert_eq!(comparison.new_requirements.iter().map(|one| one.place.as_str()).collect::<Vec<_>>(), ["a"]);
    let [story] = comparison.new_user_stories.as_slice() else { panic!() };
    assert_eq!(story.requirement_ids, Some(vec!["_new".into(), samples::id(1, 2)]));
    assert_eq!(
        reasons(&comparison),
        [
            ("b", "The requirement has neither a title nor a statement."),
            ("c", "REQ-001 is in the file more than once; only the first is compared."),
            ("d", "The link to “nowhere” leads to no requirement."),
            ("d", "The status of a new user story is not taken over: it starts in review."),
            ("e", "The user story has neither a title nor a goal."),
        ]
    );
    assert_eq!((comparison.changed.len(), comparison.missing.len(), comparison.unchanged.len()), (0, 0, 3));
}
