//! LiveKit's own SDK as the reference: it accepts Colloquy's tokens and refuses forged ones, Colloquy accepts what it
//! signs, and it gets the same responses from the fake of the other tests as from LiveKit.

use std::time::Duration;

use livekit_api::access_token::{AccessToken, VideoGrants};
use serde_json::{Value, json};

use super::Stage;
use crate::support::client::plain_http;
use crate::support::livekit::{Event, KEY, SECRET};
use crate::support::node_program::NodeProgram;
use crate::support::{Role, ServerSetup};

struct Sdk(NodeProgram);

impl Sdk {
    fn start() -> Option<Self> {
        NodeProgram::start("livekit", &[("KEY", KEY), ("SECRET", SECRET)]).map(Self)
    }

    async fn call(&self, path: &str, body: Value) -> Value {
        let url = format!("http://127.0.0.1:{}{path}", self.0.port("window"));
        let call = plain_http().build().unwrap().post(url).json(&body);
        call.send().await.unwrap().json().await.unwrap()
    }
}

/// Returns the token with a changed payload and its original signature.
fn forged(token: &str, change: impl Fn(&mut Value)) -> String {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let parts: Vec<&str> = token.split('.').collect();
    let mut claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    change(&mut claims);
    format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(claims.to_string()), parts[2])
}

on_sqlite! {
    async fn livekits_own_sdk_accepts_our_tokens_and_refuses_forged_or_expired_ones(setup: ServerSetup) {
        let Some(sdk) = Sdk::start() else { return };
        let stage = Stage::open(&setup, &[]).await;
        let eve = stage.room.member(&stage.server, Role::Stakeholder).await;
        let own = stage.room.joined(&eve).await;
        let token = stage.credentials(&eve).await.is(200).text_of("token");
        let verified = sdk.call("/verify", json!({"token": token})).await;
        let claims = &verified["claims"];
        assert_eq!((&claims["sub"], &claims["name"], &claims["iss"]), (&json!(own), &json!("Ada Lovelace"), &json!(KEY)));
        assert_eq!(
            claims["video"],
            json!({
                "roomJoin": true, "room": stage.name(), "canPublish": true, "canSubscribe": true, "canPublishData": true,
                "canPublishSources": ["camera", "microphone", "screen_share", "screen_share_audio"],
                "canUpdateOwnMetadata": false,
            })
        );
        let in_an_hour = json!({"token": token, "inSeconds": 3600});
        assert!(sdk.call("/verify", in_an_hour).await["error"].is_string(), "an expired token was taken");
        for forged in [
            forged(&token, |claims| claims["video"]["roomRecord"] = json!(true)),
            forged(&token, |claims| claims["video"]["room"] = json!("another")),
            forged(&token, |claims| claims["exp"] = json!(claims["exp"].as_i64().unwrap() + 3600)),
            forged(&token, |claims| claims["sub"] = json!("somebody else")),
        ] {
            assert!(sdk.call("/verify", json!({"token": forged})).await["error"].is_string(), "{forged}");
        }
    }

    async fn a_webhook_signed_by_livekits_own_sdk_is_accepted_and_no_other_body(setup: ServerSetup) {
        let Some(sdk) = Sdk::start() else { return };
        let stage = Stage::open(&setup, &[]).await;
        let eve = stage.room.member(&stage.server, Role::Stakeholder).await;
        let own = stage.entered(&eve).await;
        let connection = stage.media.comes(stage.name(), &own);
        let body = Event::about("participant_joined", stage.name(), &connection).0.to_string();
        let signed = sdk.call("/sign", json!({"body": body})).await;
        // The SDK's own receiver accepts it.
        assert_eq!(signed["received"]["event"], "participant_joined", "{signed}");
        let call = |body: String| {
            let call = stage.caller().post("/api/webhooks/livekit");
            let call = call.header("authorization", signed["authorization"].as_str().unwrap());
            call.body("application/webhook+json", body)
        };
        call(body.replace(&own, "somebody-else")).await.refused(401, "Unauthorized");
        assert_eq!(stage.room.person(&own).await["connected"], false);
        call(body).await.is(200);
        assert_eq!(stage.room.person(&own).await["connected"], true);
    }
}

#[test]
fn the_fake_media_server_works_with_livekits_own_sdk() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(sdk) = Sdk::start() else { return };
        let media = crate::support::livekit::LiveKit::start();
        let host = media.url().replace("ws://", "http://");
        let done = sdk.call("/rooms", json!({"host": host, "room": "r", "identity": "i"})).await;
        assert_eq!(
            done,
            json!({"made": "r", "listed": ["r"], "people": [], "permitted": "not_found", "removed": "not_found",
                "deleted": true})
        );
        let methods =
            ["CreateRoom", "ListRooms", "ListParticipants", "UpdateParticipant", "RemoveParticipant", "DeleteRoom"];
        assert!(methods.iter().all(|method| media.calls(method).len() == 1));
        // The names of sources are those of Colloquy's own call.
        let permission = &media.calls("UpdateParticipant")[0].body["permission"];
        assert_eq!(permission["canPublishSources"], json!(["CAMERA", "SCREEN_SHARE_AUDIO"]));
    });
}

#[test]
fn the_fake_media_server_refuses_what_livekit_refuses() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let media = crate::support::livekit::LiveKit::start();
        let service = format!("{}/twirp/livekit.RoomService", media.url().replace("ws://", "http://"));
        let client = plain_http().build().unwrap();
        let answer = async |method: &str, token: &str, content_type: &str| {
            let call =
                client.post(format!("{service}/{method}")).bearer_auth(token).header("content-type", content_type);
            let body = json!({"room": "r", "name": "r", "identity": "i", "names": ["r"]}).to_string();
            call.body(body).send().await.unwrap().status().as_u16()
        };
        let may = |secret: &str, grants: VideoGrants| {
            AccessToken::with_api_key(KEY, secret)
                .with_ttl(Duration::from_secs(60))
                .with_identity("i")
                .with_grants(grants)
                .to_jwt()
                .unwrap()
        };
        let create = VideoGrants { room_create: true, ..VideoGrants::default() };
        let list = VideoGrants { room_list: true, ..VideoGrants::default() };
        let admin = |room: &str| VideoGrants { room_admin: true, room: room.to_owned(), ..VideoGrants::default() };
        let join = VideoGrants { room_join: true, room: "r".to_owned(), ..VideoGrants::default() };
        const JSON: &str = "application/json";
        assert_eq!(answer("CreateRoom", "", JSON).await, 401);
        assert_eq!(
            answer("CreateRoom", &may("another-secret-that-has-32-characters", create.clone()), JSON).await,
            401
        );
        for grants in [list.clone(), admin("r"), join.clone(), VideoGrants::default()] {
            assert_eq!(answer("CreateRoom", &may(SECRET, grants.clone()), JSON).await, 403);
            assert_eq!(answer("DeleteRoom", &may(SECRET, grants), JSON).await, 403);
        }
        for grants in [create.clone(), admin("r"), join.clone()] {
            assert_eq!(answer("ListRooms", &may(SECRET, grants), JSON).await, 403);
        }
        for method in ["ListParticipants", "UpdateParticipant", "RemoveParticipant"] {
            for grants in [create.clone(), list.clone(), join.clone(), admin("another")] {
                assert_eq!(answer(method, &may(SECRET, grants), JSON).await, 403, "{method}");
            }
        }
        assert_eq!(answer("CreateRoom", &may(SECRET, create.clone()), "text/plain").await, 404);
        assert_eq!(answer("DeleteRoom", &may(SECRET, create.clone()), JSON).await, 404);
        assert_eq!(answer("CreateRoom", &may(SECRET, create), JSON).await, 200);
        assert_eq!(answer("RemoveParticipant", &may(SECRET, admin("r")), JSON).await, 404);
        assert_eq!(answer("ListRooms", &may(SECRET, list), JSON).await, 200);
    });
}
