//! Tests the limits of AI runs. Each runs in a child process: its memory and time, how it ends, and that neither the
//! server nor other projects' runs suffer from it.

use std::time::Duration;

use serde_json::{Value, json};

use super::process::{analysts, goes_behind, has_ended, signal};
use super::{NOTE, long_text, runs, text_of};
use crate::support::{Server, ServerSetup, User};

/// The memory limit of the server process in these tests, in MiB.
const LIMIT: u64 = 768;

/// Waits for a child process of the server that works on a run and is not one of `others`, and returns its process id.
/// Panics after 30 s.
async fn analyst(server: &Server, others: &[u32]) -> u32 {
    for _ in 0..3_000 {
        if let Some(pid) = analysts(server.pid()).into_iter().find(|pid| !others.contains(pid)) {
            return pid;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody works at a run:\n{}", server.read_log());
}

/// Waits until a run has ended and returns it. Panics when the server fails to answer other requests meanwhile.
async fn over_while_the_server_answers(server: &Server, user: &User, run: &str) -> Value {
    let anybody = server.client();
    let asking = async {
        loop {
            anybody.get("/health/live").await.is(200);
            user.client.get("/api/projects").await.is(200);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        over = user.over(run) => over,
        () = asking => unreachable!(),
    }
}

/// Returns documents, by file name, of about a megabyte or less. Each once used up the server's memory, or its CPU for
/// minutes: a long heading or list introduction that is repeated with everything below it; nested headings; nothing but
/// sentence ends; a new speaker in each cue.
fn hostile() -> Vec<(&'static str, String)> {
    let sentences = "The system must answer within a second. ".repeat(15_000);
    let nested = |at: usize| format!("{} {}\n\nIt must answer.\n\n", "#".repeat(at % 6 + 1), "heading ".repeat(40));
    let cue = |at: usize| format!("{at}\n00:00:01,000 --> 00:00:02,000\nSpeaker {at}: We must keep it.\n\n");
    vec![
        ("crowned.md", format!("# {}\n\n{sentences}\n", "word ".repeat(60_000))),
        ("led.md", format!("The system must {}:\n\n{}", "lead ".repeat(20_000), "- answer\n".repeat(20_000))),
        ("nested.md", (0..2_000).map(nested).collect()),
        ("dots.txt", ".".repeat(1_000_000)),
        ("spaced-dots.txt", ". ".repeat(200_000)),
        ("speakers.srt", (1..10_000).map(cue).collect()),
    ]
}

on_both! {
    async fn a_run_whose_process_is_killed_is_taken_up_again(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", text_of(2_000).as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let pid = analyst(&server, &[]).await;
        signal(pid, "KILL");
        let next = analyst(&server, &[pid]).await;
        assert_ne!(next, pid);
        let done = ada.over(&path).await;
        assert_eq!((&done["status"], &done["attempt"]), (&json!("COMPLETED"), &json!(1)), "{done}");
    }

    async fn a_run_that_was_taken_up_five_times_without_an_end_has_failed(setup: ServerSetup) {
        let mut server = setup.start_within(LIMIT, &[]);
        let mut ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", text_of(4_000).as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        for _ in 0..5 {
            let pid = analyst(&server, &[]).await;
            let now = ada.client.get(&path).await.is(200);
            assert_eq!(now.data()["status"], "PROCESSING", "{}", now.text());
            server.kill();
            assert!(has_ended(pid).await, "what works at a run ends with its server");
            server = setup.start_within(LIMIT, &[]);
            ada = ada.at(&server);
        }
        let failed = ada.over(&path).await;
        assert_eq!((&failed["status"], &failed["attempt"]), (&json!("FAILED"), &json!(1)), "{failed}");
        assert!(failed["errorMessage"].as_str().unwrap().contains("five times"), "{failed}");
        assert!(analysts(server.pid()).is_empty());

        let retried = ada.client.post(format!("{path}/retry")).await.is(202);
        assert_eq!(retried.data()["attempt"], 2);
        analyst(&server, &[]).await;
        server.kill();
        let server = setup.start_within(LIMIT, &[]);
        let ada = ada.at(&server);
        let done = ada.over(&path).await;
        assert_eq!((&done["status"], &done["attempt"]), (&json!("COMPLETED"), &json!(2)), "the count begins anew: {done}");
    }

    async fn nobody_has_more_unfinished_runs_than_is_set(setup: ServerSetup) {
        let settings = [("COLLOQUY__LIMITS__UNFINISHED_RUNS", "2"), ("COLLOQUY__ANALYSIS__WORKERS", "1")];
        let server = setup.start_within(LIMIT, &settings);
        let (ada, ben) = (server.user().await, server.user().await);
        let (project, others) = (ada.project().await, ben.project().await);
        ada.read(&project, "long.md", text_of(2_000).as_bytes()).await;
        ben.read(&others, "note.md", NOTE.as_bytes()).await;
        let kinds = ["FULL", "REQUIREMENTS", "USER_STORIES", "MEETING_MINUTES"];
        let begin = |kind: &str| ada.client.post(runs(&project)).json(json!({"analysisType": kind}));
        let answers = futures_util::future::join_all(kinds.map(|kind| async move { (kind, begin(kind).await) })).await;
        let (begun, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(_, answer)| answer.status == 202);
        assert_eq!(begun.len(), 2, "four at once are no more than four one by one");
        for (kind, refused) in refused {
            let refused = refused.refused(429, "TooManyRequests");
            assert!(refused.text().contains("You have 2 unfinished runs"), "{kind}: {}", refused.text());
        }
        // The same request returns the same run, and the limit of another account is not affected.
        let (kind, first) = &begun[0];
        assert_eq!(begin(kind).await.is(202).text_of("id"), first.text_of("id"));
        let (path, _) = ben.run(&others).await;
        for (_, run) in &begun {
            ada.client.post(format!("{}/{}/cancel", runs(&project), run.text_of("id"))).await.is(200);
        }
        begin("FULL").await.is(202);
        assert_eq!(ben.over(&path).await["status"], "COMPLETED");
    }

    async fn a_project_with_many_runs_does_not_hold_up_anothers_and_what_waits_can_be_cancelled(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[("COLLOQUY__ANALYSIS__WORKERS", "1")]);
        let (ada, bo) = (server.user().await, server.user().await);
        let (large, small) = (ada.project().await, bo.project().await);
        ada.read(&large, "long.md", text_of(2_000).as_bytes()).await;
        bo.read(&small, "note.md", NOTE.as_bytes()).await;
        let mut many = Vec::new();
        for kind in ["FULL", "REQUIREMENTS", "USER_STORIES", "MEETING_MINUTES"] {
            let started = ada.client.post(runs(&large)).json(json!({"analysisType": kind})).await.is(202);
            many.push(format!("{}/{}", runs(&large), started.text_of("id")));
        }
        let (path, _) = bo.run(&small).await;
        assert_eq!(bo.over(&path).await["status"], "COMPLETED");
        let mut waiting = 0;
        for run in &many {
            waiting += usize::from(ada.client.get(run).await.is(200).data()["status"] == "QUEUED");
        }
        assert!(waiting >= 1, "the other project's last run still waits");
        assert!(analysts(server.pid()).len() <= 1, "one at a time");
        let last = many.last().unwrap();
        let cancelled = ada.client.post(format!("{last}/cancel")).await.is(200);
        assert_eq!((&cancelled.data()["status"], &cancelled.data()["startedAt"]), (&json!("CANCELLED"), &json!(null)));
        let done = ada.over(&many[0]).await;
        assert_eq!(done["status"], "COMPLETED", "{done}");
    }
}

// The database has no part in these.
on_sqlite! {
    async fn a_run_that_needs_more_memory_than_it_may_have_fails_and_nothing_else_does(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[("COLLOQUY__ANALYSIS__RUN_MEMORY_MIB", "104")]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", text_of(3_000).as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let failed = over_while_the_server_answers(&server, &ada, &path).await;
        assert_eq!((&failed["status"], &failed["attempt"]), (&json!("FAILED"), &json!(1)), "{failed}");
        let why = failed["errorMessage"].as_str().unwrap();
        assert!(why.contains("more memory than it may have") && why.ends_with('.'), "{why}");
        assert!(!["queued", "done"].contains(&failed["currentNode"].as_str().unwrap()), "{failed}");
        drop(server);
        let server = setup.start_within(LIMIT, &[]);
        let ada = ada.at(&server);
        ada.client.post(format!("{path}/retry")).await.is(202);
        assert_eq!(ada.over(&path).await["status"], "COMPLETED", "with more of it");
    }

    async fn no_hostile_document_exhausts_the_server(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[]);
        let ada = server.user().await;
        let project = ada.project().await;
        for (name, content) in hostile() {
            ada.read(&project, name, content.as_bytes()).await;
        }
        let before = server.memory();
        let (path, _) = ada.run(&project).await;
        let over = over_while_the_server_answers(&server, &ada, &path).await;
        assert!(["COMPLETED", "PARTIAL"].contains(&over["status"].as_str().unwrap()), "{over}");
        let grown = server.memory().peak.saturating_sub(before.peak) / 1024;
        println!("{grown} MiB more at its most");
        assert!(grown < 150, "{grown} MiB more in the server");
        let small = ada.project().await;
        ada.read(&small, "note.md", NOTE.as_bytes()).await;
        let (path, _) = ada.run(&small).await;
        assert_eq!(ada.over(&path).await["status"], "COMPLETED");
    }

    async fn a_run_that_exceeds_its_time_limit_fails_and_its_process_is_killed(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[("COLLOQUY__ANALYSIS__RUN_SECONDS", "2")]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let pid = analyst(&server, &[]).await;
        assert!(goes_behind(pid, server.pid()).await);
        signal(pid, "STOP");
        let failed = over_while_the_server_answers(&server, &ada, &path).await;
        assert_eq!(failed["status"], "FAILED", "{failed}");
        assert!(failed["errorMessage"].as_str().unwrap().contains("took longer than it may"), "{failed}");
        assert!(has_ended(pid).await, "it was killed");
    }
}
