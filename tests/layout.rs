//! What a reader may expect of files: the stories of an operation stand where its routes do, and lines are short enough to read.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the test, loudly")]

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Characters of a line. rustfmt breaks code at 120 and leaves comments and long texts as they are.
const MAX_LINE: usize = 140;
/// Folders with what is built or installed.
const SKIPPED: [&str; 4] = ["target", "node_modules", ".git", "data"];

/// The Rust files below a folder, by their paths from the root.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                rust_files(&path, found);
            }
        } else if name.ends_with(".rs") {
            found.push(path.strip_prefix(ROOT).unwrap().to_owned());
        }
    }
    found.sort();
}

/// The stories of `src/meetings/recordings/routes.rs` are in `tests/api/meetings/recordings.rs`, or in the folder
/// `tests/api/meetings/recordings`; so are those of an area, `src/meetings/routes.rs`. `src/routes.rs` is the page of all.
#[test]
fn the_stories_of_routes_are_in_the_folder_of_the_same_name() {
    let mut files = Vec::new();
    rust_files(&Path::new(ROOT).join("src"), &mut files);
    let areas: Vec<&Path> = files
        .iter()
        .filter(|file| file.ends_with("routes.rs"))
        .filter_map(|file| file.parent()?.strip_prefix("src").ok())
        .filter(|area| !area.as_os_str().is_empty())
        .collect();
    assert!(areas.len() > 30, "only {} files of routes were found", areas.len());
    let mut missing = Vec::new();
    for area in areas {
        let stories = Path::new("tests/api").join(area);
        let candidates = [stories.with_extension("rs"), stories.join("mod.rs")];
        if !candidates.iter().any(|file| Path::new(ROOT).join(file).is_file()) {
            let [file, folder] = candidates.map(|path| path.display().to_string());
            missing.push(format!("src/{}/routes.rs: neither {file} nor {folder} exists", area.display()));
        }
    }
    assert!(missing.is_empty(), "routes without stories at their place:\n{}", missing.join("\n"));
}

#[test]
fn no_line_of_rust_is_longer_than_a_reader_sees() {
    let mut files = Vec::new();
    rust_files(Path::new(ROOT), &mut files);
    let mut long = Vec::new();
    for file in files {
        let text = fs::read_to_string(Path::new(ROOT).join(&file)).unwrap();
        for (number, line) in (1..).zip(text.lines()) {
            let length = line.chars().count();
            if length > MAX_LINE {
                long.push(format!("{}:{number}: {length} characters", file.display()));
            }
        }
    }
    assert!(long.is_empty(), "{} lines of over {MAX_LINE} characters:\n{}", long.len(), long.join("\n"));
}
