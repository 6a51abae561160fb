//! Tests that the table of `src/guarantees.rs` is complete: every required line is there, and every test it names
//! exists.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the test, loudly")]

use std::fs;
use std::path::Path;

use regex::Regex;

/// The lines that the features built so far require. The others come with later ones.
const OWED: &[&str] = &[
    "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13", "S14", "S15", "S16", "S17",
    "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S27", "S28", "S29", "S30", "R1", "R2", "R3", "R4",
    "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R15", "R16", "R17", "R18", "R19", "R20", "R21", "R22",
    "R23",
];

struct Line {
    id: String,
    tests: Vec<String>,
}

fn table() -> Vec<Line> {
    let text = include_str!("../src/guarantees.rs");
    let row = Regex::new(r"(?m)^//! \| ([SRO]\d+) \| ([^|]+) \| ([^|]+) \|$").unwrap();
    let name = Regex::new(r"`([^`]+)`").unwrap();
    let lines: Vec<Line> = row
        .captures_iter(text)
        .map(|row| Line {
            id: row[1].to_owned(),
            tests: name.captures_iter(&row[3]).map(|name| name[1].to_owned()).collect(),
        })
        .collect();
    let rows = text.lines().filter(|line| line.starts_with("//! | ") && !line.starts_with("//! | line |")).count();
    assert_eq!(lines.len(), rows, "a row of the table can't be read");
    lines
}

#[test]
fn every_required_line_is_there_once_and_in_order() {
    let given: Vec<String> = table().into_iter().map(|line| line.id).collect();
    assert_eq!(given, OWED);
}

#[test]
fn every_line_names_tests_that_stand_and_are_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for line in table() {
        assert!(!line.tests.is_empty(), "{} is shown by nothing", line.id);
        for test in line.tests {
            let (file, function) =
                test.split_once("::").unwrap_or_else(|| panic!("{}: {test} is no test's name", line.id));
            let is_from_root = ["src/", "actors/", "crates/", "tests/"].iter().any(|folder| file.starts_with(folder));
            let file = if is_from_root { root.join(file) } else { root.join("tests/api").join(file) };
            let source =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {}: {error}", line.id, file.display()));
            let declared =
                Regex::new(&format!(r"(?m)^(?P<before>(?:[ \t]*#\[.*\]\n)*)[ \t]*(?:async )?fn {function}\(")).unwrap();
            let declared = declared.captures(&source).unwrap_or_else(|| panic!("{}: {test} is not there", line.id));
            let attributes = &declared["before"];
            assert!(!attributes.contains("ignore"), "{}: {test} is not run", line.id);
            let is_told_on_both =
                ["on_both! {", "on_sqlite! {", "proptest! {"].iter().any(|told| source.contains(told));
            assert!(
                attributes.contains("test]") || attributes.contains("test(") || is_told_on_both,
                "{}: {test} is no test",
                line.id
            );
        }
    }
}
