//! Tests of who may call the pipeline service.

use colloquy::routes;
use serde_json::json;

use super::{TEXT, new_id, request_of};
use crate::support::ServerSetup;
use crate::support::pipeline_service::{KEY, PipelineSetup};

#[tokio::test]
async fn without_the_service_key_nothing_is_done_or_told() {
    let setup = PipelineSetup::new();
    let service = setup.start(&[("COLLOQUY__LOG__FILTER", "trace")]);
    let other = "a-service-key-of-the-stories-012345678X";
    for operation in routes::pipeline() {
        let path = operation.path.replace("{jobId}", &new_id());
        let call = |key: Option<&str>| {
            let request = service.nobody().request(operation.method.as_str().parse().unwrap(), &path);
            let request = request.json(json!({"unread": true}));
            match key {
                Some(key) => request.header("authorization", key),
                None => request,
            }
        };
        call(None).await.refused(401, "Unauthorized");
        for wrong in [format!("Bearer {other}"), "Bearer ".to_owned(), KEY.to_owned(), format!("Basic {KEY}")] {
            call(Some(&wrong)).await.refused(401, "Unauthorized");
        }
        call(None).also("authorization", &format!("Bearer {KEY}")).also("authorization", "Bearer x").await.is(401);
        let known = call(Some(&format!("bearer {KEY}"))).await;
        assert_ne!(known.status, 401, "{}", known.text());
    }
    let metrics = reqwest::get(format!("{}/metrics", setup.url)).await.unwrap().text().await.unwrap();
    assert!(metrics.contains("colloquy_pipeline_jobs_queued 0"), "{metrics}");
    for probe in ["live", "ready"] {
        assert_eq!(reqwest::get(format!("{}/health/{probe}", setup.url)).await.unwrap().status(), 204);
    }
    let log = service.read_log();
    assert!(!log.contains(KEY) && !log.contains(other), "a key is in the log");
    assert!(!metrics.contains(KEY));
}

#[tokio::test]
async fn it_does_not_start_without_a_key_or_beside_another_one() {
    let setup = PipelineSetup::new();
    let said = setup.refused(&[("COLLOQUY__PIPELINE__KEY", "")]);
    assert!(said.contains("does not start without a service key"), "{said}");
    let said = setup.refused(&[("COLLOQUY__PIPELINE__KEY", "short")]);
    assert!(said.contains("pipeline.key: this must have at least 32") && !said.contains("short"), "{said}");
    let service = setup.start(&[]);
    let said = setup.refused(&[]);
    assert!(said.contains("another pipeline service uses"), "{said}");
    assert!(service.stop(), "it stops in order");
}

on_sqlite! {
    async fn the_server_has_none_of_its_operations_at_either_address(setup: ServerSetup) {
        let server = setup.start(&[]);
        for client in [server.client(), server.operator()] {
            client.bearing(KEY).get("/internal/health").await.is(404);
            client.bearing(KEY).post("/internal/process-json").json(request_of(&new_id(), TEXT)).await.is(404);
        }
    }
}
