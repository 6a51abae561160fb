//! Tests of `colloquy demo` as a new user runs it: the real program, on the samples and on given files.

#![expect(clippy::unwrap_used, reason = "tests: what can't be is to end the story, loudly")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The timeout of one demo: far more than it takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);
const MODEL: &str = "whisper-tiny.en";

/// Runs the demo and returns its output and exit status; its temporary folders are created in `folder`.
fn demo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    command.arg("demo").args(arguments).current_dir(folder).env("TMPDIR", folder).env("COLUMNS", "100");
    // The demo must ignore settings for other servers, and finds no models but those that it is told of.
    command.env("DATABASE_URL", "postgres://nowhere.invalid/none").env("COLLOQUY__SERVER__LISTEN", "nonsense");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let stop = child.id().to_string();
    let ended = std::thread::scope(|scope| {
        // A separate thread enforces the timeout while the output is read: a full pipe would block the demo.
        let (done, over) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            let late = over.recv_timeout(LIMIT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            late.then(|| Command::new("kill").args(["-TERM", &stop]).status())
        });
        let mut out = child.stdout.take().unwrap();
        let mut error = child.stderr.take().unwrap();
        let error = scope.spawn(move || {
            let mut said = Vec::new();
            std::io::Read::read_to_end(&mut error, &mut said).map(|_| said)
        });
        let mut said = Vec::new();
        std::io::Read::read_to_end(&mut out, &mut said).unwrap();
        let status = child.wait().unwrap();
        drop(done);
        Output { status, stdout: said, stderr: error.join().unwrap().unwrap() }
    });
    assert!(began.elapsed() < LIMIT, "too slow: {}", text(&ended));
    ended
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn the_samples_become_requirements_whose_quotes_all_stand_in_their_documents() {
    let folder = folder();
    let ended = demo(folder.path(), &["--exit"]);
    let said = text(&ended);
    assert!(ended.status.success(), "{said}");
    let expected = [
        "call-for-tenders.pdf",
        "discovery-meeting.vtt",
        "changed by PATCH",
        "100 %",
        "US-0",
        "RISK-0",
        "Open questions",
        "Action items",
        "Decisions",
        ", page ",
    ];
    for expected in expected {
        assert!(said.contains(expected), "{expected} is not in:\n{said}");
    }
    assert_eq!(said.lines().filter(|line| line.starts_with("  REQ-")).count(), 10, "{said}");
    assert!(said.contains("Lantern: booking for Tarnwick Vale Hospitals, "), "{said}");
    assert!(said.contains("requirements: 3 approved, 1 rejected, 1 deferred, 1 commented on"), "{said}");
    // There is no model in this folder: the recorded meeting is left out, and one line says what to do about it.
    let install = said.lines().filter(|line| line.contains("colloquy models install whisper-tiny.en"));
    assert_eq!(install.count(), 1, "{said}");
    assert!(!said.contains("Said in the recorded meeting"), "{said}");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let proof = words.split("✓ All ").nth(1).unwrap_or_else(|| panic!("{said}"));
    let quotes: usize = proof.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert!(quotes >= 100 && proof.contains("verified"), "{proof}");
    let too_long: Vec<_> = said.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(too_long.is_empty(), "{too_long:#?}");
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "something of the server is left behind");
}

/// The folder of installed models; `None`, with a message, where there is none.
fn models() -> Option<PathBuf> {
    let folder = std::env::var_os("COLLOQUY_TEST_MODELS").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join(MODEL).join("manifest.json").exists());
    if folder.is_none() {
        println!("SKIPPED: COLLOQUY_TEST_MODELS names no folder with {MODEL}");
    }
    folder
}

#[test]
fn with_a_model_what_is_said_in_a_recorded_meeting_becomes_requirements_too() {
    let Some(models) = models() else { return };
    let folder = folder();
    let ended = demo(folder.path(), &["--exit", "--models", models.to_str().unwrap()]);
    let said = text(&ended);
    assert!(ended.status.success(), "{said}");
    assert!(!said.contains("models install"), "{said}");
    let transcript = between(&said, "transcribed by whisper-tiny.en:", "Analysis");
    let spoken = transcript.lines().filter_map(|line| line.split_once("Speaker 1: "));
    let times: Vec<&str> = spoken.map(|(time, _)| time.trim()).collect();
    assert!(times.len() >= 5 && times.is_sorted() && times.iter().all(|time| time.len() == 5), "{transcript}");
    // Each item says at which second it was said: not all at the beginning.
    let traced = between(&said, "Said in the recorded meeting", "Proof");
    let places: Vec<&str> = traced.lines().filter_map(|line| line.trim().strip_prefix("Lantern: planning, ")).collect();
    let (first, last) = (places.first(), places.last());
    assert!(
        places.len() >= 4 && first != last && places.iter().all(|place| place.ends_with(", Speaker 1")),
        "{traced}"
    );
    assert!(places.iter().all(|place| times.contains(&&place[..5])), "{times:?}: {traced}");
    let traced = traced.split_whitespace().collect::<Vec<_>>().join(" ");
    for requirement in
        ["confirmation to the patient within five minutes", "appointment up to two hours before it begins"]
    {
        assert!(traced.contains(requirement), "{requirement}: {traced}");
    }
    assert!(said.contains("call-for-tenders.pdf, page ") && said.contains("✓ All "), "{said}");
}

/// Returns what stands between two texts.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let found = text.split_once(from).and_then(|(_, rest)| rest.split_once(to)).map(|(between, _)| between);
    assert!(found.is_some(), "nothing between {from} and {to} in:\n{text}");
    found.unwrap()
}

#[test]
fn a_file_of_ones_own_is_analysed() {
    let folder = folder();
    std::fs::write(folder.path().join("wish.txt"), "The booking system must let nurses move a bed between wards.\n")
        .unwrap();
    let ended = demo(folder.path(), &["--exit", "wish.txt"]);
    let said = text(&ended);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("wish.txt") && said.contains("REQ-001") && said.contains("move a bed"), "{said}");
    let project = said.lines().find(|line| line.trim_start().starts_with("Project")).unwrap();
    assert!(project.contains(" Wish, "), "titled after its file: {project}");
    assert!(!said.contains("approved,"), "nobody decides about what is somebody's own: {said}");
    assert!(!said.contains("call-for-tenders") && !said.contains("models install"), "{said}");
}

#[test]
fn what_cannot_be_read_or_analysed_is_said_in_words() {
    let folder = folder();
    std::fs::write(folder.path().join("empty.md"), "\n").unwrap();
    std::fs::write(folder.path().join("picture.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    for (file, reason) in [("missing.pdf", "missing.pdf can't be read"), ("empty.md", ""), ("picture.png", "415")] {
        let ended = demo(folder.path(), &["--exit", file]);
        let said = text(&ended);
        assert_eq!(ended.status.code(), Some(1), "{file}: {said}");
        assert!(said.contains("The demo failed.") && said.contains(reason), "{file}: {said}");
        assert!(!said.contains("panicked"), "{file}: {said}");
    }
}

/// A demo that goes on until it is interrupted.
struct OngoingDemo {
    child: std::process::Child,
    lines: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
}

impl OngoingDemo {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
        command.arg("demo").args(arguments).current_dir(folder).env("TMPDIR", folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        Self { child, lines }
    }

    /// Returns the next line that `wanted` finds something in.
    fn next<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> T {
        self.lines.by_ref().map(Result::unwrap).find_map(|line| wanted(&line)).unwrap()
    }

    /// Interrupts it, and waits for its end.
    fn interrupt(mut self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        self.lines.by_ref().for_each(drop);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Calls a server and returns the status and the data of its answer.
async fn call(url: &str, path: &str, token: &str, body: Option<Value>) -> (u16, Value) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let call = match body {
        Some(body) => http.post(format!("{url}{path}")).json(&body),
        None => http.get(format!("{url}{path}")).bearer_auth(token),
    };
    let answer = call.send().await.unwrap();
    let status = answer.status().as_u16();
    let mut envelope: Value = answer.json().await.unwrap();
    (status, envelope.get_mut("data").map(Value::take).unwrap())
}

/// As a browser does it: the code is in the fragment, and is exchanged for a session.
#[test]
fn the_link_signs_in_once_and_opens_a_project_in_the_middle_of_its_review() {
    let folder = folder();
    let mut demo = OngoingDemo::start(folder.path(), &[]);
    let link = demo.next(|line| line.contains("/login/callback#").then(|| line.trim().to_owned()));
    let (page, fragment) = link.split_once('#').unwrap();
    let url = page.strip_suffix("/login/callback").unwrap();
    let fragment: HashMap<String, String> = url::form_urlencoded::parse(fragment.as_bytes()).into_owned().collect();
    let project = fragment["returnUrl"].strip_prefix("/projects/").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let exchange = async || {
            let body = json!({"code": fragment["link"]});
            call(url, "/api/auth/login-link/exchange", "", Some(body)).await
        };
        let (status, session) = exchange().await;
        assert_eq!(status, 200, "{session}");
        assert_eq!(exchange().await.0, 401, "it signs in once");
        let token = session["accessToken"].as_str().unwrap();
        let get = async |path: &str| call(url, &format!("/api/projects/{project}{path}"), token, None).await.1;
        assert_eq!(get("").await["name"], "Lantern: booking for Tarnwick Vale Hospitals");
        let rejected = get("/requirements?limit=100&status=REJECTED").await;
        assert_eq!(rejected["totalCount"], 1, "{rejected}");
        let events = get("/approval-events?limit=100").await["items"].as_array().unwrap().clone();
        let of = |status: &str| events.iter().filter(|event| event.to_string().contains(status)).count();
        assert_eq!((of("APPROVED"), of("OUT_OF_SCOPE")), (3, 1), "{events:#?}");
        assert_eq!(get("/feedback").await["totalCount"], 1);
    });
    demo.interrupt();
}

#[test]
fn an_interruption_ends_the_server_and_leaves_nothing() {
    let folder = folder();
    std::fs::write(folder.path().join("wish.txt"), "The system must show the time.\n").unwrap();
    let mut demo = OngoingDemo::start(folder.path(), &["wish.txt"]);
    let url = demo.next(|line| {
        let url = line.split("http://").nth(1)?.split([',', '/']).next()?.to_owned();
        line.contains("Server").then_some(url)
    });
    demo.next(|line| line.contains("/docs").then_some(()));
    assert!(std::net::TcpStream::connect(&url).is_ok(), "{url}");
    demo.interrupt();
    assert!(std::net::TcpStream::connect(&url).is_err(), "the server goes on");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["wish.txt"]);
}
