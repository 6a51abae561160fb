//! What holds for every file: what it says first, how long it is, and that its types and kinds of events are known once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;

use crate::sources::{Source, crates, sources};

#[test]
fn every_file_says_first_what_it_is() {
    for root in crates().into_iter().chain(["tests".to_owned()]) {
        let all = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
        let mut folders = vec![all];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let file = entry.unwrap().path();
                if file.is_dir() {
                    folders.push(file);
                } else if file.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&file).unwrap();
                    assert!(text.starts_with("//! "), "{}", file.display());
                }
            }
        }
    }
}

#[test]
fn no_file_is_longer_than_can_be_read_in_one_go() {
    for source in crates().iter().flat_map(|root| sources(root)) {
        let lines = fs::read_to_string(&source.file).unwrap().lines().count();
        assert!(lines <= 520, "{} has {lines} lines", source.file.display());
    }
}

/// A type name is declared once in the live core, the pipeline and the server, so that a reader who meets it knows
/// which one is meant. The markers of ids are named after what they identify.
#[test]
fn no_type_name_is_declared_twice() {
    const OF_EACH_FEATURE: &[&str] = &["Row", "Filter", "Command", "Event", "State", "Refusal"];
    let declared = Regex::new(
        r"(?m)^(?:wire_enum! \{\s+(?:#\[.*\]\s+)*)?(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type|union)\s+([A-Z]\w*)",
    )
    .unwrap();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for root in crates() {
        let is_of_ids = |source: &&Source| (root.as_str(), source.name.as_str()) == ("actors/src", "ids.rs");
        for source in sources(&root).iter().filter(|source| !is_of_ids(source)) {
            for found in declared.captures_iter(&source.code) {
                places.entry(found[1].to_owned()).or_default().push(format!("{root}/{}", source.name));
            }
        }
    }
    places.retain(|name, places| places.len() > 1 && !OF_EACH_FEATURE.contains(&name.as_str()));
    assert!(places.is_empty(), "{places:#?}");
}

/// A kind of event that no code records would be described to clients and never reach them.
#[test]
fn every_kind_of_event_is_recorded_somewhere() {
    // These name kinds to describe them or to tell them apart.
    let others = [
        "events.rs",
        "event_kind.rs",
        "live/audience.rs",
        "analysis/audience.rs",
        "meetings/audience.rs",
        "meetings/invitations/mod.rs",
        "trackers/audience.rs",
    ];
    let all: Vec<Source> = ["src", "actors/src"].into_iter().flat_map(sources).collect();
    let of_list = &all.iter().find(|source| source.name == "event_kind.rs").unwrap().code;
    let kinds = Regex::new(r#"#\[strum\(serialize = "[\w.]+"\)\]\s*(\w+),"#).unwrap();
    let kinds: Vec<&str> = kinds.captures_iter(of_list).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(kinds.len() > 40, "{kinds:?}");
    for kind in kinds {
        let named = Regex::new(&format!(r"EventKind::{kind}\b")).unwrap();
        let is_recorded = all.iter().any(|source| !others.contains(&&*source.name) && named.is_match(&source.code));
        assert!(is_recorded, "no code records {kind}");
    }
}

/// Two files may import each other; a longer cycle could only be read as one file.
#[test]
fn no_circle_of_files_is_longer_than_two() {
    crates().iter().for_each(|root| no_long_circle(root));
}

fn no_long_circle(root: &str) {
    let all = sources(root);
    let files: BTreeSet<&[String]> = all.iter().map(|source| source.module.as_slice()).collect();
    let imports = |source: &Source| -> BTreeSet<Vec<String>> {
        let longest = |path: Vec<String>| {
            (1..=path.len()).rev().map(|end| path[..end].to_vec()).find(|file| files.contains(file.as_slice()))
        };
        source.imports().into_iter().filter_map(longest).filter(|file| *file != source.module).collect()
    };
    let graph: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> =
        all.iter().map(|source| (source.module.clone(), imports(source))).collect();
    let reached = |from: &Vec<String>| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(file) = next.pop() {
            for import in graph.get(&file).into_iter().flatten() {
                if seen.insert(import.clone()) {
                    next.push(import.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&Vec<String>, _> = graph.keys().map(|file| (file, reached(file))).collect();
    for (file, seen) in &reached {
        let circle: Vec<String> = seen
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(*file)))
            .map(|other| other.join("/"))
            .collect();
        assert!(circle.len() <= 2, "a circle: {circle:?}");
    }
}
