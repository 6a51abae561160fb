//! Idempotency-Key: one effect and one response for 24 hours.

use futures_util::future::join_all;
use serde_json::json;

use crate::support::{ServerSetup, World};

on_both! {
    async fn of_a_hundred_equal_requests_with_one_key_one_has_an_effect(world: World) {
        let ada = world.user().await;
        let body = json!({"name": "Once"});
        let post = || ada.client.apart().post("/api/projects").key("a-key").json(body.clone());
        let answers = join_all((0..100).map(|_| post().served())).await;
        let mut made = answers.iter().filter(|answer| answer.status == 201);
        let first = made.next().expect("one of them made it");
        assert!(made.all(|answer| answer.body == first.body && answer.etag() == first.etag()));
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            answer.clone().refused(409, "RequestInProgress");
        }
        let again = post().await.is(201);
        assert_eq!((again.bytes, again.headers.get("etag")), (first.bytes.clone(), first.headers.get("etag")));
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], 1);
    }

    async fn a_key_with_another_body_is_422_and_has_no_effect(world: World) {
        let ada = world.user().await;
        ada.client.post("/api/projects").key("k").json(json!({"name": "One"})).await.is(201);
        let other = ada.client.post("/api/projects").key("k").json(json!({"name": "Two"})).await;
        other.refused(422, "IdempotencyKeyReused");
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], 1);
    }

    async fn a_key_is_its_accounts_and_paths_own(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let hers = ada.client.post("/api/projects").key("k").json(json!({"name": "P"})).await.is(201);
        let his = ben.client.post("/api/projects").key("k").json(json!({"name": "P"})).await.is(201);
        assert_ne!(hers.text_of("id"), his.text_of("id"));
        assert_eq!(his.data()["ownerId"], ben.id);
        let body = json!({"title": "M", "scheduledAt": "2026-03-02T09:00:00Z"});
        let meetings = format!("/api/projects/{}/meetings", hers.text_of("id"));
        let meeting = ada.client.post(&meetings).key("k").json(body.clone()).await.is(201);
        let again = ada.client.post(meetings.replace("/api/projects", "/API/Projects") + "/").key("k");
        assert_eq!(again.json(body).await.is(201).data(), meeting.data());
    }

    async fn an_error_response_is_stored_under_its_key_too(world: World) {
        let ada = world.user().await;
        let bad = json!({"name": ""});
        let first = ada.client.post("/api/projects").key("bad").json(bad.clone()).await.refused(422, "TooShort");
        let again = ada.client.post("/api/projects").key("bad").json(bad).await.refused(422, "TooShort");
        assert_eq!(first.bytes, again.bytes);
    }

    async fn a_malformed_idempotency_key_is_422(world: World) {
        let ada = world.user().await;
        for key in ["", "with\u{e9}", &"x".repeat(256)] {
            let post = ada.client.post("/api/projects").header("idempotency-key", key).json(json!({"name": "P"}));
            post.await.refused(422, "InvalidValue");
        }
        let longest = "x".repeat(255);
        ada.client.post("/api/projects").key(&longest).json(json!({"name": "P"})).await.is(201);
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], 1);
    }

    async fn who_lacks_the_permission_does_not_get_the_stored_response(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let started = ada.client.post(format!("{meeting}/start")).key("s").await.is(200);
        assert_eq!(ada.client.post(format!("{meeting}/start")).key("s").await.is(200).bytes, started.bytes);
        world.user().await.client.post(format!("{meeting}/start")).key("s").await.refused(403, "Forbidden");
        world.nobody.post(format!("{meeting}/start")).key("s").await.refused(401, "Unauthorized");
    }

    async fn a_key_outlives_the_server(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let body = json!({"name": "Once"});
        let made = ada.client.post("/api/projects").key("k").json(body.clone()).await.is(201);
        server.kill();
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        let again = ada.client.post("/api/projects").key("k").json(body).await.is(201);
        assert_eq!((again.bytes.clone(), again.etag()), (made.bytes.clone(), made.etag()));
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], 1);
        let other = ada.client.post("/api/projects").key("k").json(json!({"name": "Other"})).await;
        other.refused(422, "IdempotencyKeyReused");
    }
}
