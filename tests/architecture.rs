//! Tests of the dependency rules between modules, read from the sources: `use` lines and paths alike.
//!
//! An area is a file or folder of `src`. The rules here are those that a reader of `src/lib.rs` can rely on; code in
//! `#[cfg(test)]` is ignored.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests: what can't be is to end the test, loudly"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The areas that each area may import. An area that is not listed fails the test.
const MAY: &[(&str, &[&str])] = &[
    // The base, which depends on next to nothing.
    ("allocator", &["log"]),
    ("models", &[]),
    ("config", &["models"]),
    ("keys", &[]),
    ("log", &["config"]),
    ("disk", &[]),
    ("vital", &["log"]),
    ("tasks", &["vital"]),
    ("guarantees", &[]),
    ("clients", &[]),
    ("db", &["tasks", "vital"]),
    ("jobs", &["db", "keys", "clients", "tasks"]),
    // Shared by all features.
    ("quotas", &["config", "db", "disk", "http"]),
    ("core", &["config", "db", "jobs", "keys", "quotas", "tasks"]),
    // Transport, authentication, operations and real-time events: they import no feature.
    ("http", &["clients", "config", "db", "disk", "log", "tasks"]),
    ("passwords", &["config", "http"]),
    ("access", &["core", "db", "http", "keys"]),
    ("api", &["access", "core", "db", "http", "tasks"]),
    ("live", &["access", "api", "db", "http"]),
    ("metrics", &["core", "http", "jobs", "log"]),
    // The features: each may import those before it and none after it.
    ("accounts", &["access", "api", "db", "http", "jobs", "keys", "clients", "passwords", "quotas"]),
    ("projects", &["access", "accounts", "api", "db", "http", "jobs", "clients", "quotas"]),
    (
        "meetings",
        &[
            "access", "accounts", "api", "db", "http", "jobs", "live", "clients", "models", "projects", "quotas",
            "tasks",
        ],
    ),
    (
        "analysis",
        &["access", "accounts", "api", "clients", "db", "http", "jobs", "live", "meetings", "projects", "quotas"],
    ),
    (
        "reviews",
        &[
            "access",
            "accounts",
            "analysis",
            "api",
            "clients",
            "db",
            "http",
            "jobs",
            "live",
            "meetings",
            "passwords",
            "projects",
            "quotas",
        ],
    ),
    (
        "trackers",
        &[
            "access", "accounts", "analysis", "api", "clients", "db", "http", "jobs", "keys", "live", "meetings",
            "projects",
        ],
    ),
    // The pipeline as a service of its own knows no feature.
    ("pipeline_jobs", &["access", "api", "http", "tasks"]),
    (
        "operator",
        &[
            "access", "accounts", "analysis", "api", "clients", "db", "http", "jobs", "live", "meetings", "models",
            "quotas",
        ],
    ),
    ("backup", &["clients", "db"]),
    ("service", &["access", "api", "core", "db", "http", "metrics"]),
    // The route table, the wiring and the entry point: they may import everything.
    ("routes", &["*"]),
    ("events", &["*"]),
    ("wiring", &["*"]),
    ("main", &["*"]),
    ("lib", &[]),
    // Shared by the demo and the bench: it uses a server only through the API.
    ("api_client", &[]),
    (
        "admin",
        &["accounts", "analysis", "backup", "config", "db", "http", "jobs", "keys", "passwords", "quotas", "wiring"],
    ),
    ("models_command", &["config", "models", "wiring"]),
    ("demo", &["analysis", "api_client", "projects"]),
    ("bench", &["access", "accounts", "analysis", "api_client", "db", "keys", "projects"]),
];

const FEATURES: &[&str] = &["accounts", "projects", "meetings", "analysis", "reviews", "trackers", "operator"];

/// The store functions that a feature may call of another feature, to read within its own transaction. It never writes
/// another feature's rows.
const READS: &[&str] = &[
    "accounts::store::account",
    "accounts::store::account_of",
    "accounts::store::accounts",
    "accounts::store::languages",
    "projects::store::find",
    // Locks the project's row, and changes nothing.
    "projects::store::find_to_change",
    "projects::store::role",
    "projects::store::roles",
    "projects::documents::store::of_project",
    "projects::glossary::store::of_project",
    "meetings::store::find",
    "analysis::store::active",
    "analysis::exports::store::source_names",
    "analysis::results::store::exists",
    "analysis::results::store::some",
    // Locks the item's row, and changes nothing.
    "analysis::results::store::change::find_to_change",
    "analysis::trail::store::list",
];

struct Source {
    file: PathBuf,
    /// The path below `src`, such as `projects/documents/store.rs`.
    name: String,
    /// The module path, such as `["projects", "documents", "store"]`.
    module: Vec<String>,
    /// The text without comments and tests.
    code: String,
}

fn sources(root: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            // A crate of its own, such as `src/pipeline`, is read by itself.
            if file.is_dir() && !file.join("Cargo.toml").exists() {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "rs") {
                found.push(file);
            }
        }
    }
    found.sort();
    let texts: Vec<(PathBuf, String)> =
        found.into_iter().map(|file| (file.clone(), fs::read_to_string(file).unwrap())).collect();
    let tests = of_tests(&root, &texts);
    let sources = texts.into_iter().filter(|(file, _)| !tests.iter().any(|test| file.starts_with(test)));
    let sources = sources.map(|(file, text)| {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let module = name.trim_end_matches(".rs").split('/').filter(|part| *part != "mod").map(str::to_owned).collect();
        Source { code: code_of(&text), file, name, module }
    });
    sources.collect()
}

/// Returns the files and folders of modules that are declared only for tests.
fn of_tests(root: &Path, texts: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let declared =
        Regex::new(r"(?m)^#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))? )?mod (\w+);").unwrap();
    let mut tests = Vec::new();
    for (file, text) in texts {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let here = file.parent().unwrap();
        let folder = if stem == "mod" || here == root { here.to_owned() } else { here.join(stem) };
        for name in declared.captures_iter(text).map(|found| found[1].to_owned()) {
            tests.push(folder.join(format!("{name}.rs")));
            tests.push(folder.join(name));
        }
    }
    tests
}

fn code_of(text: &str) -> String {
    let comments = Regex::new(r"(?m)//.*$").unwrap();
    let code = comments.replace_all(text, "");
    let tests = Regex::new(r"#\[cfg\(test\)\]\s*mod \w+ \{").unwrap();
    let end = tests.find(&code).map_or(code.len(), |found| found.start());
    code[..end].to_owned()
}

impl Source {
    fn area(&self) -> &str {
        &self.module[0]
    }

    /// Returns every path from the crate's root, such as `["projects", "store", "find"]`, with `{…}` groups expanded.
    fn imports(&self) -> BTreeSet<Vec<String>> {
        let start = Regex::new(r"(?:^|[^$\w])(crate|(?:super::)*super)::").unwrap();
        let mut all = BTreeSet::new();
        for found in start.find_iter(&self.code) {
            let head = found.as_str();
            let base = match head.matches("super").count() {
                0 => Vec::new(),
                up if up <= self.module.len() => self.module[..self.module.len() - up].to_vec(),
                up => panic!("{}: {up} times super", self.name),
            };
            unfold(&self.code[found.end()..], &base, &mut all);
        }
        // Paths such as `projects::store::find` where `crate::projects` is imported.
        let short = Regex::new(r"(?:^|[^:\w])(accounts|projects|meetings|analysis)::").unwrap();
        for found in short.captures_iter(&self.code) {
            let (name, end) = (found[1].to_owned(), found.get(0).unwrap().end());
            if all.contains(&vec![name.clone()]) {
                unfold(&self.code[end..], &[name], &mut all);
            }
        }
        all
    }
}

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
    path.push(text[..end].to_owned());
    match text[end..].strip_prefix("::") {
        Some(rest) if rest.starts_with(|sign: char| sign.is_alphabetic() || sign == '{' || sign == '_') => {
            unfold(rest, &path, all);
        }
        _ => drop(all.insert(path)),
    }
}

fn is_area(name: &str, all: &[Source]) -> bool {
    all.iter().any(|source| source.area() == name)
}

#[test]
fn an_area_imports_what_it_may_and_nothing_else() {
    let all = sources("src");
    let may: BTreeMap<&str, &[&str]> = MAY.iter().copied().collect();
    let mut faults = Vec::new();
    for source in &all {
        let Some(may) = may.get(source.area()) else {
            faults.push(format!("{}: the area {} is not in the table", source.name, source.area()));
            continue;
        };
        for import in source.imports() {
            let area = import[0].as_str();
            let own = area == source.area() || !is_area(area, &all);
            if !own && !may.contains(&area) && !may.contains(&"*") {
                faults.push(format!("{} imports {}", source.name, import.join("::")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
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

/// Also prints the imports of all areas, to inspect the graph (`cargo test --test architecture -- --nocapture graph`).
#[test]
fn the_graph_of_the_areas_has_no_circle() {
    let all = sources("src");
    let mut graph: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in &all {
        let imports = source.imports().into_iter().map(|import| import[0].clone());
        let others = imports.filter(|area| area != source.area() && is_area(area, &all));
        graph.entry(source.area()).or_default().extend(others);
    }
    for (area, imports) in &graph {
        println!("{area} -> {}", imports.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    }
    // Repeatedly removes the areas whose imports are all removed, until none is left.
    while !graph.is_empty() {
        let free: Vec<&str> = graph.iter().filter(|(_, imports)| imports.is_empty()).map(|(area, _)| *area).collect();
        assert!(!free.is_empty(), "a circle is in {graph:#?}");
        graph.retain(|area, _| !free.contains(area));
        graph.values_mut().for_each(|imports| imports.retain(|area| !free.contains(&area.as_str())));
    }
}

/// Two files may import each other; a longer cycle could only be read as one file.
#[test]
fn no_circle_of_files_is_longer_than_two() {
    ["src", "src/exports", "src/pipeline", "src/printer", "src/voices", "src/whisper", "actors/src"]
        .into_iter()
        .for_each(no_long_circle);
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

/// A type name is declared once in the live core, the pipeline and the server, so that a reader who meets it knows
/// which one is meant. The markers of ids are named after what they identify.
#[test]
fn no_type_name_is_declared_twice() {
    const OF_EACH_FEATURE: &[&str] = &["Row", "Filter", "Command", "Event", "State", "Refusal"];
    let declared = Regex::new(r"(?m)^(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|type|union)\s+([A-Z]\w*)").unwrap();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for root in ["actors/src", "src/exports", "src/pipeline", "src/printer", "src/voices", "src/whisper", "src"] {
        for source in sources(root).iter().filter(|source| (root, source.name.as_str()) != ("actors/src", "ids.rs")) {
            for found in declared.captures_iter(&source.code) {
                places.entry(found[1].to_owned()).or_default().push(format!("{root}/{}", source.name));
            }
        }
    }
    places.retain(|name, places| places.len() > 1 && !OF_EACH_FEATURE.contains(&name.as_str()));
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn no_area_imports_the_wiring_or_an_entry_point() {
    let all = sources("src");
    let builders = ["main", "wiring", "admin", "models_command", "demo", "bench", "lib"];
    for source in all.iter().filter(|source| !builders.contains(&source.area())) {
        for import in source.imports() {
            assert!(!builders.contains(&import[0].as_str()), "{} imports {}", source.name, import.join("::"));
            assert!(import[0] != "routes", "{} imports {}", source.name, import.join("::"));
        }
    }
}

#[test]
fn no_feature_imports_a_later_one() {
    let may: BTreeMap<&str, &[&str]> = MAY.iter().copied().collect();
    for (place, feature) in FEATURES.iter().enumerate() {
        for later in &FEATURES[place..] {
            assert!(!may[feature].contains(later), "{feature} rests on {later}");
        }
    }
}

#[test]
fn sql_is_in_stores_alone() {
    let diesel = Regex::new(r"\bdiesel(_async|_migrations)?\b").unwrap();
    for source in sources("src") {
        let is_store = source.name.ends_with("/store.rs") || source.name.contains("/store/");
        let may = source.area() == "db" || is_store;
        let names = diesel.is_match(&source.code);
        assert!(may || !names, "{} names diesel", source.name);
        let tables = source.imports().iter().any(|import| import.starts_with(&["db".to_owned(), "schema".to_owned()]));
        assert!(may || !tables, "{} names tables", source.name);
    }
}

#[test]
fn a_feature_reads_anothers_store_only_where_it_is_said_and_never_writes_there() {
    for source in sources("src").iter().filter(|source| FEATURES.contains(&source.area())) {
        for import in source.imports() {
            let stored = import.iter().position(|part| part == "store");
            if let Some(at) = stored.filter(|at| *at > 0 && import[0] != source.area()) {
                // `use …::store;` does not show which functions are called; the call has to spell the path.
                assert!(import.len() > at + 1, "{} imports all of {}", source.name, import.join("::"));
                assert!(READS.contains(&import.join("::").as_str()), "{} uses {}", source.name, import.join("::"));
            }
        }
    }
}

#[test]
fn routes_take_and_give_bodies_and_nothing_else() {
    let live = Regex::new(r"\bactors::(registry|shell|hub|live|mailbox_metrics)\b").unwrap();
    for source in sources("src").iter().filter(|source| source.name.ends_with("/routes.rs")) {
        assert!(!live.is_match(&source.code), "{} speaks to actors", source.name);
        for import in source.imports() {
            let first = import[0].as_str();
            assert!(
                !["db", "jobs", "clients", "tasks"].contains(&first) || is_plain(&import),
                "{} imports {}",
                source.name,
                import.join("::")
            );
            if let Some(at) = import.iter().position(|part| part == "store") {
                // Its types, and the topic under which a resource's events are published.
                let pure = |name: &String| name.starts_with(char::is_uppercase) || name == "topic";
                assert!(
                    import.get(at + 1).is_some_and(pure) && first == source.area(),
                    "{} calls {}",
                    source.name,
                    import.join("::")
                );
            }
        }
    }
}

/// What a request may contain is declared beside its handler and not with it: operations and stores take it, and would know
/// the handlers otherwise.
#[test]
fn bodies_know_neither_state_nor_handlers_and_only_the_route_table_knows_handlers() {
    for source in sources("src") {
        let is_of_bodies = source.name.ends_with("/bodies.rs");
        for import in source.imports() {
            let path = import.join("::");
            let handlers = import.iter().skip(1).any(|part| part == "routes");
            assert!(!handlers || source.area() == "routes", "{} imports {path}", source.name);
            let beyond = ["store", "state", "operations"].iter().any(|beyond| import.iter().any(|part| part == beyond));
            assert!(!is_of_bodies || !beyond, "{} imports {path}", source.name);
        }
    }
}

/// Plain types: what trackers have in common, and jobs as an operator sees them.
fn is_plain(import: &[String]) -> bool {
    let of_trackers = ["clients", "trackers", "model"].map(str::to_owned);
    import.starts_with(&of_trackers) || import.starts_with(&["jobs", "model"].map(str::to_owned))
}

#[test]
fn models_are_pure() {
    let impure = Regex::new(r"\b(async fn|\.await|std::fs|std::net|reqwest|SystemTime::now)\b").unwrap();
    for source in sources("src").iter().filter(|source| source.name.ends_with("/model.rs")) {
        let found = impure.find(&source.code).map(|found| found.as_str());
        assert_eq!(found, None, "{}", source.name);
        for import in source.imports() {
            let wrong = ["db", "jobs", "live", "clients", "tasks"].contains(&import[0].as_str());
            // Allowed, because they are plain enums: the language of an e-mail, and what it is about.
            let is_of_emails = ["jobs::mail::Locale", "jobs::mail::EmailKind"].contains(&import.join("::").as_str());
            let wrong = wrong && source.area() != import[0] && !is_of_emails && !is_plain(&import);
            assert!(!wrong && !import.contains(&"store".to_owned()), "{} imports {}", source.name, import.join("::"));
        }
    }
}

#[test]
fn each_outside_crate_is_named_where_it_belongs() {
    let table: &[(&str, &[&str])] = &[
        ("actix_web_actors", &["live/socket.rs"]),
        ("argon2", &["passwords.rs"]),
        ("askama", &["clients/mail/email.rs"]),
        ("image", &["accounts/profile/picture.rs"]),
        ("jsonwebtoken", &["access/token.rs", "clients/openid.rs"]),
        ("lettre", &["accounts/model.rs", "config/check.rs", "clients/mail/"]),
        ("livekit_api", &["clients/livekit/"]),
        ("object_store", &["clients/files/"]),
        ("oauth2", &["clients/openid.rs"]),
        ("cookie", &["http/sign_in_cookie.rs"]),
        (
            "pipeline",
            &[
                // Only the limits of child processes.
                "accounts/profile/decoder.rs",
                "analysis/",
                "clients/llm/",
                "clients/pipeline.rs",
                "clients/printer.rs",
                "clients/speech.rs",
                "pipeline_jobs/",
                "projects/documents/",
                "projects/glossary/model.rs",
                "meetings/recordings/assembly.rs",
                "meetings/recordings/excerpt.rs",
                "meetings/state.rs",
                "meetings/transcripts/",
                "reviews/",
                "trackers/exports/drafting.rs",
                "wiring/",
                "main.rs",
                "models_command.rs",
                "demo/",
            ],
        ),
        ("clap", &["main.rs", "admin/", "bench/", "demo/mod.rs", "models_command.rs"]),
        ("zip", &["models/unpack.rs", "bench/soak/workbooks.rs"]),
    ];
    let naming = |name: &str| Regex::new(&format!(r"\b(use {name}\b|{name}::)")).unwrap();
    let table: Vec<_> = table.iter().map(|(name, places)| (name, naming(name), places)).collect();
    for source in sources("src") {
        for (name, naming, places) in &table {
            let named = naming.is_match(&source.code);
            let may = places.iter().any(|place| source.name.starts_with(place));
            assert!(!named || may, "{} names {name}", source.name);
        }
    }
}

#[test]
fn the_live_core_knows_no_http_no_sql_and_one_file_of_it_knows_actix() {
    let foreign =
        Regex::new(r"\b((diesel|diesel_async|actix_web|reqwest|hyper|sqlx|std::fs|std::net)\b|colloquy::)").unwrap();
    let actix = Regex::new(r"\bactix(_rt)?::").unwrap();
    for source in sources("actors/src") {
        let found = foreign.find(&source.code).map(|found| found.as_str());
        assert_eq!(found, None, "actors/src/{}", source.name);
        assert!(source.name == "shell.rs" || !actix.is_match(&source.code), "actors/src/{} names actix", source.name);
    }
}

#[test]
fn states_decide_without_clock_io_or_async() {
    let impure = Regex::new(r"\b(async|await|tokio|SystemTime|Instant::now|now_v7|generate\(\)|tracing)\b").unwrap();
    for source in sources("actors/src").iter().filter(|source| ["meeting", "run"].contains(&source.area())) {
        let found = impure.find(&source.code).map(|found| found.as_str());
        assert_eq!(found, None, "actors/src/{}", source.name);
    }
}

#[test]
fn every_file_says_first_what_it_is() {
    for root in ["src", "actors/src", "tests"] {
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
    for source in ["src", "src/exports", "src/pipeline", "src/printer", "src/voices", "src/whisper", "actors/src"]
        .into_iter()
        .flat_map(sources)
    {
        let lines = fs::read_to_string(&source.file).unwrap().lines().count();
        assert!(lines <= 520, "{} has {lines} lines", source.file.display());
    }
}

/// A hand-written deletion by age is unbounded: it grows with the rows that expired since the last one completed.
#[test]
fn rows_that_expired_are_deleted_page_by_page() {
    let by_hand = Regex::new(r"(?s)diesel::delete\([^;]*?\.(?:lt|le)\(\s*(?:Some\(\s*)?At\([^;]*;").unwrap();
    let in_text = Regex::new(r#""\s*DELETE FROM"#).unwrap();
    let mut found = Vec::new();
    for source in sources("src").iter().filter(|source| source.name != "db/sweep.rs") {
        let deletions = by_hand.find_iter(&source.code).map(|found| found.as_str());
        // A deletion of one row by its key is bounded.
        let unbounded = deletions.filter(|deletion| !deletion.contains("::table.find("));
        let texts = in_text.find_iter(&source.code).map(|found| found.as_str());
        found.extend(unbounded.chain(texts).map(|what| format!("{}: {what}", source.name)));
    }
    assert!(
        found.is_empty(),
        "declare what expires as a `db::sweep::Retention`, which wiring/sweeps.rs lists: {found:#?}"
    );
    let declared = Regex::new(r"\bRetention \{ table|\bRetention \{\s+table").unwrap();
    let listed = sources("src").into_iter().find(|source| source.name == "wiring/sweeps.rs").unwrap().code;
    let count = |text: &str| text.matches("RETENTION").count() + text.matches("::retention(").count();
    let declaring = sources("src").iter().filter(|source| declared.is_match(&source.code)).count();
    assert_eq!(count(&listed), declaring, "each is declared in one file, and listed in wiring/sweeps.rs");
}

/// What keeps the rows of each table from growing without end. A setting of `[quotas]` or `[limits]` bounds what people make;
/// what belongs to a row goes with it; the rest is deleted once its time has come.
const BOUNDS: &[(&str, &str)] = &[
    ("users", "by confirmed addresses, at limits.code_mails_of_client"),
    ("registrations", "deleted when they expire"),
    ("codes", "deleted when they expire"),
    ("reset_tokens", "deleted when they expire"),
    ("attempts", "deleted when their window is over"),
    ("external_logins", "by accounts at the provider"),
    ("login_codes", "deleted when they expire"),
    ("sessions", "deleted when they expire; begun at limits.logins"),
    ("projects", "quotas.account_projects"),
    ("members", "quotas.project_members"),
    ("project_invitations", "quotas.project_invitations"),
    ("documents", "quotas.project_documents, and bytes of project, account and installation"),
    ("document_texts", "one a document, and bytes of project, account and installation"),
    ("glossaries", "one a project"),
    ("meetings", "quotas.project_meetings"),
    ("participants", "meetings.people"),
    ("consents", "by participants, at limits.calls"),
    ("meeting_invitations", "quotas.meeting_invitations"),
    ("former_invitation_tokens", "an invitation is sent a few times"),
    ("recordings", "recordings.per_meeting, and bytes of project, account and installation"),
    ("recording_chunks", "by the bytes and the number of chunks of a recording"),
    ("transcripts", "ten versions a recording"),
    ("transcript_segments", "by what is said in a recording"),
    ("runs", "quotas.project_runs"),
    ("run_nodes", "by runs"),
    ("model_answers", "by runs and llm.run_tokens"),
    ("run_drafts", "one a run"),
    ("run_items", "20,000 a run"),
    ("run_results", "one a run"),
    ("items", "by what runs and imports find"),
    ("item_numbers", "one a kind and project"),
    ("proposals", "by what runs and imports find"),
    ("proposal_texts", "by proposals"),
    ("proposal_links", "by proposals"),
    ("run_supersedes", "by proposals"),
    ("dashboard_exports", "200 a project, and bytes of project, account and installation"),
    ("item_imports", "200 a project, and bytes of project, account and installation"),
    ("approval_trails", "one a project"),
    ("approval_events", "by decisions about items, at limits.calls: an audit trail is kept"),
    ("baselines", "200 a project"),
    ("baseline_items", "by baselines and items"),
    ("review_invitations", "quotas.project_invitations"),
    ("former_review_tokens", "an invitation is sent a few times"),
    ("feedback", "limits.feedback_per_author and quotas.project_feedback"),
    ("search_passages", "by what is searched"),
    ("search_retries", "by the sources that are searched, and deleted once they are indexed"),
    ("search_words", "by what is searched"),
    ("search_pending", "by what changed since the last look"),
    ("tracker_connections", "one a project"),
    ("pending_tracker_connections", "deleted when they expire"),
    ("tracker_destinations", "one a project"),
    ("tracker_exports", "by stories that are exported, at limits.calls"),
    ("tracker_export_items", "by stories that are exported"),
    ("tracker_issues", "one a story and site"),
    ("topics", "one a project, meeting and run"),
    ("events", "so many a topic"),
    ("idempotency_keys", "deleted after a day"),
    ("jobs", "by what makes them; those that failed are deleted in time"),
    ("server_lease", "one row"),
];

/// What people can make without end fills a disk: a new table fails here until it is said what bounds it.
#[test]
fn every_table_has_a_bound() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/db/schema");
    let heads = Regex::new(r"(?m)^    ([a-z_]+) \([a-z_, ]+\) \{$").unwrap();
    let mut tables = BTreeSet::new();
    for file in fs::read_dir(schema).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        tables.extend(heads.captures_iter(&text).map(|head| head[1].to_owned()));
    }
    let bounded: BTreeSet<String> = BOUNDS.iter().map(|(table, _)| (*table).to_owned()).collect();
    assert!(tables.len() > 50, "{tables:?}");
    assert_eq!(tables, bounded);
}

/// Where a file is received without a permit, and why that is right.
const WITHOUT_PERMIT: &[(&str, &str)] = &[
    ("clients/files/mod.rs", "a copy of a bucket's object, while it is read"),
    ("clients/files/folders.rs", "a copy of a bucket's object, while it is read"),
    ("clients/files/collection.rs", "a copy of a bucket's object, while it is read"),
    ("backup/restoring.rs", "what was stored before, by the operator"),
    ("pipeline_jobs/intake.rs", "pipeline.store_bytes bounds what the pipeline service keeps"),
    ("pipeline_jobs/operations.rs", "pipeline.store_bytes bounds what the pipeline service keeps"),
    ("bench/wire.rs", "a message of a socket, and no file"),
];

/// Whoever writes a file that stays asks first whether there is room for it.
#[test]
fn no_file_is_received_without_a_permit() {
    let received = Regex::new(r"\.receive\(\)").unwrap();
    let permit = Regex::new(r"\b(?:QuotaPermit|StoragePermit|quotas\s*\.begin)\b").unwrap();
    let mut without = BTreeSet::new();
    for source in sources("src") {
        if received.is_match(&source.code) && !permit.is_match(&source.code) {
            without.insert(source.name);
        }
    }
    assert_eq!(without, WITHOUT_PERMIT.iter().map(|(file, _)| (*file).to_owned()).collect());
}

/// Returns the text from an opening bracket to the closing one that belongs to it.
fn bracketed(text: &str, open: char, close: char) -> &str {
    let mut depth = 0;
    for (at, sign) in text.char_indices() {
        depth += i32::from(sign == open) - i32::from(sign == close);
        if depth == 0 {
            return &text[..=at];
        }
    }
    text
}

#[test]
fn what_search_does_with_a_connection_is_look_up_and_not_compute() {
    // A computation in a read holds one of few connections meanwhile: one account's searches took them from all others.
    let computing = Regex::new(
        r"\b(passages::of_|folding::|excerpt\(|marks\(|NearWords|IndexChange::between|serde_json::|strsim::)",
    )
    .unwrap();
    let with_connection = Regex::new(r"\bfn \w+(?:<[^>]*>)?\([^{;]*conn: &mut Conn[^{;]*\{").unwrap();
    let (mut reads, mut functions) = (0, 0);
    for source in sources("src").iter().filter(|source| source.name.starts_with("reviews/search")) {
        for (at, _) in source.code.match_indices(".read(") {
            reads += 1;
            let read = bracketed(&source.code[at + ".read".len()..], '(', ')');
            assert!(!computing.is_match(read), "{} computes in a read: {read}", source.name);
        }
        for found in with_connection.find_iter(&source.code) {
            functions += 1;
            let body = bracketed(&source.code[found.end() - 1..], '{', '}');
            assert!(!computing.is_match(body), "{} computes with a connection: {}{body}", source.name, found.as_str());
        }
    }
    assert!(reads >= 9 && functions >= 15, "{reads} reads, {functions} functions: they are written in another way now");
}
