//! The operator's page in the console; the scene is in tests/fakes/scenes/operator.mjs.

use std::time::{Duration, Instant};

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::ServerSetup;

const NOTE: &[u8] = b"The system must confirm every booking within five seconds.\n";

on_sqlite! {
    async fn an_operator_sees_the_installation_and_tries_failed_jobs_again(setup: ServerSetup) {
        let Some(browser) = Browser::start() else { return };
        let server = setup.start(&[]);
        let (ada, ben) = (server.user().await, server.user().await);
        server.set_operator(&ada, true).await;
        let project = ben.project().await;
        ben.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Clinic portal"})).await.is(200);
        ben.read(&project, "note.md", NOTE).await;
        let (run, _) = ben.run(&project).await;
        assert_eq!(ben.over(&run).await["status"], "COMPLETED");
        server.enqueue("make-export", json!({"broken": true})).await;
        let deadline = Instant::now() + Duration::from_secs(20);
        while ada.client.get("/api/operator/jobs").await.is(200).data()["totalCount"] != 1 {
            assert!(Instant::now() < deadline, "the job did not fail for good");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let scene = json!({
            "scene": "operator", "page": server.client().base(), "account": account(&ada), "other": account(&ben),
            "project": "Clinic portal",
        });
        browser.plays(scene).await;
    }
}
