//! Responses are compressed as the client accepts it, and never one with a secret.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::json;

use crate::reviews::stakeholders::analysed;
use crate::support::builders::PASSWORD;
use crate::support::{Answer, World};

fn unpacked(answer: &Answer) -> Vec<u8> {
    let mut bytes = Vec::new();
    match answer.header("content-encoding") {
        Some("gzip") => drop(GzDecoder::new(answer.bytes.as_slice()).read_to_end(&mut bytes).unwrap()),
        Some("zstd") => bytes = zstd::decode_all(answer.bytes.as_slice()).unwrap(),
        other => panic!("{other:?}"),
    }
    bytes
}

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
                assert_eq!(unpacked(&packed), plain.bytes, "{path}");
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
        let login = world.nobody.post("/api/auth/login").json(json!({"email": ada.email, "password": PASSWORD}));
        let login = login.header("accept-encoding", "gzip, zstd").await.is(200);
        assert_eq!(login.header("content-encoding"), None);
        let missing = ada.client.get("/api/nowhere").header("accept-encoding", "gzip").await.is(404);
        assert_eq!(missing.header("content-encoding"), None);
    }
}
