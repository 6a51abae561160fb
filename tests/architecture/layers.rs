//! What each kind of file may name: SQL in stores, what requests contain in bodies, pure models and states, other crates where they belong.

use regex::Regex;

use crate::sources::sources;

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
        ("image", &["accounts/pictures/picture.rs"]),
        ("jsonwebtoken", &["access/token.rs", "clients/openid.rs"]),
        ("lettre", &["accounts/model.rs", "config/check.rs", "clients/mail/"]),
        ("livekit_api", &["clients/livekit/"]),
        ("object_store", &["clients/files/"]),
        ("oauth2", &["clients/openid.rs"]),
        ("cookie", &["http/cookies.rs"]),
        (
            "confined",
            &["accounts/pictures/decoder.rs", "analysis/imports/", "clients/printer.rs", "bin/colloquy/main.rs"],
        ),
        ("api_client", &["bin/colloquy/demo/"]),
        // A tool of developers, and of operators who measure a model: only that command knows it.
        ("evaluation", &["bin/colloquy/models_command.rs"]),
        (
            "pipeline",
            &[
                "analysis/",
                "clients/llm/",
                "clients/pipeline.rs",
                "pipeline_jobs/",
                "projects/glossary/model.rs",
                "meetings/transcripts/",
                "reviews/",
                "trackers/exports/drafting.rs",
                "wiring/",
                "bin/colloquy/main.rs",
                "bin/colloquy/models_command.rs",
                "bin/colloquy/demo/",
            ],
        ),
        (
            "readers",
            &[
                "analysis/attempt/",
                "analysis/findings/grounding.rs",
                "meetings/state.rs",
                "meetings/transcripts/",
                "pipeline_jobs/",
                "projects/documents/",
                "reviews/search/",
                "wiring/",
                "bin/colloquy/main.rs",
            ],
        ),
        (
            "speech",
            &[
                "clients/speech.rs",
                "meetings/recordings/assembly.rs",
                "meetings/recordings/excerpt.rs",
                "meetings/state.rs",
                "meetings/transcripts/",
                "wiring/",
                "bin/colloquy/main.rs",
            ],
        ),
        (
            "clap",
            &[
                "bin/colloquy/main.rs",
                "bin/colloquy/admin/",
                "bin/colloquy/demo/mod.rs",
                "bin/colloquy/models_command.rs",
            ],
        ),
        ("zip", &["models/unpack.rs"]),
    ];
    // A module of ours may have the name of a crate, such as `clients::speech`.
    let naming = |name: &str| Regex::new(&format!(r"(?:^|[^:\w])(use {name}\b|{name}::)")).unwrap();
    let table: Vec<_> = table.iter().map(|(name, places)| (name, naming(name), places)).collect();
    for source in sources("src") {
        for (name, naming, places) in &table {
            let named = naming.is_match(&source.code);
            let may = places.iter().any(|place| source.name.starts_with(place));
            assert!(!named || may, "{} names {name}", source.name);
        }
    }
}

/// It drives a server from outside, but for the accounts and tokens that it makes by the thousand.
#[test]
fn the_bench_imports_few_areas() {
    const AREAS: &[&str] = &["access", "accounts", "analysis", "db", "keys", "projects"];
    let imported = Regex::new(r"\bcolloquy::(\w+)").unwrap();
    for source in sources("crates/bench") {
        for area in imported.captures_iter(&source.code).map(|found| found[1].to_owned()) {
            assert!(AREAS.contains(&area.as_str()), "{} imports {area}", source.name);
        }
    }
}

#[test]
fn the_live_core_knows_no_http_no_query_and_one_file_of_it_knows_actix_and_two_know_diesel() {
    let foreign = Regex::new(r"\b((diesel_async|actix_web|reqwest|hyper|sqlx|std::fs|std::net)\b|colloquy::)").unwrap();
    let actix = Regex::new(r"\bactix(_rt)?::").unwrap();
    let diesel = Regex::new(r"\bdiesel::|\buse diesel\b").unwrap();
    let statement = Regex::new(r"\bdiesel::(query_dsl|prelude|insert_into|update|delete|sql_query|table)\b").unwrap();
    for source in sources("actors/src") {
        let found = foreign.find(&source.code).map(|found| found.as_str());
        assert_eq!(found, None, "actors/src/{}", source.name);
        assert!(
            source.name == "shell/mod.rs" || !actix.is_match(&source.code),
            "actors/src/{} names actix",
            source.name
        );
        let is_of_sql = ["sql.rs", "sql_types.rs"].contains(&source.name.as_str());
        assert!(is_of_sql || !diesel.is_match(&source.code), "actors/src/{} names diesel", source.name);
        assert!(!statement.is_match(&source.code), "actors/src/{} has a statement", source.name);
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
