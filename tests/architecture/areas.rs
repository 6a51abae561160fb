//! Which area may import which, and what of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Source, sources};

/// The areas that each area may import. An area that is not listed fails the test.
const MAY: &[(&str, &[&str])] = &[
    // The base, which depends on next to nothing.
    ("models", &[]),
    ("config", &["models"]),
    ("keys", &[]),
    ("log", &["config"]),
    ("disk", &[]),
    ("vital", &["log"]),
    ("tasks", &["vital"]),
    ("shared_state", &[]),
    ("clients", &[]),
    ("db", &["tasks", "vital"]),
    ("jobs", &["db", "keys", "clients", "tasks"]),
    // Shared by all features.
    ("quotas", &["config", "db", "disk", "http"]),
    ("core", &["config", "db", "jobs", "keys", "quotas", "shared_state", "tasks"]),
    // Transport, authentication, operations and real-time events: they import no feature.
    ("http", &["clients", "config", "db", "disk", "log", "shared_state", "tasks"]),
    ("passwords", &["config", "http"]),
    ("access", &["core", "db", "http", "keys", "shared_state"]),
    ("api", &["access", "core", "db", "http", "tasks"]),
    ("live", &["access", "api", "core", "db", "http", "shared_state"]),
    ("metrics", &["core", "http", "jobs", "log"]),
    // The features: each may import those before it and none after it.
    (
        "accounts",
        &["access", "api", "clients", "core", "db", "http", "jobs", "keys", "passwords", "quotas", "shared_state"],
    ),
    ("projects", &["access", "accounts", "api", "clients", "core", "db", "http", "jobs", "quotas", "shared_state"]),
    (
        "meetings",
        &[
            "access",
            "accounts",
            "api",
            "clients",
            "core",
            "db",
            "http",
            "jobs",
            "live",
            "models",
            "projects",
            "quotas",
            "shared_state",
            "tasks",
        ],
    ),
    (
        "analysis",
        &[
            "access",
            "accounts",
            "api",
            "clients",
            "core",
            "db",
            "http",
            "jobs",
            "live",
            "meetings",
            "projects",
            "quotas",
            "shared_state",
        ],
    ),
    (
        "reviews",
        &[
            "access",
            "accounts",
            "analysis",
            "api",
            "clients",
            "core",
            "db",
            "http",
            "jobs",
            "live",
            "meetings",
            "passwords",
            "projects",
            "quotas",
            "shared_state",
        ],
    ),
    (
        "trackers",
        &[
            "access",
            "accounts",
            "analysis",
            "api",
            "clients",
            "core",
            "db",
            "http",
            "jobs",
            "keys",
            "live",
            "meetings",
            "projects",
            "shared_state",
        ],
    ),
    // The pipeline as a service of its own knows no feature.
    ("pipeline_jobs", &["access", "api", "http", "shared_state", "tasks"]),
    (
        "operator",
        &[
            "access",
            "accounts",
            "analysis",
            "api",
            "clients",
            "core",
            "db",
            "http",
            "jobs",
            "live",
            "meetings",
            "models",
            "quotas",
            "shared_state",
        ],
    ),
    ("backup", &["clients", "db"]),
    ("service", &["access", "api", "core", "db", "http", "metrics", "shared_state"]),
    // The route table and the wiring: they may import everything.
    ("routes", &["*"]),
    ("events", &["*"]),
    ("wiring", &["*"]),
    ("lib", &[]),
    // The program.
    ("main", &["*"]),
    ("allocator", &["log"]),
    (
        "admin",
        &["accounts", "analysis", "backup", "config", "db", "http", "jobs", "keys", "passwords", "quotas", "wiring"],
    ),
    ("models_command", &["config", "models", "wiring"]),
    ("demo", &["analysis", "config", "models", "projects"]),
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
    "analysis::items::store::exists",
    "analysis::items::store::find_many",
    // Locks the item's row, and changes nothing.
    "analysis::items::store::change::find_to_change",
    "analysis::trail::store::list",
];

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

#[test]
fn no_area_imports_the_wiring_or_an_entry_point() {
    let all = sources("src");
    let builders = ["main", "wiring", "admin", "models_command", "demo", "lib"];
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
