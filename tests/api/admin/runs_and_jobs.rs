//! `colloquy admin …` for runs and jobs, beside a running server and without one.

use std::time::Instant;

use actors::live::{Topic, TopicKind};
use colloquy::db::schema::jobs;
use colloquy::db::{DbError, RunQueryDsl, events};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::{Duration, Server, ServerSetup, admin, listed};
use crate::analysis::long_text;
use crate::support::User;

/// Starts a run that takes a while. Returns its path and its id.
async fn started(ada: &User) -> (String, String) {
    let project = ada.project().await;
    ada.read(&project, "long.md", long_text().as_bytes()).await;
    let runs = format!("/api/projects/{project}/ai/runs");
    let id = ada.client.post(&runs).json(json!({})).await.is(202).text_of("id");
    (format!("{runs}/{id}"), id)
}

async fn events_of_run(server: &Server, id: &str) -> Vec<String> {
    let topic = Topic { kind: TopicKind::Run, id: id.parse().unwrap() };
    let records = server.db().await.read(move |conn| Box::pin(events::read_after(conn, topic, 0, 1000))).await.unwrap();
    records.iter().map(|record| record.kind.to_string()).collect()
}

/// Waits for a job that failed for good, and returns it as it is listed. Panics after 20 s.
async fn failed(setup: &ServerSetup) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut found = listed(setup, &["list-failed-jobs"]);
        if let Some(job) = found.pop() {
            return job;
        }
        assert!(Instant::now() < deadline, "no job fails");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

on_both! {
    async fn a_run_is_cancelled_through_its_actor_beside_a_server(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let (path, id) = started(&ada).await;
        let all = listed(&setup, &["list-runs"]);
        assert_eq!((all.len(), &all[0]["id"]), (1, &json!(id)));
        assert!(matches!(all[0]["status"].as_str(), Some("QUEUED" | "PROCESSING")), "{}", all[0]);
        let table = admin(&setup, &["list-runs"], "").done();
        assert!(table.starts_with("ID") && table.lines().nth(1).unwrap().starts_with(&id), "{table}");
        let said = admin(&setup, &["cancel-run", "--run", &id], "").done();
        assert_eq!(said, "The run was cancelled.\n");
        // The row may be read before the server has published what it wrote.
        let deadline = Instant::now() + Duration::from_secs(20);
        while ada.client.get(&path).await.is(200).data()["status"] != "CANCELLED" {
            assert!(Instant::now() < deadline, "the server shows a run that goes on");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(events_of_run(&server, &id).await.last().unwrap(), "run.cancelled");
        // The actor itself is cancelled, not only its row: it accepts the next commands.
        ada.client.post(format!("{path}/cancel")).await.refused(409, "InvalidState");
        ada.client.post(format!("{path}/retry")).await.is(202);
        ada.client.post(format!("{path}/cancel")).await.is(200);
        assert_eq!(listed(&setup, &["list-runs"]), Vec::<Value>::new());
        assert_eq!(listed(&setup, &["list-runs", "--all"])[0]["status"], "CANCELLED");
        let over = admin(&setup, &["cancel-run", "--run", &id], "").refused(1);
        assert!(over.contains("has already ended with the status CANCELLED"), "{over}");
    }

    async fn a_run_is_cancelled_without_a_server_and_stays_so(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let (path, id) = started(&ada).await;
        server.kill();
        admin(&setup, &["cancel-run", "--run", &id], "").done();
        assert_eq!(listed(&setup, &["list-runs"]), Vec::<Value>::new());
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        assert_eq!(ada.client.get(&path).await.is(200).data()["status"], "CANCELLED");
        let records = events_of_run(&server, &id).await;
        assert_eq!(records.iter().filter(|kind| *kind == "run.cancelled").count(), 1, "{records:?}");
        assert_eq!(records.last().unwrap(), "run.cancelled");
        assert_eq!(server.waiting_jobs("cancel-run").await, Vec::<String>::new());
        ada.client.post(format!("{path}/retry")).await.is(202);
        ada.client.post(format!("{path}/cancel")).await.is(200);
    }

    async fn a_failed_job_is_listed_and_tried_again(setup: ServerSetup) {
        let server = setup.start(&[]);
        server.user().await;
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
        // A job whose payload names no run.
        server.enqueue("cancel-run", json!({})).await;
        let job = failed(&setup).await;
        assert_eq!((&job["kind"], &job["attempts"]), (&json!("cancel-run"), &json!(1)));
        assert!(job["error"].as_str().unwrap().contains("runId"), "{job}");
        let id = job["id"].as_str().unwrap().to_owned();
        let table = admin(&setup, &["list-failed-jobs"], "").done();
        assert!(table.lines().nth(1).unwrap().starts_with(&id), "{table}");
        let none = admin(&setup, &["requeue-jobs", "--kind", "mail"], "").done();
        assert_eq!(none, "There is no matching failed job.\n");
        let nobody = "00000000-0000-0000-0000-000000000000";
        assert_eq!(admin(&setup, &["requeue-jobs", "--job", nobody], "").done(), none);
        // Repairs the job's payload.
        let payload = json!({"runId": nobody}).to_string();
        let db = server.db().await;
        let mended = db.write(move |conn| {
            Box::pin(async move {
                let own = jobs::table.filter(jobs::kind.eq("cancel-run"));
                diesel::update(own).set(jobs::payload.eq(payload)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        });
        mended.await.unwrap();
        assert_eq!(admin(&setup, &["requeue-jobs", "--job", &id], "").done(), "1 job was requeued.\n");
        let deadline = Instant::now() + Duration::from_secs(10);
        while !server.waiting_jobs("cancel-run").await.is_empty() {
            assert!(Instant::now() < deadline, "the server doesn't take it");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
        // Without a server the job waits for the next one.
        server.enqueue("cancel-run", json!({})).await;
        failed(&setup).await;
        server.kill();
        assert_eq!(admin(&setup, &["requeue-jobs", "--all"], "").done(), "1 job was requeued.\n");
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
        let _server = setup.start(&[]);
        assert_eq!(failed(&setup).await["attempts"], 1);
    }

    async fn failed_jobs_are_discarded_by_kind_and_one_that_waits_by_its_id(setup: ServerSetup) {
        let server = setup.start(&[]);
        server.enqueue("cancel-run", json!({})).await;
        failed(&setup).await;
        let none = "There is no matching job.\n";
        assert_eq!(admin(&setup, &["discard-jobs", "--kind", "mail"], "").done(), none);
        assert_eq!(admin(&setup, &["discard-jobs", "--kind", "cancel-run"], "").done(), "1 failed job was deleted.\n");
        assert_eq!(listed(&setup, &["list-failed-jobs"]), Vec::<Value>::new());
        server.kill();
        assert_eq!(admin(&setup, &["discard-jobs", "--all"], "").done(), none);
    }

    async fn misuse_of_run_and_job_commands_is_explained_in_a_sentence(setup: ServerSetup) {
        let _server = setup.start(&[]);
        let nobody = "00000000-0000-0000-0000-000000000000";
        let both = ["requeue-jobs", "--all", "--kind", "mail"];
        for asked in [
            &["cancel-run"][..],
            &["cancel-run", "--run", "x"],
            &["requeue-jobs"],
            &["requeue-jobs", "--job", "x"],
            &both,
            &["discard-jobs"],
        ] {
            admin(&setup, asked, "").refused(2);
        }
        let missing = admin(&setup, &["cancel-run", "--run", nobody], "").refused(1);
        assert!(missing.contains("There is no run"), "{missing}");
    }
}
