//! Tests of jobs: what is the same job, and what is not possible in its state.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{TEXT, ended, new_id, once, request_of};
use crate::analysis::long_text;
use crate::analysis::process::{analysts, has_ended};
use crate::support::pipeline_service::PipelineSetup;

#[tokio::test]
async fn a_job_goes_from_queued_to_its_result() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let id = new_id();
    let job = client.post("/internal/process-json").json(request_of(&id, TEXT)).await.is(202).data().clone();
    assert_eq!((&job["jobId"], &job["errorMessage"]), (&json!(id), &Value::Null));
    let job = ended(&client, &id).await;
    assert_eq!(
        (&job["status"], &job["progress"], &job["currentNode"]),
        (&json!("COMPLETED"), &json!(100), &json!("done"))
    );
    assert_eq!((&job["attempt"], &job["message"]), (&json!(1), &json!("Analysis completed")));
    let answer = client.get(format!("/internal/jobs/{id}/result")).await.is(200);
    let result = answer.data();
    assert_eq!((&result["jobId"], &result["status"]), (&json!(id), &json!("COMPLETED")));
    let requirements = result["requirements"].as_array().unwrap();
    assert_eq!(requirements.len(), 2, "{result}");
    let cited = &requirements[0]["sources"][0];
    assert_eq!((&cited["sourceId"], &cited["startOffset"]), (&json!("a"), &json!(0)));
    assert_eq!(result["userStories"].as_array().unwrap().len(), 1);
    let health = client.get("/internal/health").await.is(200);
    assert_eq!((&health.data()["finished"], &health.data()["queued"]), (&json!(1), &json!(0)));
    assert!(health.data()["storedBytes"].as_u64().unwrap() > 100);
}

#[tokio::test]
async fn twenty_equal_requests_at_once_are_one_job_and_another_one_with_its_id_is_refused() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let id = new_id();
    let all =
        join_all((0..20).map(|_| client.post("/internal/process-json").json(request_of(&id, TEXT)).served())).await;
    for answer in all {
        assert_eq!(answer.is(202).data()["jobId"], json!(id));
    }
    let job = ended(&client, &id).await;
    assert_eq!(job["attempt"], 1);
    // Written in another way, it is the same request.
    let same = format!(
        r#"{{ "sources": [{{"name": "a.txt", "text": {}, "id": "a", "kind": "document"}}], "language": "en", "analysisType": "full", "jobId": "{id}" }}"#,
        json!(TEXT)
    );
    let again = client.post("/internal/process-json").body("application/json", same).await.is(202);
    assert_eq!(again.data(), &job, "the same job, as it is now");
    // A server that sends a run again may know more terms by then.
    let mut termed = request_of(&id, TEXT);
    termed["glossary"] = json!([{"term": "visit", "definition": null, "spellings": ["appointment"]}]);
    assert_eq!(client.post("/internal/process-json").json(termed).await.is(202).data(), &job);
    let mut others = [request_of(&id, "Another text."), request_of(&id, TEXT), request_of(&id, TEXT)];
    others[1]["analysisType"] = json!("REQUIREMENTS");
    others[2]["sources"][0]["name"] = json!("b.txt");
    for other in others {
        client.post("/internal/process-json").json(other).await.refused(409, "Conflict");
    }
    assert_eq!(client.get(format!("/internal/jobs/{id}")).await.is(200).data(), &job);
}

#[tokio::test]
async fn what_is_not_possible_in_a_state_is_said() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[("COLLOQUY__ANALYSIS__WORKERS", "1")]);
    let client = service.client();
    let unknown = new_id();
    client.get(format!("/internal/jobs/{unknown}")).await.refused(404, "NotFound");
    client.get(format!("/internal/jobs/{unknown}/result")).await.refused(404, "NotFound");
    client.post(format!("/internal/jobs/{unknown}/cancel")).await.refused(404, "NotFound");
    client.get("/internal/jobs/no-uuid").await.refused(400, "BadRequest");

    let (running, waiting) = (new_id(), new_id());
    client.post("/internal/process-json").json(request_of(&running, &long_text())).await.is(202);
    client.post("/internal/process-json").json(request_of(&waiting, TEXT)).await.is(202);
    once(&client, &running, |job| job["status"] == "PROCESSING" && job["progress"].as_u64() > Some(5)).await;
    client.get(format!("/internal/jobs/{running}/result")).await.refused(409, "InvalidState");
    assert_eq!(client.get(format!("/internal/jobs/{waiting}")).await.is(200).data()["status"], "QUEUED");
    let child = analysts(service.pid())[0];
    // Of twenty cancellations each says the same.
    let all = join_all((0..20).map(|_| client.post(format!("/internal/jobs/{running}/cancel")).served())).await;
    for answer in all {
        assert_eq!(answer.is(200).data()["status"], "CANCELLED");
    }
    assert!(has_ended(child).await, "its process is killed");
    client.get(format!("/internal/jobs/{running}/result")).await.refused(409, "InvalidState");
    assert_eq!(ended(&client, &waiting).await["status"], "COMPLETED", "its turn came");
    client.post(format!("/internal/jobs/{waiting}/cancel")).await.refused(409, "InvalidState");
    let again = client.post("/internal/process-json").json(request_of(&running, &long_text())).await.is(202);
    assert_eq!(again.data()["status"], "CANCELLED", "a request that was cancelled is not begun again");
}

#[tokio::test]
async fn sources_without_anything_to_analyse_are_rejected_and_a_job_that_needs_too_much_fails() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[]);
    let client = service.client();
    let mut empty = request_of(&new_id(), TEXT);
    empty["sources"] = json!([
        {"id": "a", "kind": "DOCUMENT", "name": "a.pdf", "unreadable": {"code": "Torn", "message": "It is torn."}},
        {"id": "b", "kind": "RECORDING", "name": "Talk", "segments": []},
    ]);
    let id = empty["jobId"].as_str().unwrap().to_owned();
    client.post("/internal/process-json").json(empty).await.is(202);
    let job = ended(&client, &id).await;
    assert_eq!(job["status"], "REJECTED");
    assert!(!job["errorMessage"].as_str().unwrap().is_empty());
    let result = client.get(format!("/internal/jobs/{id}/result")).await.is(200);
    assert_eq!((&result.data()["status"], &result.data()["requirements"]), (&json!("REJECTED"), &json!([])));
    assert_eq!(result.data()["warnings"][0]["code"], "Torn");

    assert!(service.stop());
    let service = setup.start(&[("COLLOQUY__ANALYSIS__RUN_MEMORY_MIB", "104")]);
    let client = service.client();
    let large = new_id();
    client.post("/internal/process-json").json(request_of(&large, &long_text())).await.is(202);
    let job = ended(&client, &large).await;
    assert_eq!(job["status"], "FAILED");
    assert!(job["errorMessage"].as_str().unwrap().contains("Analyse fewer or smaller documents"), "{job}");
    let result = client.get(format!("/internal/jobs/{large}/result")).await.is(200);
    assert_eq!((&result.data()["status"], &result.data()["requirements"]), (&json!("FAILED"), &json!([])));
}
