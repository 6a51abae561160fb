//! Inside areas and crates: each is a house of its own, whose rooms are the files and folders at its top. What a room imports is
//! below it, but for the arrows that run back up, of which each house has so many at most.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::graph::Graph;
use crate::sources::{ModulePath, Source, crates, sources};

/// How many arrows run back up in an area or a crate, in the best order; and how many circles of rooms there are. Where none is
/// said, there is none. These are ceilings: they go down with the code, and not up again.
const ROOMS: &[(&str, usize, usize)] = &[
    ("accounts", 1, 1),
    ("actors", 1, 1),
    ("admin", 4, 1),
    ("analysis", 1, 1),
    ("bench", 5, 1),
    ("db", 7, 3),
    // What it generates names paths of another crate.
    ("fields_derive", 1, 1),
    ("jobs", 1, 1),
    ("log", 4, 1),
    ("quotas", 1, 1),
    ("reviews", 1, 1),
    ("trackers", 2, 1),
    ("wiring", 1, 1),
];

/// How many circles of files a crate has, and how many files are in the largest one. A file that declares a type for the parts that
/// it calls itself makes a circle of all of them.
const FILES: &[(&str, usize, usize)] = &[
    ("actors", 6, 5),
    ("bench", 1, 7),
    ("colloquy", 1, 5),
    ("exports", 4, 3),
    // What it generates names paths of another crate.
    ("fields_derive", 1, 2),
    ("pipeline", 3, 21),
    ("readers", 1, 3),
    ("src", 15, 7),
];

/// The files of a crate that import each other.
struct FileGraph(BTreeMap<ModulePath, BTreeSet<ModulePath>>);

impl FileGraph {
    fn of(root: &str) -> Self {
        let of_crate = |source: &Source| !["tests", "examples", "benches", "bin"].contains(&source.area());
        let all: Vec<Source> = sources(root).into_iter().filter(of_crate).collect();
        let passed_on: BTreeMap<ModulePath, _> = all.iter().map(|source| (source.path(), source.passed_on())).collect();
        let imports = |source: &Source| {
            let declaring = source.uses().into_iter().filter_map(|path| declaring(path, &passed_on, 8));
            declaring.filter(|file| *file != source.path()).collect()
        };
        Self(all.iter().map(|source| (source.path(), imports(source))).collect())
    }

    fn files(&self) -> Graph {
        let mut graph = Graph::default();
        let name = |path: &ModulePath| if path.is_empty() { "lib".to_owned() } else { path.join("/") };
        for (file, imports) in &self.0 {
            graph.add(&name(file));
            imports.iter().for_each(|import| graph.connect(&name(file), &name(import)));
        }
        graph
    }

    /// The rooms of the house at a path; its own file is the room `mod`.
    fn rooms(&self, house: &[String]) -> Graph {
        let mut graph = Graph::default();
        let room = |path: &ModulePath| {
            let below = path.strip_prefix(house)?;
            Some(below.first().cloned().unwrap_or_else(|| "mod".to_owned()))
        };
        for (file, imports) in &self.0 {
            let Some(from) = room(file) else { continue };
            graph.add(&from);
            imports.iter().filter_map(room).for_each(|to| graph.connect(&from, &to));
        }
        graph
    }
}

/// Returns the file that declares what a path names: not one that only passes it on.
fn declaring(
    path: ModulePath,
    passed_on: &BTreeMap<ModulePath, BTreeMap<String, ModulePath>>,
    steps: usize,
) -> Option<ModulePath> {
    let end = (0..=path.len()).rev().find(|end| passed_on.contains_key(&path[..*end]))?;
    let (file, names) = path.split_at(end);
    let from = names.first().and_then(|name| passed_on[file].get(name));
    match from.filter(|from| steps > 0 && **from != path[..=end]) {
        Some(from) => declaring(from.iter().chain(&names[1..]).cloned().collect(), passed_on, steps - 1),
        None => Some(file.to_vec()),
    }
}

/// The crates, and programs that have folders of their own below `src/bin`.
fn houses() -> Vec<String> {
    let mut houses = crates();
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin");
    for entry in fs::read_dir(programs).into_iter().flatten() {
        let program = entry.unwrap();
        if program.path().join("main.rs").exists() {
            houses.push(format!("src/bin/{}", program.file_name().to_string_lossy()));
        }
    }
    houses
}

fn name_of(root: &str) -> &str {
    root.trim_end_matches("/src").rsplit('/').next().unwrap()
}

/// Prints a house, and notes where it has more arrows up or circles than it may have.
fn look(name: &str, graph: &Graph, faults: &mut Vec<String>) {
    let (up, circles) = (graph.up(), graph.circles());
    println!(
        "{name}: {} rooms, {} floors, {} arrows, {} back up, {} circles",
        graph.0.len(),
        graph.floors(),
        graph.arrows(),
        up.len(),
        circles.len()
    );
    up.iter().for_each(|(from, to)| println!("    {from} -> {to} runs back up"));
    circles.iter().for_each(|circle| println!("    circle: {}", circle.join(" ")));
    let may = ROOMS.iter().find(|(house, ..)| *house == name).map_or((0, 0), |(_, up, circles)| (*up, *circles));
    if up.len() > may.0 || circles.len() > may.1 {
        faults.push(format!("{name} has {} arrows up and {} circles, and may have {may:?}", up.len(), circles.len()));
    }
}

#[test]
fn rooms_import_those_below_them() {
    let mut faults = Vec::new();
    for root in houses() {
        let files = FileGraph::of(&root);
        if root != "src" {
            look(name_of(&root), &files.rooms(&[]), &mut faults);
            continue;
        }
        let areas: BTreeSet<&String> = files.0.keys().filter(|file| file.len() > 1).map(|file| &file[0]).collect();
        for area in areas {
            look(area, &files.rooms(std::slice::from_ref(area)), &mut faults);
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn circles_of_files_are_few_and_small() {
    let mut faults = Vec::new();
    for root in houses() {
        let graph = FileGraph::of(&root).files();
        let circles = graph.circles();
        let largest = circles.iter().map(Vec::len).max().unwrap_or(0);
        println!("{root}: {} files, {} circles, the largest one of {largest}", graph.0.len(), circles.len());
        circles.iter().for_each(|circle| println!("    circle: {}", circle.join(" ")));
        let name = name_of(&root);
        let may = FILES.iter().find(|(of, ..)| *of == name).map_or((0, 0), |(_, count, most)| (*count, *most));
        if circles.len() > may.0 || largest > may.1 {
            faults
                .push(format!("{name} has {} circles of {largest} files at most, and may have {may:?}", circles.len()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
