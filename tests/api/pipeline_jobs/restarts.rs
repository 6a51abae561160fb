//! Tests of jobs of a pipeline service that is killed, or whose processes are.

use std::time::Instant;

use serde_json::json;

use super::{PATIENCE, TEXT, ended, new_id, once, request_of};
use crate::analysis::long_text;
use crate::analysis::process::{analysts, signal};
use crate::support::chance::Chance;
use crate::support::pipeline_service::PipelineSetup;

#[tokio::test]
async fn a_service_that_is_killed_again_and_again_finishes_what_it_accepted() {
    let setup = PipelineSetup::new();
    let mut chance = Chance::new();
    let mut service = setup.start(&[]);
    let (long, short) = (new_id(), new_id());
    let client = service.client();
    client.post("/internal/process-json").json(request_of(&long, &long_text())).await.is(202);
    client.post("/internal/process-json").json(request_of(&short, TEXT)).await.is(202);
    for _ in 0..3 {
        let at = chance.millis(50, 800);
        tokio::time::sleep(at).await;
        service.kill();
        // What a kill leaves of a request that was not accepted.
        std::fs::create_dir_all(setup.data.join("pipeline/incoming/left")).unwrap();
        service = setup.start(&[]);
        assert!(!setup.data.join("pipeline/incoming/left").exists());
    }
    let client = service.client();
    // More is found in the long one than a run keeps.
    assert_eq!(ended(&client, &long).await["status"], "PARTIAL");
    assert_eq!(ended(&client, &short).await["status"], "COMPLETED");
    let result = client.get(format!("/internal/jobs/{long}/result")).await.is(200).bytes;
    service.kill();
    let service = setup.start(&[]);
    let again = service.client().get(format!("/internal/jobs/{long}/result")).await.is(200).bytes;
    assert_eq!(again, result, "finished jobs are kept");
    let files: Vec<_> = std::fs::read_dir(setup.data.join("pipeline/jobs").join(&long)).unwrap().flatten().collect();
    assert_eq!(files.len(), 2, "of a finished job only its record and its result are kept: {files:?}");
    // A folder that is no job does not keep the service from starting.
    service.kill();
    std::fs::write(setup.data.join("pipeline/jobs").join(&short).join("record.json"), b"{").unwrap();
    let service = setup.start(&[]);
    service.client().get(format!("/internal/jobs/{short}")).await.refused(404, "NotFound");
    service.client().get(format!("/internal/jobs/{long}")).await.is(200);
}

#[tokio::test]
async fn a_job_that_was_begun_five_times_without_an_end_has_failed() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let id = new_id();
    client.post("/internal/process-json").json(request_of(&id, &long_text())).await.is(202);
    let began = Instant::now();
    let mut killed = Vec::new();
    while client.get(format!("/internal/jobs/{id}")).await.is(200).data()["status"] != "FAILED" {
        assert!(began.elapsed() < PATIENCE);
        for child in analysts(service.pid()) {
            if !killed.contains(&child) {
                signal(child, "KILL");
                killed.push(child);
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(killed.len(), 5);
    let job = client.get(format!("/internal/jobs/{id}")).await.is(200);
    assert!(job.text_of("errorMessage").contains("started five times"), "{}", job.text());
    let result = client.get(format!("/internal/jobs/{id}/result")).await.is(200);
    assert_eq!(result.data()["status"], "FAILED");
    let next = new_id();
    client.post("/internal/process-json").json(request_of(&next, TEXT)).await.is(202);
    assert_eq!(once(&client, &next, |job| job["progress"] == json!(100)).await["status"], "COMPLETED");
}
