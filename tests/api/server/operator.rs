//! What an operator sees: health checks, metrics, the internal address, the log.

use serde_json::json;

use crate::support::{ServerSetup, World, shape};

on_both! {
    async fn health_checks_report_live_and_ready(world: World) {
        let live = world.nobody.get("/health/live").await.is(200);
        assert_eq!(live.data(), &json!({"service": "colloquy", "version": env!("CARGO_PKG_VERSION")}));
        assert_eq!(world.nobody.get("/health/ready").await.is(200).data(), &json!({"database": true}));
    }

    async fn metrics_are_on_the_internal_address_only(world: World) {
        world.nobody.get("/metrics").await.refused(404, "NotFound");
        let ada = world.user().await;
        ada.client.patch(format!("/api/meetings/{}", ada.id)).json(json!({"title": "x"})).await.is(404);
        let figures = world.server.operator().get("/metrics").await.is(200);
        assert!(figures.header("content-type").unwrap().starts_with("text/plain"));
        let text = figures.text();
        let counted = r#"colloquy_requests_total{method="PATCH",route="/api/meetings/{meetingId}",status="404"}"#;
        assert!(text.contains(counted), "{text}");
        assert!(text.contains("colloquy_request_seconds") && text.contains("colloquy_jobs_failed 0"), "{text}");
        assert!(!text.contains(&ada.id), "an id is no label");
        for path in ["/api/projects", "/health/live", "/api/openapi.json"] {
            world.server.operator().get(path).await.refused(404, "NotFound");
        }
    }

    async fn the_log_is_json_with_the_request_id_and_without_secrets(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LOG__FILTER", "info")]);
        let ada = server.user().await;
        ada.client.get("/api/projects?search=secret-words").header("x-request-id", "look-for-me").await.is(200);
        let said = server.read_log();
        let line = said.lines().find(|line| line.contains("look-for-me")).expect("a line of the request");
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((&line["level"], &line["route"], &line["status"]), (&json!("INFO"), &json!("/api/projects"), &json!(200)));
        assert!(shape::keys(&line).contains(&"timestamp"));
        for line in said.lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        }
        for secret in [ada.client.token(), &ada.refresh_token, crate::support::builders::PASSWORD, "secret-words"] {
            assert!(!said.contains(secret), "the log has {secret}");
        }
    }
}
