//! Tests of runs that the pipeline service analyses: they are as those of the server itself, through restarts of either
//! side and its absence.

use serde_json::{Value, json};

use super::once as once_job;
use crate::analysis::{NOTE, long_text, runs};
use crate::support::pipeline_service::PipelineSetup;
use crate::support::{Server, ServerSetup, User};

/// Replaces what differs between two equal results: ids, times and durations.
fn normalised(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let varies = ["processingMs", "createdAt", "updatedAt", "generatedAt"].contains(&name.as_str());
                (name.clone(), if varies { Value::Null } else { normalised(value) })
            })
            .collect(),
        Value::Array(values) => values.iter().map(normalised).collect(),
        Value::String(text) if text.parse::<uuid::Uuid>().is_ok() => json!("ID"),
        other => other.clone(),
    }
}

/// Analyses the same documents and returns the run, its dashboard and its items.
async fn everything(server: &Server) -> (Value, Value) {
    let ada = server.user().await;
    let project = ada.project().await;
    ada.read(&project, "a-note.md", NOTE.as_bytes()).await;
    let talk = "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Ada>The system must print a badge for each guest.\n\n\
                00:00:05.000 --> 00:00:09.000\n<v Ben>When a guest arrives, the desk must ring. I'll ask Ada by 2026-03-04.\n\n\
                00:00:10.000 --> 00:00:14.000\n<v Ben>The system must print a badge for each visitor.\n";
    // To this project a visitor is a guest, so that what is said twice is one requirement.
    let glossary = json!({"entries": [{"term": "guest", "definition": "Whoever visits.", "spellings": ["visitor"]}]});
    ada.client.put(format!("/api/projects/{project}/glossary")).json(glossary).await.is(200);
    ada.read(&project, "talk.vtt", talk.as_bytes()).await;
    ada.uploaded(&project, "torn.pdf", b"%PDF-1.7\n%torn").await;
    let documents = ada.client.get(format!("/api/projects/{project}/documents")).await.is(200);
    for document in documents.data()["items"].as_array().unwrap() {
        ada.settled(&format!("/api/projects/{project}/documents/{}", document["id"].as_str().unwrap())).await;
    }
    let documents = ada.client.get(format!("/api/projects/{project}/documents")).await.is(200);
    let ids: Vec<&Value> =
        documents.data()["items"].as_array().unwrap().iter().map(|document| &document["id"]).collect();
    let started = ada.client.post(runs(&project)).json(json!({"documentIds": ids})).await.is(202);
    let run = ada.over(&format!("{}/{}", runs(&project), started.text_of("id"))).await;
    let dashboard = ada.client.get(format!("/api/projects/{project}/ai/results-dashboard")).await.is(200);
    (run, dashboard.data().clone())
}

/// Starts a run over a text that takes some seconds, and waits until it is at work. Returns its path. More is found than
/// a run keeps, so it ends as PARTIAL.
async fn at_work(ada: &User) -> String {
    let project = ada.project().await;
    ada.read(&project, "long.md", long_text().as_bytes()).await;
    let (path, _) = ada.run(&project).await;
    ada.once(&path, |run| run["progress"].as_u64() > Some(20)).await;
    path
}

fn is_monotone(records: &[(u64, i64, Value)]) -> bool {
    let told = records.iter().map(|(_, _, run)| (run["attempt"].as_u64().unwrap(), run["progress"].as_u64().unwrap()));
    told.collect::<Vec<_>>().is_sorted()
}

on_both! {
    async fn the_results_are_those_of_the_embedded_pipeline(setup: ServerSetup) {
        let embedded = setup.start(&[]);
        let (local_run, local) = everything(&embedded).await;
        embedded.kill();
        let pipeline = PipelineSetup::new();
        let service = pipeline.start(&[]);
        let apart = ServerSetup::new(setup.kind).unwrap();
        let server = apart.start(&pipeline.settings());
        let (run, remote) = everything(&server).await;
        assert_eq!(local_run["status"], "PARTIAL", "{local_run}");
        assert_eq!((&run["status"], &run["warnings"][0]["code"]), (&json!("PARTIAL"), &local_run["warnings"][0]["code"]));
        assert_eq!(normalised(&remote).to_string(), normalised(&local).to_string());
        let requirements = remote["requirements"].as_array().unwrap();
        assert!(requirements.len() >= 4, "{remote}");
        let badges = requirements.iter().filter(|found| found["statement"].as_str().unwrap().contains("badge"));
        let quotes: Vec<usize> = badges.map(|found| found["sources"].as_array().unwrap().len()).collect();
        assert_eq!(quotes, [2], "both know the project's terms: {remote}");
        let job = service.client().get(format!("/internal/jobs/{}", run["aiJobId"].as_str().unwrap())).await.is(200);
        assert_eq!(job.data()["status"], "PARTIAL", "the service did it");
    }

    async fn a_run_waits_for_a_service_that_is_away_however_often_the_server_restarts(setup: ServerSetup) {
        let pipeline = PipelineSetup::new();
        let mut server = setup.start(&pipeline.settings());
        let mut ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        for _ in 0..2 {
            let run = ada.once(&path, |run| run["message"].as_str().unwrap().contains("can't be reached")).await;
            assert_eq!(run["status"], "PROCESSING");
            assert_eq!(server.taken_up(&path).await, 1, "waiting is no taking up");
            server.kill();
            server = setup.start(&pipeline.settings());
            ada = ada.at(&server);
        }
        let service = pipeline.start(&[]);
        let run = ada.over(&path).await;
        assert_eq!((&run["status"], &run["attempt"]), (&json!("COMPLETED"), &json!(1)), "{run}");
        assert!(server.taken_up(&path).await <= 2);
        drop(service);
        // It goes on with other work meanwhile.
        ada.client.get(format!("/api/projects/{project}")).await.is(200);
    }

    async fn a_server_that_is_killed_in_mid_job_finds_the_job_again(setup: ServerSetup) {
        let pipeline = PipelineSetup::new();
        let service = pipeline.start(&[]);
        let server = setup.start(&pipeline.settings());
        let ada = server.user().await;
        let path = at_work(&ada).await;
        server.kill();
        let server = setup.start(&pipeline.settings());
        let run = ada.at(&server).over(&path).await;
        assert_eq!((&run["status"], &run["attempt"]), (&json!("PARTIAL"), &json!(1)), "{run}");
        let job = service.client().get(format!("/internal/jobs/{}", run["aiJobId"].as_str().unwrap())).await.is(200);
        assert_eq!(job.data()["attempt"], 1, "the job was not begun again");
        assert!(is_monotone(&server.events_of_run(run["id"].as_str().unwrap()).await));
        let health = service.client().get("/internal/health").await.is(200);
        assert_eq!(health.data()["finished"], 1);
    }

    async fn a_service_that_is_killed_in_mid_job_finishes_it_when_it_is_back(setup: ServerSetup) {
        let pipeline = PipelineSetup::new();
        let service = pipeline.start(&[]);
        let server = setup.start(&pipeline.settings());
        let ada = server.user().await;
        let path = at_work(&ada).await;
        service.kill();
        ada.once(&path, |run| run["message"].as_str().unwrap().contains("can't be reached")).await;
        let service = pipeline.start(&[]);
        let run = ada.over(&path).await;
        assert_eq!((&run["status"], &run["attempt"]), (&json!("PARTIAL"), &json!(1)), "{run}");
        let job = service.client().get(format!("/internal/jobs/{}", run["aiJobId"].as_str().unwrap())).await.is(200);
        assert_eq!(job.data()["attempt"], 2);
        assert!(is_monotone(&server.events_of_run(run["id"].as_str().unwrap()).await));
    }

    async fn a_cancelled_run_cancels_its_job_and_a_late_job_says_nothing_of_the_next_attempt(setup: ServerSetup) {
        let pipeline = PipelineSetup::new();
        let service = pipeline.start(&[]);
        let server = setup.start(&pipeline.settings());
        let ada = server.user().await;
        let path = at_work(&ada).await;
        let first = ada.client.get(&path).await.is(200).text_of("aiJobId");
        ada.client.post(format!("{path}/cancel")).await.is(200);
        once_job(&service.client(), &first, |job| job["status"] == "CANCELLED").await;
        ada.client.post(format!("{path}/retry")).await.is(202);
        let second = ada.client.get(&path).await.is(200).text_of("aiJobId");
        assert_ne!(first, second);
        // The next attempt is left behind too: while the service stands still it can't be cancelled there.
        ada.once(&path, |run| run["progress"].as_u64() > Some(20)).await;
        crate::analysis::process::signal(service.pid(), "STOP");
        ada.client.post(format!("{path}/cancel")).await.is(200);
        ada.client.post(format!("{path}/retry")).await.is(202);
        crate::analysis::process::signal(service.pid(), "CONT");
        let run = ada.over(&path).await;
        assert_eq!((&run["status"], &run["attempt"]), (&json!("PARTIAL"), &json!(3)), "{run}");
        assert_eq!(run["progress"], 100);
        assert!(is_monotone(&server.events_of_run(run["id"].as_str().unwrap()).await));
    }

    async fn sources_that_are_too_large_for_the_service_fail_the_run_and_the_next_one_goes_on(setup: ServerSetup) {
        let pipeline = PipelineSetup::new();
        let service = pipeline.start(&[("COLLOQUY__PIPELINE__JOB_BYTES", "100000")]);
        let server = setup.start(&pipeline.settings());
        let ada = server.user().await;
        let project = ada.project().await;
        let large = "The system must ring.\n\n".repeat(150_000);
        ada.read(&project, "large.txt", large.as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let run = ada.over(&path).await;
        assert_eq!(run["status"], "FAILED", "{run}");
        let said = run["errorMessage"].as_str().unwrap();
        assert!(said.contains("413") || said.contains("could not be sent"), "{said}");
        let (_, run) = everything(&server).await;
        assert!(!run["requirements"].as_array().unwrap().is_empty());
        let health = service.client().get("/internal/health").await.is(200);
        assert_eq!(health.data()["finished"], 1);
    }
}
