//! Whoever parses what a user sent does it in a child process with limits, and takes time in proportion to its size.
//!
//! A source test, as tests/architecture is: every use of a crate that parses formats of other programs stands in the list below with
//! the child that reaches it, or with the reason why what it parses was sent by no user; and every reader of the list is measured at
//! the sizes n, 2n and 4n by a test that is named here. JSON bodies and multipart forms are the interface itself: serde and actix
//! parse them under the limit of their size. What looks at the first bytes of a file to tell its format (`readers/sniff.rs`,
//! `recordings/container.rs`, `imports/upload.rs`) parses nothing of it.

#![expect(clippy::unwrap_used, clippy::string_slice, reason = "tests: what can't be is to end the test, loudly")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The crates that parse, or unpack, formats of other programs. Some of them also write such formats.
const PARSERS: &[&str] = &[
    "csv",
    "encoding_rs",
    "flate2",
    "html5gum",
    "image",
    "mail-parser",
    "pdf-extract",
    "pulldown-cmark",
    "quick-xml",
    "ropus",
    "symphonia",
    "tar",
    "zip",
];

/// All other dependencies. Who adds one says here, or above, whether it parses what users send.
const OTHERS: &[&str] = &[
    // What requests, answers and settings are made of.
    "actix",
    "actix-codec",
    "actix-http",
    "actix-multipart",
    "actix-service",
    "actix-web",
    "actix-web-actors",
    "askama",
    "base64",
    "bytes",
    "bytestring",
    "config",
    "cookie",
    "hex",
    "matchit",
    "serde",
    "serde_json",
    "url",
    "utoipa",
    "utoipa-swagger-ui",
    "uuid",
    // The code of derives.
    "fields_derive",
    "proc-macro2",
    "quote",
    "syn",
    // Other servers, the database, the operating system.
    "deadpool",
    "diesel",
    "diesel-async",
    "diesel_migrations",
    "libsqlite3-sys",
    "livekit-api",
    "object_store",
    "oauth2",
    "reqwest",
    "rlimit",
    "rustix",
    "rustls",
    "rustls-platform-verifier",
    "socket2",
    "tempfile",
    "tokio-postgres",
    "tokio-postgres-rustls",
    "tokio-tungstenite",
    // Arithmetic on sound, which is decoded by then, and on texts.
    "audioadapter-buffers",
    "earshot",
    "half",
    "imara-diff",
    "matrixmultiply",
    "regex",
    "rubato",
    "unicode-bidi",
    "unicode-normalization",
    "unicode-segmentation",
    "whatlang",
    "zxcvbn",
    // Writers.
    "icalendar",
    "lettre",
    "metrics-exporter-prometheus",
    "rust_xlsxwriter",
    // Everything else.
    "argon2",
    "arc-swap",
    "async-trait",
    "chacha20poly1305",
    "chrono",
    "clap",
    "console",
    "futures-util",
    "governor",
    "hmac",
    "indicatif",
    "jsonwebtoken",
    "metrics",
    "quick_cache",
    "rand",
    "rust-embed",
    "sha2",
    "strum",
    "subtle",
    "thiserror",
    "tokio",
    "tokio-util",
    "tracing",
    "tracing-subscriber",
    // Our own.
    "actors",
    "api_client",
    "colloquy",
    "confined",
    "evaluation",
    "exports",
    "pipeline",
    "readers",
    "speech",
    "voices",
    "whisper",
];

/// A child process that parses files of users.
struct ParserChild {
    /// As in `src/bin/colloquy/main.rs`.
    verb: &'static str,
    /// The file with its `child_main`, which limits the process.
    file: &'static str,
    /// How its file calls the parser, as a pattern.
    call: &'static str,
    /// How any file names the parser, as a pattern; no other file may.
    named: &'static str,
    /// But for those that declare it, and those that parse files of the operator.
    but: &'static [&'static str],
    /// The files that name a crate of [`PARSERS`], or parse by themselves, each with the test that measures it.
    readers: &'static [(&'static str, &'static str)],
}

const CHILDREN: &[ParserChild] = &[
    ParserChild {
        verb: "read-document",
        file: "crates/readers/child.rs",
        call: r"\bread\(format\b",
        named: r"(?:^|[^.\w:])read\(\s*(?:\w+\.)*[Ff]ormat\b|\breaders::read\b",
        // `colloquy models evaluate` reads documents that the operator has marked, on the command line.
        but: &["crates/readers/lib.rs", "crates/evaluation/marked.rs"],
        readers: &[
            ("crates/readers/comma.rs", "crates/readers/complexity_tests.rs::csv_is_read_in_proportion_to_its_size"),
            ("crates/readers/docx.rs", "crates/readers/complexity_tests.rs::docx_is_read_in_proportion_to_its_size"),
            ("crates/readers/eml/mod.rs", OFFICE_MAILS),
            ("crates/readers/eml/parts.rs", OFFICE_MAILS),
            ("crates/readers/html.rs", "crates/readers/complexity_tests.rs::html_is_read_in_proportion_to_its_size"),
            (
                "crates/readers/markdown.rs",
                "crates/readers/complexity_tests.rs::markdown_is_read_in_proportion_to_its_size",
            ),
            (
                "crates/readers/odt.rs",
                "crates/readers/office_complexity_tests.rs::opendocument_texts_are_read_in_proportion_to_their_size",
            ),
            ("crates/readers/package.rs", OFFICE_WORKBOOKS),
            ("crates/readers/pdf.rs", PDF),
            ("crates/readers/pdf_bounds.rs", PDF),
            ("crates/readers/pdf_colours.rs", PDF),
            ("crates/readers/pdf_pages.rs", PDF),
            ("crates/readers/pdf_sight.rs", PDF),
            ("crates/readers/pdf_steps.rs", PDF),
            ("crates/readers/pptx/fills.rs", OFFICE_SLIDES),
            ("crates/readers/pptx/slide.rs", OFFICE_SLIDES),
            ("crates/readers/text.rs", "crates/readers/complexity_tests.rs::text_is_read_in_proportion_to_its_size"),
            (
                "crates/readers/transcript.rs",
                "crates/readers/complexity_tests.rs::transcripts_are_read_in_proportion_to_their_size",
            ),
            ("crates/readers/xlsx/sheet.rs", OFFICE_WORKBOOKS),
        ],
    },
    ParserChild {
        verb: "plan-import",
        file: "src/analysis/imports/child.rs",
        call: r"\bread_(?:xlsx|reqif)\(",
        named: r"\bread_(?:xlsx|reqif)\b",
        but: &["crates/exports/import/mod.rs"],
        readers: &[
            ("crates/exports/import/bounds.rs", IMPORTED_WORKBOOKS),
            ("crates/exports/import/xml.rs", IMPORTED_WORKBOOKS),
            ("crates/exports/import/xlsx/mod.rs", IMPORTED_WORKBOOKS),
            (
                "crates/exports/import/reqif/mod.rs",
                "crates/exports/file_tests/import_complexity.rs::reqif_is_read_in_proportion_to_its_size",
            ),
            (
                "crates/exports/import/comparison/mod.rs",
                "crates/exports/file_tests/import_complexity.rs::a_file_is_compared_in_proportion_to_its_items_and_those_of_the_project",
            ),
            (
                "crates/exports/text.rs",
                "crates/exports/file_tests/import_complexity.rs::texts_are_cleaned_in_proportion_to_their_size",
            ),
            (
                "src/analysis/imports/planning.rs",
                "src/analysis/imports/planning.rs::a_file_is_planned_in_proportion_to_its_items_and_those_of_the_project",
            ),
        ],
    },
    ParserChild {
        verb: "decode-picture",
        file: "src/accounts/pictures/decoder.rs",
        call: r"\bpicture::face\(",
        named: r"\bpicture::(?:face|\{?self)\b",
        but: &["src/accounts/pictures/picture.rs"],
        readers: &[(
            "src/accounts/pictures/picture.rs",
            "src/accounts/pictures/picture.rs::a_picture_is_decoded_in_proportion_to_its_pixels",
        )],
    },
    ParserChild {
        verb: "probe-media",
        file: "crates/speech/media/child.rs",
        call: r"\(duration_ms\)",
        named: r"\bduration::(?:\{[^}]*)?duration_ms\b",
        but: &["crates/speech/media/duration.rs"],
        readers: &[(
            "crates/speech/media/duration.rs",
            "crates/speech/media/tests.rs::a_file_is_measured_in_proportion_to_its_packets",
        )],
    },
    ParserChild {
        verb: "transcribe",
        file: "crates/speech/child.rs",
        call: r"\b(?:transcribe|cut|turns)\(file\b",
        named: r"\bSound::open\(|(?:^|[^.\w])(?:transcribe|cut|turns)\(file\b",
        but: &["crates/speech/cutting.rs", "crates/speech/hearing.rs", "crates/speech/turns.rs"],
        readers: &[("crates/speech/sound.rs", "crates/speech/tests.rs::sound_is_decoded_in_proportion_to_its_length")],
    },
];

const OFFICE_MAILS: &str = "crates/readers/office_complexity_tests.rs::mails_are_read_in_proportion_to_their_size";
const OFFICE_WORKBOOKS: &str =
    "crates/readers/office_complexity_tests.rs::workbooks_are_read_in_proportion_to_their_size";
const OFFICE_SLIDES: &str =
    "crates/readers/office_complexity_tests.rs::presentations_are_read_in_proportion_to_their_size";
const PDF: &str = "crates/readers/pdf_complexity_tests.rs::a_document_is_read_in_proportion_to_its_pages";
const IMPORTED_WORKBOOKS: &str =
    "crates/exports/file_tests/import_complexity.rs::workbooks_that_come_back_are_read_in_proportion_to_their_size";

/// The files that name a crate of [`PARSERS`] for something else than what users send.
const NOT_OF_USERS: &[(&str, &str)] = &[
    ("src/backup/archive.rs", "writes a backup"),
    ("crates/bench/soak/workbooks.rs", "writes files for a bench"),
    ("src/backup/verified.rs", "reads the operator's backup, on the command line"),
    ("src/models/unpack.rs", "unpacks speech models, whose sums are known"),
    ("src/service/pages/assets.rs", "compresses the pages, once"),
    ("crates/exports/csv.rs", "writes a file"),
    ("crates/exports/docx/mod.rs", "writes a file"),
    ("crates/exports/docx/markup.rs", "writes a file"),
    ("crates/exports/reqif/mod.rs", "writes a file"),
    ("crates/exports/reqif/markup.rs", "writes a file"),
    ("crates/whisper/decoding.rs", "compresses what was heard, to tell repetitions"),
];

/// The manifests of the crates that are in the server, and of those that developers and operators run beside it.
fn manifests() -> Vec<PathBuf> {
    let crates = fs::read_dir(at("crates")).unwrap().map(|entry| entry.unwrap().path());
    // The printer writes files, in a process of its own.
    let crates = crates.filter(|folder| !folder.ends_with("printer")).map(|folder| folder.join("Cargo.toml"));
    [at("Cargo.toml"), at("actors/Cargo.toml")].into_iter().chain(crates).collect()
}

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// All sources by their paths, without comments and tests.
fn sources() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![at("src"), at("actors/src"), at("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            // The printer writes files, in a process of its own; examples are run by developers.
            let is_left_out = file.ends_with("crates/printer") || file.ends_with("examples");
            if file.is_dir() && !is_left_out {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "rs") {
                let name = file.strip_prefix(at("")).unwrap().to_string_lossy().into_owned();
                texts.insert(name, fs::read_to_string(file).unwrap());
            }
        }
    }
    let of_tests: BTreeSet<PathBuf> = texts.iter().flat_map(|(name, text)| modules_of_tests(name, text)).collect();
    let is_test = |name: &str| of_tests.iter().any(|test| Path::new(name).starts_with(test));
    texts.retain(|name, _| !is_test(name));
    texts.into_iter().map(|(name, text)| (name, code_of(&text))).collect()
}

/// The files and folders of modules that a file declares only for tests.
fn modules_of_tests(name: &str, text: &str) -> Vec<PathBuf> {
    let declared =
        Regex::new(r"(?m)^#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z]+\))? )?mod (\w+);").unwrap();
    let (path, stem) = (Path::new(name), Path::new(name).file_stem().unwrap().to_string_lossy().into_owned());
    let here = path.parent().unwrap();
    let folder = if matches!(&*stem, "mod" | "lib" | "main") { here.to_owned() } else { here.join(stem) };
    let modules = declared.captures_iter(text).map(|found| found[1].to_owned());
    modules.flat_map(|module| [folder.join(format!("{module}.rs")), folder.join(module)]).collect()
}

fn code_of(text: &str) -> String {
    let code = Regex::new(r"(?m)//.*$").unwrap().replace_all(text, "").into_owned();
    let tests = Regex::new(r"#\[cfg\(test\)\]\s*mod \w+ \{").unwrap();
    let end = tests.find(&code).map_or(code.len(), |found| found.start());
    code[..end].to_owned()
}

#[test]
fn every_dependency_is_a_parser_or_is_not() {
    let mut all = BTreeSet::new();
    for manifest in manifests() {
        let text = fs::read_to_string(manifest).unwrap();
        let own = text.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
        all.extend(own.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.to_owned()));
    }
    let listed: Vec<&str> = PARSERS.iter().chain(OTHERS).copied().collect();
    let listed_once: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(listed.len(), listed_once.len(), "a dependency is listed twice");
    let unknown: Vec<&String> = all.difference(&listed_once).collect();
    assert!(unknown.is_empty(), "say of these whether they parse formats of other programs: {unknown:?}");
    let gone: Vec<&String> = listed_once.difference(&all).collect();
    assert!(gone.is_empty(), "these are no dependencies: {gone:?}");
}

#[test]
fn a_parser_is_named_only_by_readers_that_a_child_reaches() {
    let named = PARSERS.iter().map(|name| name.replace('-', "_")).collect::<Vec<_>>().join("|");
    // `crate::csv` and `Format::Csv` are ours.
    let named = Regex::new(&format!(r"(?:^|[^\w:]|[^\w]::)(?:{named})::\w")).unwrap();
    let readers = CHILDREN.iter().flat_map(|child| child.readers).map(|(file, _)| *file);
    let listed: BTreeSet<&str> = readers.chain(NOT_OF_USERS.iter().map(|(file, _)| *file)).collect();
    // A module of ours may have the name of such a crate.
    let module = Regex::new(r"(?m)^\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);").unwrap();
    let mut faults = Vec::new();
    for (name, code) in sources() {
        let own: Vec<String> = module.captures_iter(&code).map(|found| found[1].to_owned()).collect();
        let is_named = named.find_iter(&code).any(|found| {
            let path = found.as_str().trim_start_matches(|sign: char| !sign.is_alphanumeric());
            !own.iter().any(|own| path.starts_with(&format!("{own}::")))
        });
        if is_named && !listed.contains(&*name) {
            faults.push(name);
        }
    }
    assert!(faults.is_empty(), "these name a parser and are on no list: {faults:#?}");
    for file in listed {
        assert!(at(file).is_file(), "{file} is gone");
    }
}

#[test]
fn what_parses_is_called_by_its_child_alone_and_that_limits_itself_first() {
    let sources = sources();
    let verbs = &sources["src/bin/colloquy/main.rs"];
    let verbs = &verbs[verbs.find("fn child_of_a_server").unwrap()..];
    for child in CHILDREN {
        let code = &sources[child.file];
        assert!(code.contains(&format!("pub const VERB: &str = \"{}\";", child.verb)), "{}", child.file);
        let begins = code.find("pub fn child_main").unwrap_or_else(|| panic!("{} has no child_main", child.file));
        let limited =
            code[begins..].find("allowance.apply()").unwrap_or_else(|| panic!("{} has no limits", child.file));
        let called = Regex::new(child.call).unwrap().find_iter(code).map(|found| found.start()).collect::<Vec<_>>();
        assert!(!called.is_empty(), "{} calls no {}", child.file, child.call);
        // A function below `child_main` is called by it.
        assert!(called.iter().all(|at| *at > begins + limited), "{} parses before it limits itself", child.file);
        assert!(code[begins..].contains("forbid_new_processes()"), "{}", child.file);
        let named = Regex::new(&format!("(?m){}", child.named)).unwrap();
        for (name, code) in &sources {
            let may = name == child.file || child.but.contains(&name.as_str());
            assert!(may || !named.is_match(code), "{name} parses outside the child `{}`", child.verb);
        }
        let module = child.file.trim_end_matches("/child.rs").trim_end_matches(".rs").rsplit('/').next().unwrap();
        assert!(Regex::new(&format!(r"{module}::(?:child::)?VERB")).unwrap().is_match(verbs), "no verb {}", child.verb);
    }
    let of_main = Regex::new(r"\bVERB\b").unwrap().find_iter(verbs).count();
    // The other one analyses texts that were read before.
    assert_eq!(of_main, CHILDREN.len() + 1, "a child is not on the list");
}

#[test]
fn every_reader_is_measured_at_twice_and_four_times_the_size() {
    // Some have a helper for it, whose name says the format.
    let measures = Regex::new(r"\b(?:assert_linear\w*|xlsx|reqif)\(").unwrap();
    for (file, test) in CHILDREN.iter().flat_map(|child| child.readers) {
        let (path, name) = test.split_once("::").unwrap();
        let text = fs::read_to_string(at(path)).unwrap_or_else(|error| panic!("{file}: {path}: {error}"));
        let from = text.find(&format!("fn {name}()")).unwrap_or_else(|| panic!("{file}: there is no {test}"));
        let body = &text[from..];
        let body = &body[..body[1..].find("#[test]").map_or(body.len(), |end| end + 1)];
        assert!(measures.is_match(body), "{test} measures nothing");
    }
}
