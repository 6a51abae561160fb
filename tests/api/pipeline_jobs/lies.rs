//! Tests of a server whose pipeline service is broken, or somebody else.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pipeline::remote::{JobResult, PipelineResultStatus};
use serde_json::{Value, json};

use super::TEXT;
use crate::support::fake_pipeline::{FakeAnswer, FakeCall, FakePipeline, job};
use crate::support::{Server, ServerSetup, User};

/// Makes a project with one document; starts a run over it and waits for its end. Returns the project and the run.
async fn analysed(server: &Server) -> (User, String, Value) {
    let ada = server.user().await;
    let project = ada.project().await;
    ada.read(&project, "note.txt", TEXT.as_bytes()).await;
    let (path, _) = ada.run(&project).await;
    let run = ada.over(&path).await;
    (ada, project, run)
}

/// Returns a result over the document that `processed` was sent.
fn result_of(processed: &Value) -> Value {
    let id = processed["jobId"].as_str().unwrap();
    let none = JobResult::empty(id.parse().unwrap(), PipelineResultStatus::Completed, Vec::new());
    serde_json::to_value(none).unwrap()
}

fn requirement(key: &str, processed: &Value, quote: &str, start: usize) -> Value {
    json!({
        "key": key, "type": "FUNCTIONAL", "category": null, "title": quote, "statement": quote, "priority": "HIGH",
        "confidence": 0.9, "qualityIssues": [], "duplicateOf": null, "conflictsWith": [],
        "sources": [{
            "kind": "DOCUMENT", "sourceId": processed["sources"][0]["id"], "quote": quote, "page": null, "section": null,
            "startOffset": start, "endOffset": start + quote.chars().count(), "startMs": null, "endMs": null, "speaker": null,
        }],
    })
}

/// Plays a service that takes a job and has finished it at once, with a result as `result` makes it of the request.
fn finished(
    result: impl Fn(&Value) -> FakeAnswer + Send + Sync + 'static,
) -> impl Fn(&FakeCall) -> FakeAnswer + Send + Sync {
    let processed: Mutex<HashMap<String, Value>> = Mutex::default();
    move |call| {
        let mut processed = processed.lock().unwrap();
        if call.is_process() {
            processed.insert(call.job(), call.body.clone());
        }
        match processed.get(&call.job()) {
            None => FakeAnswer::Status(404),
            Some(processed) if call.is_result() => result(processed),
            Some(_) => FakeAnswer::Data(job(&call.job(), "COMPLETED", "done", 100)),
        }
    }
}

const TRUE_QUOTE: &str = "The system must let a patient cancel an appointment.";

on_both! {
    async fn an_item_whose_quote_is_not_in_the_source_is_dropped_and_counted(setup: ServerSetup) {
        let fake = FakePipeline::start(finished(|processed| {
            let mut result = result_of(processed);
            result["requirements"] = json!([
                requirement("a", processed, TRUE_QUOTE, 0),
                requirement("b", processed, "The system must wire all money to me.", 0),
                requirement("c", processed, TRUE_QUOTE, 7),
            ]);
            FakeAnswer::Data(result)
        }));
        let server = setup.start(&fake.settings());
        let (ada, project, run) = analysed(&server).await;
        assert_eq!(run["status"], "COMPLETED", "{run}");
        let warning = &run["warnings"][0];
        assert_eq!(warning["code"], "UngroundedItemsDropped");
        assert!(warning["message"].as_str().unwrap().starts_with("2 items"), "{run}");
        let listed = ada.client.get(format!("/api/projects/{project}/requirements")).await.is(200);
        assert_eq!((&listed.data()["totalCount"], &listed.data()["items"][0]["statement"]), (&json!(1), &json!(TRUE_QUOTE)));
        let dashboard = ada.client.get(format!("/api/projects/{project}/ai/results-dashboard")).await.is(200);
        assert_eq!(dashboard.data()["metrics"]["ungrounded"], 2);
    }
}

on_sqlite! {
    async fn a_result_that_cant_be_stored_fails_the_run_and_leaves_nothing(setup: ServerSetup) {
        let kind = Arc::new(AtomicUsize::new(0));
        let lies: [fn(&mut Value, &Value); 5] = [
            |result, processed| result["requirements"] = json!([requirement("a", processed, "nul\0", 0)]),
            |result, processed| {
                let one = requirement("a", processed, TRUE_QUOTE, 0);
                result["requirements"] = json!([one, one]);
            },
            |result, processed| {
                result["requirements"] = json!([requirement("a", processed, TRUE_QUOTE, 0)]);
                result["requirements"][0]["confidence"] = json!(17);
            },
            |result, _| result["summary"]["text"] = json!("x".repeat(30_000)),
            |result, _| result["jobId"] = json!("0189a0f0-0000-7000-8000-000000000000"),
        ];
        let chosen = Arc::clone(&kind);
        let fake = FakePipeline::start(finished(move |processed| {
            let mut result = result_of(processed);
            lies[chosen.load(Ordering::SeqCst)](&mut result, processed);
            FakeAnswer::Data(result)
        }));
        let server = setup.start(&fake.settings());
        for lie in 0..lies.len() {
            kind.store(lie, Ordering::SeqCst);
            let (ada, project, run) = analysed(&server).await;
            assert_eq!(run["status"], "FAILED", "{lie}: {run}");
            let said = run["errorMessage"].as_str().unwrap();
            assert!(said.contains("is not accepted") || said.contains("given up"), "{lie}: {said}");
            let listed = ada.client.get(format!("/api/projects/{project}/requirements")).await.is(200);
            assert_eq!(listed.data()["totalCount"], 0);
        }
    }

    async fn answers_that_are_none_are_endured_for_a_while_and_then_fail_the_run(setup: ServerSetup) {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let fake = FakePipeline::start(move |_| {
            FakeAnswer::Raw(match counted.fetch_add(1, Ordering::SeqCst) % 4 {
                0 => b"<html>".to_vec(),
                1 => br#"{"data": {"jobId": 7}}"#.to_vec(),
                2 => br#"{"data": null}"#.to_vec(),
                _ => vec![b' '; 100_000],
            })
        });
        let server = setup.start(&fake.settings());
        let (_, _, run) = analysed(&server).await;
        assert_eq!(run["status"], "FAILED", "{run}");
        assert!(run["errorMessage"].as_str().unwrap().contains("answer is invalid"), "{run}");
        assert_eq!(calls.load(Ordering::SeqCst), 5);
    }

    async fn a_result_that_is_too_large_is_not_read_to_its_end(setup: ServerSetup) {
        let fake = FakePipeline::start(finished(|_| FakeAnswer::Raw(vec![b' '; 70 * 1024 * 1024])));
        let server = setup.start(&fake.settings());
        let (_, _, run) = analysed(&server).await;
        assert_eq!(run["status"], "FAILED", "{run}");
        assert!(run["errorMessage"].as_str().unwrap().contains("it is too long"), "{run}");
        assert!(server.memory().peak < 300 * 1024, "{:?}", server.memory());
    }

    async fn what_only_settings_can_mend_fails_the_run_at_once_and_says_what(setup: ServerSetup) {
        let elsewhere = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&elsewhere);
        let other = FakePipeline::start(move |_| {
            seen.fetch_add(1, Ordering::SeqCst);
            FakeAnswer::Status(404)
        });
        let status = Arc::new(AtomicUsize::new(401));
        let (chosen, other_url) = (Arc::clone(&status), other.url.clone());
        let fake = FakePipeline::start(move |call| match chosen.load(Ordering::SeqCst) {
            302 => FakeAnswer::Redirect(format!("{other_url}{}", call.path)),
            422 | 413 if !call.is_process() => FakeAnswer::Status(404),
            status => FakeAnswer::Status(u16::try_from(status).unwrap()),
        });
        let server = setup.start(&fake.settings());
        for (answer, said) in [
            (401, "pipeline.key"),
            (403, "pipeline.key"),
            (302, "pipeline.url"),
            (404, "pipeline.url"),
            (422, "The pipeline service refuses the analysis: 422 The fake refuses."),
            (413, "The pipeline service refuses the analysis: 413"),
        ] {
            status.store(answer, Ordering::SeqCst);
            let (_, _, run) = analysed(&server).await;
            assert_eq!(run["status"], "FAILED", "{answer}: {run}");
            assert!(run["errorMessage"].as_str().unwrap().contains(said), "{answer}: {run}");
        }
        assert_eq!(elsewhere.load(Ordering::SeqCst), 0, "no redirect is followed");
    }

    async fn a_service_that_fails_or_hangs_is_waited_for_and_progress_never_falls(setup: ServerSetup) {
        let script: Mutex<Vec<Value>> = Mutex::new(vec![
            json!(["PROCESSING", "classify_requirements", 55]),
            json!(500),
            json!(["PROCESSING", "extract_requirements", 35]),
            json!("silence"),
            json!(["QUEUED", "queued", 0]),
            json!(503),
            json!(["PROCESSING", "summarize", 93]),
            json!(["PROCESSING", "prepare_sources", 200]),
        ]);
        script.lock().unwrap().reverse();
        let processed: Mutex<Option<Value>> = Mutex::default();
        let fake = FakePipeline::start(move |call| {
            let mut processed = processed.lock().unwrap();
            if call.is_process() {
                *processed = Some(call.body.clone());
                return FakeAnswer::Data(job(&call.job(), "QUEUED", "queued", 0));
            }
            let Some(sent) = &*processed else { return FakeAnswer::Status(404) };
            if call.is_result() {
                let mut result = result_of(sent);
                result["requirements"] = json!([requirement("a", sent, TRUE_QUOTE, 0)]);
                return FakeAnswer::Data(result);
            }
            match script.lock().unwrap().pop() {
                None => FakeAnswer::Data(job(&call.job(), "COMPLETED", "done", 100)),
                Some(Value::String(_)) => FakeAnswer::Silence,
                Some(Value::Number(status)) => FakeAnswer::Status(u16::try_from(status.as_u64().unwrap()).unwrap()),
                Some(next) => {
                    let progress = u8::try_from(next[2].as_u64().unwrap()).unwrap();
                    FakeAnswer::Data(job(&call.job(), next[0].as_str().unwrap(), next[1].as_str().unwrap(), progress))
                }
            }
        });
        let server = setup.start(&fake.settings());
        let (_, _, run) = analysed(&server).await;
        assert_eq!(run["status"], "COMPLETED", "{run}");
        let records = server.events_of_run(run["id"].as_str().unwrap()).await;
        let told: Vec<(u64, &str)> = records
            .iter()
            .map(|(_, _, run)| (run["progress"].as_u64().unwrap(), run["message"].as_str().unwrap()))
            .collect();
        assert!(told.is_sorted_by_key(|(progress, _)| progress), "{told:?}");
        assert!(told.iter().any(|(progress, _)| *progress == 55) && told.iter().any(|(progress, _)| *progress >= 93), "{told:?}");
        assert!(told.iter().any(|(_, message)| message.contains("can't be reached")), "{told:?}");
        assert!(told[..told.len() - 1].iter().all(|(progress, _)| *progress < 100), "{told:?}");
    }
}
