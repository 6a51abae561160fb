//! Tests that `docs/guarantees.md` is complete: every required guarantee is there, and every test it names exists.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the test, loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

/// The guarantees that the features built so far require. The others come with later ones.
const OWED: &[&str] = &[
    "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13", "S14", "S15", "S16", "S17",
    "S18", "S19", "S20", "S21", "S22", "S23", "S24", "S25", "S26", "S27", "S28", "S29", "S30", "R1", "R2", "R3", "R4",
    "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R15", "R16", "R17", "R18", "R19", "R20", "R21", "R22",
    "R23",
];

struct Guarantee {
    id: String,
    /// What must hold.
    text: String,
    /// As `tests/api/kill.rs::a_function`.
    tests: Vec<String>,
}

/// Reads the document: a heading of the third level for each guarantee, what must hold, and a list of tests. Panics at a line
/// that is nothing of these, so that no test is left out for its form.
fn guarantees() -> Vec<Guarantee> {
    let text = include_str!("../docs/guarantees.md");
    let heading = Regex::new(r"^### ([SRO]\d+)$").unwrap();
    let test = Regex::new(r"^- `([^`]+)`$").unwrap();
    let mut found: Vec<Guarantee> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(id) = heading.captures(line) {
            found.push(Guarantee { id: id[1].to_owned(), text: String::new(), tests: Vec::new() });
        } else if let Some(guarantee) = found.last_mut()
            && !line.is_empty()
            && !line.starts_with("## ")
        {
            if let Some(test) = test.captures(line) {
                guarantee.tests.push(test[1].to_owned());
            } else {
                let is_text = guarantee.tests.is_empty() && !line.starts_with(['#', '-', '*', '|', ' ']);
                assert!(is_text, "docs/guarantees.md:{number} can't be read: {line}");
                guarantee.text.push_str(line);
            }
        }
    }
    found
}

#[test]
fn every_required_guarantee_is_there_once_and_in_order() {
    let given: Vec<String> = guarantees().into_iter().map(|guarantee| guarantee.id).collect();
    assert_eq!(given, OWED);
}

/// Why a test that is named is none; `None` where it stands and is run.
fn fault(test: &str) -> Option<&'static str> {
    let Some((file, function)) = test.split_once("::") else { return Some("no test's name") };
    let Ok(source) = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)) else {
        return Some("its file does not exist");
    };
    let declared =
        Regex::new(&format!(r"(?m)^(?P<before>(?:[ \t]*#\[.*\]\n)*)[ \t]*(?:async )?fn {function}\(")).unwrap();
    let Some(declared) = declared.captures(&source) else { return Some("its file has no such function") };
    let attributes = &declared["before"];
    if attributes.contains("ignore") {
        return Some("it is not run");
    }
    let is_in_macro = ["on_both! {", "on_sqlite! {", "proptest! {"].iter().any(|told| source.contains(told));
    let is_test = attributes.contains("test]") || attributes.contains("test(") || is_in_macro;
    (!is_test).then_some("it is no test")
}

#[test]
fn every_guarantee_names_tests_that_stand_and_are_run() {
    let mut faults = Vec::new();
    for guarantee in guarantees() {
        if guarantee.text.is_empty() || guarantee.tests.is_empty() {
            faults.push(format!("{}: it says nothing, or nothing shows it", guarantee.id));
        }
        let mut names = BTreeSet::new();
        for test in &guarantee.tests {
            if !names.insert(test) {
                faults.push(format!("{}: {test}: it is named twice", guarantee.id));
            }
            faults.extend(fault(test).map(|fault| format!("{}: {test}: {fault}", guarantee.id)));
        }
    }
    assert!(faults.is_empty(), "{} faults in docs/guarantees.md:\n{}", faults.len(), faults.join("\n"));
}
