//! Looks at a corpus of marked documents without analysing them.
//!
//! ```text
//! cargo run -p evaluation --example corpus -- check FOLDER …           every wrong mark, else how many marks there are of each label
//! cargo run -p evaluation --example corpus -- agreement FIRST SECOND   how far two markings of the same documents agree
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use evaluation::{MarkLabel, MarkedProject, agreement, projects};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let told = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["check", folder] => read(folder).and_then(|projects| checked(&projects)),
        ["agreement", first, second] => {
            read(first).and_then(|first| agreement(&first, &read(second)?)).map(|agreement| agreement.to_string())
        }
        _ => Err("usage: corpus check FOLDER | agreement FIRST SECOND".to_owned()),
    };
    match told {
        Ok(told) => {
            println!("{}", told.trim_end());
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}

fn read(folder: &str) -> Result<Vec<MarkedProject>, String> {
    projects(Path::new(folder)).map_err(|fault| fault.to_string())
}

/// Returns how many marks there are of each label.
///
/// # Errors
/// A list of ids that no mark has.
fn checked(projects: &[MarkedProject]) -> Result<String, String> {
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    let (mut pairs, mut faults) = (BTreeMap::new(), Vec::new());
    for project in projects {
        let marks = || project.documents.iter().flat_map(|document| &document.text.marks);
        let ids: BTreeSet<&str> = marks().filter_map(|mark| mark.attribute("id")).collect();
        for mark in marks() {
            *labels.entry(format!("{:?}", mark.label)).or_default() += 1;
            for name in ["dup", "conf"] {
                for id in mark.ids(name) {
                    *pairs.entry(name).or_insert(0) += 1;
                    if !ids.contains(id) {
                        faults.push(format!("{}: {name}={id}: no mark has this id", project.name));
                    }
                }
            }
            if mark.label == MarkLabel::Story && mark.attribute("goal").is_none() {
                faults.push(format!("{}: a story has no goal", project.name));
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let documents: usize = projects.iter().map(|project| project.documents.len()).sum();
    let mut told = format!("{documents} documents in {} projects\n", projects.len());
    for (name, count) in labels
        .iter()
        .map(|(name, count)| (name.as_str(), count))
        .chain(pairs.iter().map(|(name, count)| (*name, count)))
    {
        told.push_str(&format!("{name:<16} {count}\n"));
    }
    Ok(told)
}
