//! The sources, and the paths that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// A path of modules from the root of a crate, such as `["projects", "store", "find"]`.
pub type ModulePath = Vec<String>;

pub struct Source {
    pub file: PathBuf,
    /// The path below the root, such as `projects/documents/store.rs`.
    pub name: String,
    /// The module path, such as `["projects", "documents", "store"]`.
    pub module: ModulePath,
    /// The text without comments and tests.
    pub code: String,
}

/// A module that is declared only for tests, in a file of its own.
static MODULE_OF_TESTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))? )?mod (\w+);").unwrap()
});

/// A comment to the end of its line.
static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)//.*$").unwrap());

/// The module of tests at the end of a file.
static TESTS_BELOW: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))? )?mod \w+ \{").unwrap());

/// The program's folder, below `src`.
const PROGRAM: &str = "bin/colloquy/";

/// Where a path begins at the root of the crate, or above.
static ABSOLUTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^$\w])(crate|(?:super::)*super)::").unwrap());

/// The same in the program, which names the library by its name.
static ABSOLUTE_OF_PROGRAM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:^|[^$\w])(crate|colloquy|(?:super::)*super)::").unwrap());

/// A path below a feature that is imported.
static FEATURE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:^|[^:\w])(accounts|projects|meetings|analysis)::").unwrap());

/// A module that is declared in another file.
static CHILD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\s*(?:pub(?:\([a-z ]+\))? )?mod (\w+);").unwrap());

/// Where a path begins that is relative to the crate or the module.
static OWN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^$\w])((?:crate|self|super)::)").unwrap());

/// A path below a module, by its name.
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:^|[^:\w.$])([a-z_]\w*)::").unwrap());

/// Returns the folders with the sources of all crates of the workspace, from its own root.
pub fn crates() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let members = Regex::new(r"(?s)\bmembers = \[(.*?)\]").unwrap().captures(&manifest).unwrap()[1].to_owned();
    let quoted = Regex::new(r#""([^"]+)""#).unwrap();
    let mut folders = vec!["src".to_owned()];
    for member in quoted.captures_iter(&members).map(|found| found[1].to_owned()) {
        match member.strip_suffix("/*") {
            Some(all) => {
                let entries = fs::read_dir(root.join(all)).unwrap().map(|entry| entry.unwrap().path());
                let members = entries.filter(|entry| entry.join("Cargo.toml").exists());
                folders.extend(members.map(|entry| entry.strip_prefix(root).unwrap().to_string_lossy().into_owned()));
            }
            None => folders.push(member),
        }
    }
    for folder in &mut folders {
        if root.join(&folder).join("src/lib.rs").exists() {
            folder.push_str("/src");
        }
    }
    assert!(folders.len() > 5, "{folders:?}");
    folders.sort();
    folders
}

pub fn sources(root: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "rs") {
                found.push(file);
            }
        }
    }
    found.sort();
    let texts: Vec<(PathBuf, String)> =
        found.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect();
    let tests = of_tests(&texts);
    let sources = texts.into_iter().filter(|(file, _)| !tests.iter().any(|test| file.starts_with(test)));
    let sources = sources.map(|(file, text)| {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let path = name.strip_prefix(PROGRAM).unwrap_or(&name).trim_end_matches(".rs");
        let module = path.split('/').filter(|part| *part != "mod").map(str::to_owned).collect();
        Source { code: code_of(&text), file, name, module }
    });
    sources.collect()
}

/// Returns the files and folders of modules that are declared only for tests.
fn of_tests(texts: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let mut tests = Vec::new();
    for (file, text) in texts {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let here = file.parent().unwrap();
        let folder = if ["mod", "lib", "main"].contains(&stem.as_str()) { here.to_owned() } else { here.join(stem) };
        for name in MODULE_OF_TESTS.captures_iter(text).map(|found| found[1].to_owned()) {
            tests.push(folder.join(format!("{name}.rs")));
            tests.push(folder.join(name));
        }
    }
    tests
}

fn code_of(text: &str) -> String {
    let code = COMMENT.replace_all(text, "");
    let end = TESTS_BELOW.find(&code).map_or(code.len(), |found| found.start());
    code[..end].to_owned()
}

impl Source {
    pub fn area(&self) -> &str {
        &self.module[0]
    }

    /// Returns every path from the crate's root, such as `["projects", "store", "find"]`, with `{…}` groups expanded.
    pub fn imports(&self) -> BTreeSet<Vec<String>> {
        let mut all = BTreeSet::new();
        let absolute = if self.name.starts_with(PROGRAM) { &ABSOLUTE_OF_PROGRAM } else { &ABSOLUTE };
        for found in absolute.find_iter(&self.code) {
            let head = found.as_str();
            let base = match head.matches("super").count() {
                0 => Vec::new(),
                up if up <= self.module.len() => self.module[..self.module.len() - up].to_vec(),
                up => panic!("{}: {up} times super", self.name),
            };
            unfold(&self.code[found.end()..], &base, &mut all);
        }
        // Paths such as `projects::store::find` where `crate::projects` is imported.
        for found in FEATURE.captures_iter(&self.code) {
            let (name, end) = (found[1].to_owned(), found.get(0).unwrap().end());
            if all.contains(&vec![name.clone()]) {
                unfold(&self.code[end..], &[name], &mut all);
            }
        }
        all
    }
}

impl Source {
    /// The path by which other modules name this one: that of the crate's root is empty.
    pub fn path(&self) -> ModulePath {
        let is_program = self.module == ["main"] && !self.file.with_file_name("lib.rs").exists();
        if is_program || self.module == ["lib"] { Vec::new() } else { self.module.clone() }
    }

    /// The modules that this one declares.
    fn children(&self) -> Vec<String> {
        CHILD.captures_iter(&self.code).map(|found| found[1].to_owned()).collect()
    }

    /// Where a path begins that is relative to this module: `text` begins with `crate::`, `self::`, `super::` or a child.
    fn begin<'a>(&self, text: &'a str) -> Option<(ModulePath, &'a str)> {
        let path = self.path();
        if let Some(rest) = text.strip_prefix("crate::") {
            return Some((Vec::new(), rest));
        }
        if let Some(rest) = text.strip_prefix("self::") {
            return Some((path, rest));
        }
        let (mut rest, mut up) = (text, 0);
        while let Some(further) = rest.strip_prefix("super::") {
            (rest, up) = (further, up + 1);
        }
        if up > 0 {
            return Some((path[..path.len().checked_sub(up)?].to_vec(), rest));
        }
        let name: String = text.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect();
        self.children().contains(&name).then_some((path, text))
    }

    /// The names that this module passes on, and where they are from.
    pub fn passed_on(&self) -> BTreeMap<String, ModulePath> {
        let mut all = BTreeSet::new();
        for found in PASSING_ON.captures_iter(&self.code) {
            if let Some((base, rest)) = self.begin(&found[1]) {
                unfold(rest, &base, &mut all);
            }
        }
        all.into_iter().filter_map(|path| Some((path.last()?.clone(), path))).collect()
    }

    /// Returns the paths that the module itself uses, from the crate's root: also those of its children, by their names or `self`,
    /// and those below a module that it imports. What it only passes on is not used by it.
    pub fn uses(&self) -> BTreeSet<ModulePath> {
        let code = PASSING_ON.replace_all(&self.code, "");
        let mut all = BTreeSet::new();
        for found in OWN.captures_iter(&code) {
            if let Some((base, rest)) = self.begin(&code[found.get(1).unwrap().start()..]) {
                unfold(rest, &base, &mut all);
            }
        }
        let mut known: BTreeMap<String, ModulePath> = BTreeMap::new();
        for import in &all {
            if import.last().is_some_and(|name| name.starts_with(char::is_lowercase)) {
                known.entry(import.last().unwrap().clone()).or_insert_with(|| import.clone());
            }
        }
        for child in self.children() {
            let path = self.path().into_iter().chain([child.clone()]).collect();
            known.insert(child, path);
        }
        for found in NAMED.captures_iter(&code) {
            let Some(path) = known.get(&found[1]) else { continue };
            unfold(&code[found.get(0).unwrap().end()..], path, &mut all);
            // The import alone uses nothing of the module.
            all.remove(path);
        }
        all
    }
}

/// The statements by which a module passes names on.
static PASSING_ON: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?m)^\s*pub(?:\([a-z ]+\))? use ([^;]+);").unwrap());

/// Parses a path such as `a::b` or `a::{b, c::d}` at the start of the text, and ignores the rest.
fn unfold(text: &str, base: &[String], all: &mut BTreeSet<Vec<String>>) {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        let mut depth = 0;
        let mut from = 0;
        for (at, sign) in group.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' | ',' if depth == 0 => {
                    if !group[from..at].trim().is_empty() {
                        unfold(&group[from..at], base, all);
                    }
                    from = at + 1;
                    if sign == '}' {
                        return;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        return;
    }
    let end = text.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(text.len());
    let mut path = base.to_vec();
    if &text[..end] != "self" {
        path.push(text[..end].to_owned());
    }
    match text[end..].strip_prefix("::") {
        Some(rest) if rest.starts_with(|sign: char| sign.is_alphabetic() || sign == '{' || sign == '_') => {
            unfold(rest, &path, all);
        }
        _ => drop(all.insert(path)),
    }
}
