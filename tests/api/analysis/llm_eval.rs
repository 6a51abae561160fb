//! Tests `colloquy models eval --engine …`: what is measured of a language model, and what is said when there is none.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::llm_service::{FakeLlm, Formats, Manner};

/// Two marked documents of one project, and one of another.
const CORPUS: [(&str, &str); 3] = [
    (
        "booking/spec.md",
        "# Booking\n\n⟦R.F|The system must let a patient book an appointment.⟧\n\n\
         ⟦R.N.PERF|The search must answer within 2 seconds.⟧\n\nThe café opens at nine.\n",
    ),
    ("booking/notes.md", "# Notes\n\n⟦K|There is a risk that the old data is lost.⟧\n"),
    ("rooms/list.md", "# Rooms\n\n⟦R.F|The system must print the list of rooms.⟧\n"),
];

fn eval(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLOQUY__"));
    own.for_each(|(name, _)| {
        command.env_remove(name);
    });
    command.args(["models", "eval"]).args(arguments).envs(settings.iter().copied());
    command.env("NO_PROXY", "127.0.0.1").current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn corpus() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, words) in CORPUS {
        let path = folder.path().join("corpus").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, words).unwrap();
    }
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the line of a report that begins with a name.
fn line<'a>(report: &'a str, name: &str) -> &'a str {
    report.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {report}"))
}

#[test]
fn a_language_model_is_measured_as_a_run_would_ask_it() {
    let (fake, folder) = (FakeLlm::start(), corpus());
    // Whose texts a server may send has no say in what an operator measures.
    let mut settings = fake.settings();
    settings.push(("COLLOQUY__LLM__PROJECTS", "none"));
    let arguments = ["--corpus", "corpus", "--engine", "llm"];
    let ended = eval(folder.path(), &arguments, &settings);
    let (report, said) = (text(&ended.stdout), text(&ended.stderr));
    assert!(ended.status.success(), "{report}{said}");
    assert!(line(&report, "Requirement ").contains("F1 1.000"), "{report}");
    assert!(line(&report, "Risk ").contains("expected 1 found 1"), "{report}");
    let asked = fake.answered().len();
    assert_eq!(
        line(&report, "calls "),
        format!("calls                    {asked} answered; 0 of {asked} (0.0 %) gave no usable answer")
    );
    assert_eq!(
        line(&report, "fallbacks "),
        "fallbacks                0 of 3 (0.0 %) parts were analysed by the embedded engine"
    );
    assert!(line(&report, "quotes of the model ").contains(" 0 dropped"), "{report}");
    assert!(line(&report, "tokens ").split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() > 100, "{report}");
    assert!(said.contains("1 of 2: booking") && said.contains("2 of 2: rooms"), "{said}");
    // No answer is stored: a second measurement asks again.
    eval(folder.path(), &arguments, &settings);
    assert_eq!(fake.answered().len(), 2 * asked);
}

#[test]
fn what_a_model_invents_and_does_not_answer_is_counted() {
    let (fake, folder) = (FakeLlm::start(), corpus());
    fake.answers(Manner::Invents);
    fake.knows(Formats::Objects);
    let ended = eval(folder.path(), &["--corpus", "corpus", "--engine", "llm"], &fake.settings());
    let report = text(&ended.stdout);
    assert!(line(&report, "quotes of the model ").contains(" 3 dropped"), "one of each part: {report}");
    assert!(line(&report, "quotes  ").contains(" verbatim"), "{report}");

    // Of the parts of the first project the model answers none, and of the second one neither.
    fake.dies_after(0);
    let ended = eval(folder.path(), &["--corpus", "corpus", "--engine", "fallback"], &fake.settings());
    let report = text(&ended.stdout);
    assert_eq!(
        line(&report, "fallbacks "),
        "fallbacks                3 of 3 (100.0 %) parts were analysed by the embedded engine"
    );
    assert!(line(&report, "runs ").contains("2, 2 of 2 (100.0 %) left something out"), "{report}");
    assert!(line(&report, "Requirement ").contains("expected 3 found 3"), "the embedded engine's: {report}");
    let ended = eval(folder.path(), &["--corpus", "corpus", "--engine", "llm"], &fake.settings());
    let report = text(&ended.stdout);
    assert!(line(&report, "no result ").contains("booking: The analysis could not be done: "), "{report}");
    assert!(line(&report, "no result ").contains("it answers 503"), "{report}");
}

#[test]
fn without_a_model_the_command_says_what_to_set_and_sends_nothing() {
    let folder = corpus();
    for engine in ["llm", "fallback"] {
        let ended = eval(folder.path(), &["--corpus", "corpus", "--engine", engine], &[]);
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains("no language model is configured") && said.contains("llm.url"), "{said}");
        assert_eq!(text(&ended.stdout), "");
    }
    let fake = FakeLlm::start();
    for arguments in [
        &["--engine", "llm"][..],
        &["--corpus", "corpus", "--engine", "other"],
        &["--corpus", "corpus", "--engine", "llm", "--requirements", "table.tsv"],
    ] {
        let ended = eval(folder.path(), arguments, &fake.settings());
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", text(&ended.stderr));
    }
    // The embedded engine asks nobody, whatever is set.
    let ended = eval(folder.path(), &["--corpus", "corpus"], &fake.settings());
    let report = text(&ended.stdout);
    assert!(ended.status.success() && line(&report, "Requirement ").contains("F1 1.000"), "{report}");
    assert!(!report.contains("tokens") && fake.requests().is_empty(), "{report}");
}
