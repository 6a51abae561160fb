//! What a reader may expect of files: the stories of an operation stand where its routes do, and lines are short enough to read.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the test, loudly")]

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regex::Regex;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Characters of a line. rustfmt breaks code at 120 and leaves comments and long texts as they are.
const MAX_LINE: usize = 140;
/// Characters of a string that explain why a line is too long.
const UNBREAKABLE: usize = 60;
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

/// A module with parts is a folder with a `mod.rs`: nobody has to look in two places for it.
#[test]
fn a_module_with_parts_is_a_folder_with_mod_rs() {
    let mut files = Vec::new();
    rust_files(Path::new(ROOT), &mut files);
    files.retain(|file| Path::new(ROOT).join(file).with_extension("").is_dir());
    assert!(files.is_empty(), "these stand beside folders of the same name: {files:?}");
}

/// The lines of a text that are too long, by their numbers, with their lengths in characters. A line may be long for a raw
/// string, which can't be broken, and for a word without spaces, such as an address.
fn long_lines(text: &str) -> Vec<(usize, usize)> {
    // In the order in which they are to be recognised: in a comment nothing is a string, in a string nothing a comment.
    let tokens = Regex::new(
        r###"(?s)//[^\n]*|'(?:\\.[^'\n]*|[^'\\\n])'|(?P<raw>\bb?r"[^"]*"|\bb?r#".*?"#|\bb?r##".*?"##)|(?P<plain>"(?:\\.|[^"\\])*")"###,
    );
    let tokens = tokens.unwrap();
    let found: Vec<(bool, Range<usize>)> = tokens
        .captures_iter(text)
        .filter_map(|token| {
            let raw = token.name("raw").map(|raw| (true, raw.range()));
            raw.or_else(|| token.name("plain").map(|plain| (false, plain.range())))
        })
        .collect();
    let mut begin = 0;
    let mut long = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        let (line_begin, line_end) = (begin, begin + line.len());
        begin = line_end + 1;
        let length = line.chars().count();
        if length <= MAX_LINE {
            continue;
        }
        let is_unbreakable = found.iter().any(|(is_raw, range)| {
            let part = text.get(range.start.max(line_begin)..range.end.min(line_end)).unwrap_or_default();
            part.chars().count() >= UNBREAKABLE && (*is_raw || !part.contains(' '))
        });
        if !is_unbreakable {
            long.push((number, length));
        }
    }
    long
}

#[test]
fn no_line_of_rust_is_longer_than_a_reader_sees() {
    let mut files = Vec::new();
    rust_files(Path::new(ROOT), &mut files);
    let mut faults = Vec::new();
    for file in files {
        let long = long_lines(&fs::read_to_string(Path::new(ROOT).join(&file)).unwrap());
        faults.extend(long.into_iter().map(|(line, length)| format!("{}:{line}: {length} characters", file.display())));
    }
    assert!(faults.is_empty(), "{} lines of over {MAX_LINE} characters:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_line_is_long_unless_it_cant_be_broken() {
    let words = "words ".repeat(30);
    let address = format!("https://{}", "a".repeat(150));
    let text = [
        format!("// {words}"),
        format!("let a = \"{words}\";"),
        format!("let a = r\"{words}\"; let b = '\"';"),
        format!("let a = r#\"{words}"),
        format!("{words}\"#; let b: &'static str = \"a\"; // {words}"),
        format!("let a = \"{address}\";"),
        format!("// \" {words}"),
    ];
    let long: Vec<usize> = long_lines(&text.join("\n")).into_iter().map(|(number, _)| number).collect();
    assert_eq!(long, [1, 2, 7]);
}
