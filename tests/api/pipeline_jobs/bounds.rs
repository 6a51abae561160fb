//! Tests of what the pipeline service can be made to hold.

use std::time::Instant;

use serde_json::{Value, json};

use super::{PATIENCE, TEXT, ended, new_id, once, request_of};
use crate::analysis::long_text;
use crate::support::pipeline_service::PipelineSetup;

#[tokio::test]
async fn what_is_no_request_is_refused_and_nothing_of_it_kept() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[("COLLOQUY__PIPELINE__JOB_BYTES", "10000")]);
    let client = service.client();
    let post = |body: String| client.post("/internal/process-json").body("application/json", body);
    post("{".to_owned()).await.refused(400, "BadRequest");
    post("[]".to_owned()).await.refused(400, "BadRequest");
    client.post("/internal/process-json").body("text/plain", "{}").await.refused(400, "BadRequest");
    post(request_of(&new_id(), &"x".repeat(10_000)).to_string()).await.refused(413, "PayloadTooLarge");
    let whole = request_of(&new_id(), TEXT);
    let with = |change: fn(&mut Value)| {
        let mut request = whole.clone();
        change(&mut request);
        post(request.to_string())
    };
    let faults = with(|request| {
        request["jobId"] = json!("no-uuid");
        request["analysisType"] = json!("ALL");
        request["colour"] = json!("blue");
        // The service asks no language model, and says so rather than use another engine than was asked for.
        request["engine"] = json!("llm");
    });
    let faults = faults.await.is(422).faults();
    let named: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(named, ["analysisType", "colour", "engine", "jobId"]);
    let glossary = with(|request| {
        let long = "x".repeat(101);
        request["glossary"] = json!([{"term": long}, 7, {"spellings": [""], "colour": 1, "term": "a"}]);
    });
    let faults = glossary.await.is(422).faults();
    let named: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(named, ["glossary[0].term", "glossary[1]", "glossary[2].colour", "glossary[2].spellings[0]"]);
    with(|request| drop(request.as_object_mut().unwrap().remove("sources"))).await.refused(422, "Required");
    with(|request| request["sources"] = json!([])).await.refused(422, "TooShort");
    let twice =
        with(|request| request["sources"] = json!([request["sources"][0], request["sources"][0]])).await.is(422);
    assert_eq!(twice.faults(), [("sources[1].id".to_owned(), "Repeated".to_owned())]);
    let deep = format!(r#"{{"jobId": "x", "sources": {}{}}}"#, "[".repeat(3_000), "]".repeat(3_000));
    let refused = post(deep).await;
    assert!((400..=422).contains(&refused.status), "{}", refused.text());
    let health = client.get("/internal/health").await.is(200);
    assert_eq!((&health.data()["storedBytes"], &health.data()["queued"]), (&json!(0), &json!(0)));
    assert_eq!(std::fs::read_dir(setup.data.join("pipeline/incoming")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_full_queue_refuses_with_retry_after_and_takes_more_when_there_is_room() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[("COLLOQUY__ANALYSIS__WORKERS", "1"), ("COLLOQUY__PIPELINE__QUEUE", "2")]);
    let client = service.client();
    let ids = [new_id(), new_id(), new_id()];
    client.post("/internal/process-json").json(request_of(&ids[0], &long_text())).await.is(202);
    client.post("/internal/process-json").json(request_of(&ids[1], TEXT)).await.is(202);
    let full =
        client.post("/internal/process-json").json(request_of(&ids[2], TEXT)).await.refused(503, "ServiceUnavailable");
    assert_eq!(full.header("retry-after"), Some("5"));
    client.get(format!("/internal/jobs/{}", ids[2])).await.refused(404, "NotFound");
    client.post("/internal/process-json").json(request_of(&ids[1], TEXT)).await.is(202);
    client.post(format!("/internal/jobs/{}/cancel", ids[0])).await.is(200);
    client.post("/internal/process-json").json(request_of(&ids[2], TEXT)).await.is(202);
    assert_eq!(ended(&client, &ids[2]).await["status"], "COMPLETED");
}

#[tokio::test]
async fn finished_jobs_are_kept_for_their_time_their_number_and_their_bytes() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[("COLLOQUY__PIPELINE__KEPT", "2")]);
    let client = service.client();
    let ids = [new_id(), new_id(), new_id()];
    for id in &ids {
        client.post("/internal/process-json").json(request_of(id, TEXT)).await.is(202);
        ended(&client, id).await;
    }
    gone(&client, &ids[0]).await;
    once(&client, &ids[1], |job| job["status"] == "COMPLETED").await;
    assert!(service.stop());

    let service = setup.start(&[("COLLOQUY__PIPELINE__KEEP_SECONDS", "1")]);
    let client = service.client();
    gone(&client, &ids[1]).await;
    gone(&client, &ids[2]).await;
    assert_eq!(std::fs::read_dir(setup.data.join("pipeline/jobs")).unwrap().count(), 0);
    assert!(service.stop());

    // Room for one job and its result, and not for two.
    let extra = [("COLLOQUY__PIPELINE__STORE_BYTES", "30000"), ("COLLOQUY__PIPELINE__JOB_BYTES", "20000")];
    let service = setup.start(&extra);
    let client = service.client();
    let (first, second) = (new_id(), new_id());
    let text = format!("{TEXT}{}", "x ".repeat(8_000));
    client.post("/internal/process-json").json(request_of(&first, &text)).await.is(202);
    ended(&client, &first).await;
    for _ in 0..4 {
        let id = new_id();
        client.post("/internal/process-json").json(request_of(&id, TEXT)).served().await.is(202);
        ended(&client, &id).await;
    }
    client.post("/internal/process-json").json(request_of(&second, &text)).served().await.is(202);
    ended(&client, &second).await;
    gone(&client, &first).await;
}

/// Waits until there is no such job.
async fn gone(client: &crate::support::Client, id: &str) {
    let began = Instant::now();
    while client.get(format!("/internal/jobs/{id}")).await.status != 404 {
        assert!(began.elapsed() < PATIENCE, "{id} is kept");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
