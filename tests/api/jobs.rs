//! Background jobs from outside: one that kills the server each time, and the turns that projects take.
//!
//! The job is the export to PDF, whose printer is a program that the story writes: so it says what becomes of the job.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::admin::{admin, listed};
use crate::analysis::NOTE;
use crate::analysis::exports::Analysed;
use crate::support::{Server, ServerSetup, User};

/// Writes a program that serves as printer. `$here` is the folder of the setup, and `$input` what is to be printed.
fn printer(setup: &ServerSetup, script: &str) -> PathBuf {
    let (program, here) = (setup.data.join("printer.sh"), setup.data.display());
    std::fs::write(&program, format!("#!/bin/sh\nhere='{here}'\ninput=$(cat)\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    program
}

async fn named(ada: User, name: &str) -> Analysed {
    let analysed = Analysed::of(ada, NOTE).await;
    analysed.ada.client.patch(format!("/api/projects/{}", analysed.project)).json(json!({"name": name})).await.is(200);
    analysed
}

fn at(analysed: Analysed, server: &Server) -> Analysed {
    Analysed { ada: analysed.ada.at(server), project: analysed.project }
}

/// Returns the status of the only export of a project once it has ended.
async fn ended(analysed: &Analysed) -> Value {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let export = analysed.dashboard().await["exports"][0].clone();
        if matches!(export["status"].as_str(), Some("READY" | "FAILED")) {
            return export;
        }
        assert!(Instant::now() < deadline, "{export}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}

async fn until_lines(path: &Path, count: usize) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while lines(path).len() < count {
        assert!(Instant::now() < deadline, "{:?}", lines(path));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Kills the server that printed it, once the story says so.
const POISON: &str = r#"
case "$input" in *poison*)
    echo poison >>"$here/started"
    while [ ! -e "$here/strike" ]; do sleep 0.02; done
    rm "$here/strike"
    kill -9 $PPID
    exit 2
esac
printf '%%PDF-1.7'
"#;

on_sqlite! {
    async fn a_job_that_kills_the_server_each_time_is_failed_after_five_and_the_server_and_its_lane_go_on(setup: ServerSetup) {
        let program = printer(&setup, POISON);
        let settings = [("COLLOQUY__EXPORTS__PRINTER", program.to_str().unwrap())];
        let (started, strike) = (setup.data.join("started"), setup.data.join("strike"));
        let mut server = setup.start(&settings);
        let mut poison = named(server.user().await, "poison").await;
        let mut other = named(server.user().await, "other").await;
        let path = poison.at("/exports");
        let asked = poison.ada.client.post(path).json(json!({"format": "PDF"})).tried();
        let mut killed = 0;
        let first = async {
            until_lines(&started, 1).await;
            std::fs::write(&strike, "").unwrap();
        };
        let _ = tokio::join!(asked, first);
        loop {
            let status = server.wait(Duration::from_secs(20)).unwrap();
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
            killed += 1;
            if killed == 5 {
                break;
            }
            server = setup.start(&settings);
            until_lines(&started, killed + 1).await;
            std::fs::write(&strike, "").unwrap();
        }
        // Nobody had to mend anything: the sixth start goes well.
        let server = setup.start(&settings);
        (poison, other) = (at(poison, &server), at(other, &server));
        assert_eq!(ended(&poison).await["status"], "FAILED");
        let export = other.ada.client.post(other.at("/exports")).json(json!({"format": "PDF"})).await.is(201).data().clone();
        assert_eq!(export["status"], "READY", "{export}");
        assert_eq!(lines(&started).len(), 5);
        let failed = listed(&setup, &["list-failed-jobs"]);
        assert_eq!((failed.len(), &failed[0]["kind"], &failed[0]["attempts"]), (1, &json!("make-export"), &json!(5)));
        assert!(failed[0]["error"].as_str().unwrap().contains("as if killed"), "{}", failed[0]);
        let discarded = admin(&setup, &["discard-jobs", "--job", failed[0]["id"].as_str().unwrap()], "").done();
        assert_eq!(discarded, "1 failed job was deleted.\n");
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
        assert_eq!(ended(&poison).await["status"], "FAILED");
    }

    async fn a_job_that_kills_the_server_is_discarded_without_a_server_and_its_export_has_failed(setup: ServerSetup) {
        let program = printer(&setup, POISON);
        let settings = [("COLLOQUY__EXPORTS__PRINTER", program.to_str().unwrap())];
        let mut server = setup.start(&settings);
        let poison = named(server.user().await, "poison").await;
        let asked = poison.ada.client.post(poison.at("/exports")).json(json!({"format": "PDF"})).tried();
        let strike = async {
            until_lines(&setup.data.join("started"), 1).await;
            std::fs::write(setup.data.join("strike"), "").unwrap();
        };
        let _ = tokio::join!(asked, strike);
        server.wait(Duration::from_secs(20)).unwrap();
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
        let all = listed(&setup, &["list-failed-jobs", "--unfinished"]);
        let job = all.iter().find(|job| job["kind"] == "make-export").unwrap();
        assert_eq!((&job["attempts"], &job["failedAt"]), (&json!(1), &Value::Null));
        let said = admin(&setup, &["discard-jobs", "--job", job["id"].as_str().unwrap()], "").done();
        assert_eq!(said, "The server ends the job as failed, without another attempt, as soon as it runs.\n");
        let server = setup.start(&settings);
        let poison = at(poison, &server);
        assert_eq!(ended(&poison).await["status"], "FAILED");
        assert_eq!(lines(&setup.data.join("started")).len(), 1);
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
    }

    async fn of_many_slow_exports_of_one_project_the_only_one_of_another_waits_for_one_turn(setup: ServerSetup) {
        let script = r#"
            case "$input" in *project-a*) echo a ;; *) echo b ;; esac >>"$here/started"
            while [ ! -e "$here/release" ]; do sleep 0.02; done
            printf '%%PDF-1.7'"#;
        let program = printer(&setup, script);
        let server = setup.start(&[("COLLOQUY__EXPORTS__PRINTER", program.to_str().unwrap())]);
        let (a, b) = (named(server.user().await, "project-a").await, named(server.user().await, "project-b").await);
        let ask = |of: &Analysed| of.ada.client.post(of.at("/exports")).json(json!({"format": "PDF"}));
        let started = setup.data.join("started");
        let many = join_all((0..8).map(|_| ask(&a).tried()));
        let one = async {
            until_lines(&started, 2).await;
            // It is enqueued when its own request waits for it.
            let asked = ask(&b).tried();
            let release = async {
                while server.waiting_jobs("make-export").await.len() < 9 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                std::fs::write(setup.data.join("release"), "").unwrap();
            };
            tokio::join!(asked, release).0
        };
        let (many, one) = tokio::join!(many, one);
        assert!(many.into_iter().all(|answer| answer.unwrap().status == 201) && one.unwrap().status == 201);
        until_lines(&started, 9).await;
        let order = lines(&started);
        assert_eq!(order[..2], ["a", "a"]);
        // Two start at once when both places become free: which of them writes first is not said.
        assert!(order[2..4].contains(&"b".to_owned()), "{order:?}");
    }
}
