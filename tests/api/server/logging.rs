//! A log that can't be written (a full disk, a pipe that is closed or that nobody reads) costs lines, and nothing else: every
//! request is answered, writes go on, and the server ends when it is told to. Refused calls can't flood it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rustix::fs::{Mode, OFlags, open};
use serde_json::{Value, json};

use crate::support::memory::{Limited, SMALL, limited};
use crate::support::server::by_shell;
use crate::support::wire::Wire;
use crate::support::{Client, Server, ServerSetup, User, small_disk};

/// At this filter every request has lines of the workers, of the actors and of the database's threads.
const VERBOSE: (&str, &str) = ("COLLOQUY__LOG__FILTER", "trace");
/// How long a test waits for what is to come.
const LONG: Duration = Duration::from_secs(60);

/// Starts a server through a shell script whose `$1` is a path.
fn start(setup: &ServerSetup, script: &str, path: &Path) -> Server {
    let small = limited(&setup.command(&[VERBOSE]), Limited::Own, SMALL);
    let server = setup.begin_with(by_shell(&small, script, path.to_str().unwrap()));
    server.wait_until_ready();
    server
}

/// Everything goes on: accounts, writes of rows and of actors, refused calls, and the probes.
async fn goes_on(server: &Server) {
    let ada = server.user().await;
    let project = ada.project().await;
    let meeting = ada.meeting_path(&project).await;
    let calls = join_all((0..50).map(|number| {
        let (client, meeting) = (ada.client.apart(), meeting.clone());
        async move {
            client.post("/api/projects").json(json!({"name": format!("Project {number}")})).await.is(201);
            client.patch(&meeting).json(json!({"title": format!("Title {number}")})).await.is(200);
            client.get(format!("{meeting}x")).await.is(400);
        }
    }));
    calls.await;
    server.client().get("/health/ready").await.is(200);
}

async fn figure(server: &Server, name: &str) -> f64 {
    let text = server.operator().get("/metrics").await.is(200).text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

fn ends_when_it_is_told_to(mut server: Server) {
    server.terminate();
    let ended = server.wait(LONG).expect("the server doesn't end");
    assert!(ended.success(), "{ended}");
}

/// A named pipe.
fn pipe(setup: &ServerSetup) -> PathBuf {
    let path = setup.data.join("log.pipe");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Opens a named pipe for reading, whether anybody writes or not.
fn read_end(path: &Path) -> File {
    File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap())
}

on_both! {
    async fn with_a_full_disk_under_its_log_everything_goes_on(setup: ServerSetup) {
        let server = start(&setup, r#"log=$1; shift; exec "$@" 2>"$log""#, Path::new("/dev/full"));
        goes_on(&server).await;
        assert!(figure(&server, "colloquy_log_lost_total").await > 100.0);
        assert_eq!(figure(&server, "colloquy_panics_total").await, 0.0);
        ends_when_it_is_told_to(server);
    }

    async fn with_a_closed_pipe_for_a_log_everything_goes_on(setup: ServerSetup) {
        let path = pipe(&setup);
        let reader = read_end(&path);
        let server = start(&setup, r#"log=$1; shift; exec "$@" 2>"$log""#, &path);
        drop(reader);
        goes_on(&server).await;
        assert!(figure(&server, "colloquy_log_lost_total").await > 100.0);
        ends_when_it_is_told_to(server);
    }

    async fn a_pipe_that_nobody_reads_delays_nobody_and_what_is_missing_is_said_to_who_reads_at_last(setup: ServerSetup) {
        let path = pipe(&setup);
        // Open for reading too, so that it is not closed; nobody does read.
        let server = start(&setup, r#"log=$1; shift; exec "$@" 2<>"$log""#, &path);
        while figure(&server, "colloquy_log_lost_total").await == 0.0 {
            goes_on(&server).await;
        }
        let began = Instant::now();
        server.client().get("/health/ready").await.is(200);
        assert!(began.elapsed() < LONG / 4, "{:?}", began.elapsed());
        let (mut reader, mut said) = (read_end(&path), Vec::new());
        while !String::from_utf8_lossy(&said).contains("lines of the log were lost") {
            assert!(began.elapsed() < LONG, "nothing says what is missing");
            let mut piece = [0; 64 * 1024];
            match reader.read(&mut piece) {
                Ok(bytes) => said.extend_from_slice(&piece[..bytes]),
                Err(_nothing_yet) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
        // Nobody reads again.
        drop(reader);
        ends_when_it_is_told_to(server);
    }

    async fn refused_calls_have_a_hundred_lines_a_second_and_all_others_have_theirs(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "info")]);
        let began = Instant::now();
        let mut wires = Vec::new();
        for _ in 0..4 {
            wires.push(Wire::to(server.public).await);
        }
        join_all(wires.iter_mut().map(async |wire| {
            for number in 0..500 {
                let path = if number % 5 == 0 { "/health/live" } else { "/nowhere" };
                let status = wire.call(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n")).await.unwrap().status;
                assert_eq!(status, if number % 5 == 0 { 200 } else { 404 });
            }
        }))
        .await;
        let seconds = began.elapsed().as_secs() + 2;
        // Said when its second is over.
        let (mut lines, mut left_out) = (Vec::new(), 0);
        while lines.len() as u64 + left_out < 1600 {
            assert!(began.elapsed() < LONG, "{} lines and {left_out} without one", lines.len());
            tokio::time::sleep(Duration::from_millis(20)).await;
            let all: Vec<Value> = server.read_log().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
            left_out = all.iter().filter_map(|line| line["statuses"]["404"].as_u64()).sum();
            let of_health = all.iter().filter(|line| line["route"] == "/health/live").count();
            assert!(of_health >= 400, "{of_health} lines of calls that succeeded");
            lines = all.into_iter().filter(|line| line["status"] == 404).collect();
        }
        assert_eq!(lines.len() as u64 + left_out, 1600, "each is logged or counted");
        assert!(lines.len() as u64 <= 100 * seconds, "{} lines in {seconds} s", lines.len());
        let counted = figure(&server, r#"colloquy_access_log_left_out_total{status="404"}"#).await;
        assert_eq!(counted, left_out as f64);
    }
}

async fn ready(client: &Client) -> u16 {
    client.get("/health/ready").await.status
}

async fn create(ada: &User) -> u16 {
    let body = json!({"name": "Needs room", "description": "x".repeat(2000)});
    ada.client.post("/api/projects").json(body).await.status
}

on_sqlite! {
    async fn a_full_disk_under_the_database_and_the_log_is_said_by_the_probe_and_is_over_once_there_is_room(setup: ServerSetup) {
        let database = format!("sqlite://{}", setup.data.join("small/colloquy.sqlite").display());
        let small = ("small", 16 * 1024 * 1024);
        let script = r#"exec "$@" 2>small/server.log"#;
        let Some(server) = small_disk::start(&setup, small, &[("DATABASE_URL", &database)], script) else { return };
        let ada = server.user().await;
        let (filler, log) = (small_disk::inside(&server, "small/filler"), small_disk::inside(&server, "small/server.log"));
        assert_eq!(create(&ada).await, 201);
        for round in 0..3 {
            // As much as there is.
            let _full = std::fs::write(&filler, vec![0; 16 * 1024 * 1024]);
            let began = Instant::now();
            // What was left of a page, and of the result of the last probe, is used up.
            while create(&ada).await != 503 || ready(&server.client()).await != 503 {
                assert!(began.elapsed() < LONG, "round {round}: a full disk is not noticed");
            }
            let written = join_all((0..100).map(|_| create(&ada))).await;
            assert!(written.iter().all(|status| *status == 503), "round {round}: {written:?}");
            ada.client.get("/api/projects").await.is(200);
            server.client().get("/health/live").await.is(200);
            std::fs::remove_file(&filler).unwrap();
            let began = Instant::now();
            while ready(&server.client()).await != 200 {
                assert!(began.elapsed() < LONG, "round {round}: room is not noticed");
            }
            assert_eq!(create(&ada).await, 201, "round {round}");
        }
        assert_eq!(figure(&server, "colloquy_panics_total").await, 0.0);
        assert!(figure(&server, "colloquy_log_lost_total").await > 0.0, "the disk had room for the log");
        let said = std::fs::read_to_string(&log).unwrap();
        assert!(said.contains("lines of the log were lost"), "{said}");
    }
}
