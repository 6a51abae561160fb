//! The list of a user's sessions, and revoking one from another.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::builders::PASSWORD;
use crate::support::{Client, ServerSetup, Socket, World, shape};

async fn login(client: &Client, email: &str, device: &str) -> Value {
    let body = json!({"email": email, "password": PASSWORD});
    client.post("/api/auth/login").header("user-agent", device).json(body).await.is(200).data().clone()
}

async fn sessions(client: &Client) -> Vec<Value> {
    client.get("/api/auth/sessions").await.is(200).data()["items"].as_array().unwrap().clone()
}

on_both! {
    async fn a_user_sees_their_own_sessions_newest_first(world: World) {
        let (ada, other) = (world.user().await, world.user().await);
        let phone = login(&world.nobody, &ada.email, "A phone").await;
        let on_phone = world.nobody.bearing(phone["accessToken"].as_str().unwrap());
        let answer = on_phone.get("/api/auth/sessions").await.is(200);
        assert_eq!((&answer.data()["totalCount"], &answer.data()["nextCursor"]), (&json!(2), &Value::Null));
        let listed = sessions(&on_phone).await;
        assert_eq!(shape::keys(&listed[0]), ["createdAt", "current", "device", "id", "lastUsedAt"]);
        assert_eq!((&listed[0]["device"], &listed[0]["current"], &listed[1]["current"]), (&json!("A phone"), &json!(true), &json!(false)));
        shape::id(&listed[0]["id"]);
        assert_eq!(listed[0]["lastUsedAt"], listed[0]["createdAt"]);
        assert_eq!(sessions(&other.client).await.len(), 1);

        // A refresh counts as a use.
        let refresh = json!({"refreshToken": phone["refreshToken"]});
        world.nobody.post("/api/auth/refresh-token").json(refresh).await.is(200);
        let used = &sessions(&on_phone).await[0];
        assert!(shape::time(&used["lastUsedAt"]) > shape::time(&used["createdAt"]));

        let page = ada.client.get("/api/auth/sessions?limit=1").await.is(200);
        assert_eq!(page.data()["items"][0]["id"], listed[0]["id"]);
        let cursor = page.text_of("nextCursor");
        let rest = ada.client.get(format!("/api/auth/sessions?limit=1&cursor={cursor}")).await.is(200);
        assert_eq!((&rest.data()["items"][0]["id"], &rest.data()["nextCursor"]), (&listed[1]["id"], &Value::Null));
    }

    async fn a_session_that_is_revoked_ends_with_its_sockets_within_a_second(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let phone = login(&world.nobody, &ada.email, "A phone").await;
        let on_phone = world.nobody.bearing(phone["accessToken"].as_str().unwrap());
        let mut socket = Socket::open(&on_phone).await;
        socket.subscribe(&format!("project:{project}")).await;
        let id = sessions(&ada.client).await[0]["id"].as_str().unwrap().to_owned();
        let path = format!("/api/auth/sessions/{id}");
        assert_eq!(ada.client.delete(&path).await.is(200).data(), &json!({}));
        let ended = Instant::now();
        assert_eq!(socket.closed().await.0, Some(1008));
        assert!(ended.elapsed() < Duration::from_secs(1), "{:?}", ended.elapsed());
        on_phone.get("/api/projects").await.refused(401, "Unauthorized");
        let refresh = json!({"refreshToken": phone["refreshToken"]});
        world.nobody.post("/api/auth/refresh-token").json(refresh).await.refused(401, "InvalidRefreshToken");
        ada.client.delete(&path).await.refused(404, "NotFound");
        assert_eq!(sessions(&ada.client).await.len(), 1);
        // The session of the request can be revoked too.
        let own = sessions(&ada.client).await[0]["id"].as_str().unwrap().to_owned();
        ada.client.delete(format!("/api/auth/sessions/{own}")).await.is(200);
        ada.client.get("/api/projects").await.refused(401, "Unauthorized");
    }

    async fn a_user_cannot_end_another_users_session(world: World) {
        let (ada, eve) = (world.user().await, world.user().await);
        let id = sessions(&ada.client).await[0]["id"].as_str().unwrap().to_owned();
        eve.client.delete(format!("/api/auth/sessions/{id}")).await.refused(403, "Forbidden");
        ada.client.get("/api/projects").await.is(200);
    }

    async fn a_revoked_session_stays_ended_after_a_restart(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let phone = login(&server.client(), &ada.email, "A phone").await;
        let id = sessions(&ada.client).await[0]["id"].as_str().unwrap().to_owned();
        ada.client.delete(format!("/api/auth/sessions/{id}")).await.is(200);
        server.kill();
        let server = setup.start(&[]);
        let on_phone = server.client().bearing(phone["accessToken"].as_str().unwrap());
        on_phone.get("/api/projects").await.refused(401, "Unauthorized");
        assert_eq!(sessions(&ada.at(&server).client).await.len(), 1);
    }
}
