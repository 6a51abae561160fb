//! Responses are compressed as the client accepts it, and never one with a secret.

use serde_json::json;

use crate::reviews::stakeholders::{analysed, invitations};
use crate::support::World;
use crate::support::builders::fresh_email;

on_both! {
    async fn what_is_read_is_compressed_and_is_the_same(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let items = format!("/api/projects/{project}/requirements");
        for path in [format!("/api/projects/{project}/ai/results-dashboard"), items, "/api/openapi.json".to_owned()] {
            let plain = ada.client.get(&path).await.is(200);
            assert_eq!(plain.header("content-encoding"), None, "{path}");
            assert_eq!(plain.header("vary"), Some("accept-encoding"), "{path}");
            for (accepted, encoding) in [("gzip, deflate, br, zstd", "zstd"), ("gzip", "gzip"), ("br;q=1, gzip;q=0.1", "gzip")] {
                let packed = ada.client.get(&path).header("accept-encoding", accepted).await.is(200);
                assert_eq!(packed.header("content-encoding"), Some(encoding), "{path}");
                assert!(packed.bytes.len() * 2 < plain.bytes.len(), "{path}: {} of {}", packed.bytes.len(), plain.bytes.len());
                assert_eq!(packed.unpacked(), plain.bytes, "{path}");
                assert_eq!(packed.headers.get("etag"), plain.headers.get("etag"), "{path}");
            }
        }
        let path = format!("/api/projects/{project}/ai/results-dashboard");
        let etag = ada.client.get(&path).header("accept-encoding", "gzip").await.is(200).etag();
        ada.client.get(&path).header("accept-encoding", "gzip").header("if-none-match", etag).await.is(304);
    }

    async fn secrets_files_and_errors_are_sent_as_they_are(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let text = "The system must ring. ".repeat(200);
        let (path, _) = ada.read(&project, "note.md", text.as_bytes()).await;
        let file = ada.client.get(format!("{path}/content"));
        let file = file.header("accept-encoding", "gzip").await.is(200);
        assert_eq!((file.header("content-encoding"), file.bytes.as_slice()), (None, text.as_bytes()));
        // Ten links in one answer.
        let invitees: Vec<_> = (0..10).map(|_| json!({"email": fresh_email()})).collect();
        let body = json!({"invitees": invitees, "permission": "VIEWER"});
        let invited = ada.client.post(invitations(&project)).json(body).header("accept-encoding", "gzip, zstd").await.is(201);
        assert!(invited.bytes.len() > 4096 && invited.text().contains("#token="), "{}", invited.text());
        assert_eq!(invited.header("content-encoding"), None);
    }
}
