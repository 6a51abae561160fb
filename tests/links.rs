//! Every link in the documentation that leads to a file or a heading of this repository leads somewhere, and every path that it
//! names as code exists.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the test, loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Folders with what is built, and with documents that are there to be analysed.
const SKIPPED: [&str; 8] = ["target", "node_modules", ".git", "data", "dist", "train", "second", "sealed"];

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                documents(&path, found);
            }
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The lines outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The targets of `[words](target)` in a line, those within backticks left out.
fn links(line: &str) -> Vec<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("");
    plain.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned).collect()
}

/// The anchors of a document's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        prose(text).filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let slug = |heading: &str| {
        let kept = heading.trim().to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(slug).collect()
}

#[test]
fn every_link_in_the_documentation_leads_somewhere() {
    let mut files = Vec::new();
    documents(Path::new(ROOT), &mut files);
    let mut faults = Vec::new();
    let mut checked = 0;
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        for link in prose(&text).flat_map(links) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let is_there = match anchor {
                None => target.exists(),
                Some(anchor) => fs::read_to_string(&target).is_ok_and(|text| anchors(&text).contains(anchor)),
            };
            if !is_there {
                faults.push(format!("{}: {link}", file.strip_prefix(ROOT).unwrap().display()));
            }
        }
    }
    assert!(checked > 20, "only {checked} links were found");
    assert!(faults.is_empty(), "links that lead nowhere:\n{}", faults.join("\n"));
}

#[test]
fn links_and_anchors_are_read_as_github_reads_them() {
    assert_eq!(links("see [a](b.md#c) and `[not](x)`, ![p](q.png)"), ["b.md#c", "q.png"]);
    let found = anchors("# One thing, and `PATCH /api/x`\n```\n# no\n```\n## Two\n#no");
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["one-thing-and-patch-apix", "two"]);
}

/// The folders at the top. What begins with one of them is a path of the repository.
const FOLDERS: [&str; 10] =
    [".ci/", ".cargo/", "actors/", "config/", "crates/", "docs/", "migrations/", "src/", "tests/", "web/"];

/// The paths of the repository that a document names as code: between backticks, and in blocks of code.
fn paths(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code ^= true;
            continue;
        }
        // Code is at the odd places between backticks.
        let spans: Vec<&str> = if is_code { vec![line] } else { line.split('`').skip(1).step_by(2).collect() };
        let words = spans.into_iter().flat_map(|span| span.split([' ', '=', '"', '\'', '(', ')', ',', ';', '│', '─']));
        let is_path = |word: &&str| FOLDERS.iter().any(|folder| word.starts_with(folder));
        found.extend(words.filter(is_path).map(|word| word.trim_end_matches(['.', ':']).to_owned()));
    }
    found
}

/// Why there is no such path; `None` if there is. `src/a.rs::b` is something named `b` in that file. From a placeholder on, as in
/// `src/<area>/routes.rs` and `src/*_tests.rs`, only the folder before it has to exist.
fn fault(path: &str) -> Option<String> {
    let (path, name) = path.split_once("::").map_or((path, None), |(path, name)| (path, Some(name)));
    let known = match path.find(['<', '*', '{', '…']) {
        Some(placeholder) => {
            path.get(..placeholder).and_then(|before| before.rsplit_once('/')).map(|(folder, _)| folder)
        }
        None => Some(path),
    };
    let file = Path::new(ROOT).join(known.unwrap_or_default());
    if !file.exists() {
        return Some("does not exist".to_owned());
    }
    let text = name.map(|_| fs::read_to_string(&file).unwrap_or_default()).unwrap_or_default();
    let has = |name: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let missing = name.into_iter().flat_map(|names| names.split("::")).find(|name| !has(name));
    missing.map(|name| format!("has nothing named {name}"))
}

#[test]
fn every_path_that_the_documentation_names_exists() {
    let mut files: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| Path::new(ROOT).join(name)).to_vec();
    documents(&Path::new(ROOT).join("docs"), &mut files);
    let mut faults = Vec::new();
    let mut checked = 0;
    for file in &files {
        for path in paths(&fs::read_to_string(file).unwrap()) {
            checked += 1;
            faults.extend(
                fault(&path).map(|fault| format!("{}: {path} {fault}", file.strip_prefix(ROOT).unwrap().display())),
            );
        }
    }
    assert!(checked > 200, "only {checked} paths were found");
    assert!(faults.is_empty(), "paths that the documentation names:\n{}", faults.join("\n"));
}

#[test]
fn paths_are_found_in_code_alone() {
    let text =
        "see src/a.rs, `src/b.rs`, `PAGES=web/dist node tests/c.mjs` and `x/src/d.rs`:\n```\nsrc/e   the fifth\n```";
    assert_eq!(paths(text), ["src/b.rs", "web/dist", "tests/c.mjs", "src/e"]);
    assert_eq!(fault("tests/links.rs::fault"), None);
    assert_eq!(fault("tests/<area>/nowhere.rs"), None);
    assert!(fault(&format!("tests/links.rs::{}_here", "not")).is_some());
    assert!(fault("tests/nowhere.rs").is_some() && fault("nowhere/<area>/routes.rs").is_some());
}
