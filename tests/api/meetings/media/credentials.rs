//! TestMeeting credentials: who gets a token for a media room, with which identity and grants, and for how long.

use serde_json::{Value, json};

use super::{Stage, claims, credentials, name_of, publishing};
use crate::meetings::participants::TestMeeting;
use crate::support::dump::dump;
use crate::support::livekit::{LiveKit, SECRET, now_ms};
use crate::support::{Role, ServerSetup, World};

on_both! {
    async fn a_joined_participant_gets_a_room_token_of_their_own_for_minutes(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[("COLLOQUY__LOG__FILTER", "trace")]).await;
        let eve = stage.room.member(&stage.server, Role::Stakeholder).await;
        let join = eve.client.post(format!("{}/join", stage.room.path)).json(json!({"displayName": "Éve"}));
        let place_of_eve = join.await.is(200).text_of("id");
        let asked = eve.client.post(format!("{}/room-credentials", stage.room.path)).header("x-request-id", "of-eve");
        let issued = asked.await.is(200);
        let data = issued.data();
        let mut keys: Vec<&str> = data.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["expiresAt", "grants", "identity", "role", "roomName", "serverUrl", "token"]);
        assert_eq!((&data["serverUrl"], &data["roomName"]), (&json!(stage.media.url()), &json!(stage.name())));
        assert_eq!((&data["identity"], &data["role"]), (&json!(place_of_eve), &json!("PARTICIPANT")));
        assert_eq!(
            data["grants"],
            json!({"canPublish": true, "canSubscribe": true, "canPublishData": true,
                "canPublishSources": ["camera", "microphone", "screen_share", "screen_share_audio"]})
        );
        let claims = claims(&issued);
        assert_eq!((claims.sub.as_str(), claims.name.as_str()), (place_of_eve.as_str(), "Éve"));
        assert_eq!(claims.video, publishing(stage.name(), true));
        let ends_ms = i64::try_from(claims.exp).unwrap() * 1000;
        assert!((1..=15 * 60 * 1000).contains(&(ends_ms - now_ms())), "{ends_ms}");
        let expires_at: chrono::DateTime<chrono::Utc> = data["expiresAt"].as_str().unwrap().parse().unwrap();
        assert_eq!(expires_at.timestamp_millis(), ends_ms);

        // The room is created on first use, with limits, and stays the same one.
        let room = stage.media.room(stage.name()).unwrap();
        assert_eq!(room.request["maxParticipants"], 500);
        assert!(room.request["emptyTimeout"].as_u64().unwrap() >= 3600, "{}", room.request);
        let metadata: Value = serde_json::from_str(room.request["metadata"].as_str().unwrap()).unwrap();
        assert_eq!(metadata, json!({"meetingId": stage.name(), "projectId": stage.room.project}));
        assert_eq!(stage.media.calls("CreateRoom")[0].request_id, "of-eve");

        // Each request returns another token, whatever idempotency key is sent, and none of them is stored or logged.
        let again = || eve.client.post(format!("{}/room-credentials", stage.room.path)).key("once");
        let (second, third) = (again().await.is(200), again().await.is(200));
        assert_eq!(stage.media.room(stage.name()).unwrap().sid, room.sid);
        let (dumped, said) = (dump(&stage.server).await, stage.server.read_log());
        for issued in [&issued, &second, &third] {
            let token = issued.text_of("token");
            assert!(!dumped.contains(&token) && !said.contains(&token), "the token was kept");
        }
        assert!(!dumped.contains(SECRET) && !said.contains(SECRET), "the secret was said");
    }

    async fn who_has_not_joined_the_meeting_gets_no_room_token(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (ada, room) = (&stage.room.ada, &stage.room);
        let (eve, bob) = (room.member(&stage.server, Role::Analyst).await, room.member(&stage.server, Role::Analyst).await);
        stage.credentials(&eve).await.refused(403, "Forbidden");
        stage.credentials(&stage.server.user().await).await.refused(403, "Forbidden");
        let bobs = room.joined(&bob).await;
        room.joined(&eve).await;
        room.leave(&eve).await.is(200);
        stage.credentials(&eve).await.refused(409, "InvalidState");
        stage.credentials(&bob).await.is(200);
        ada.client.delete(format!("{}/participants/{bobs}", room.path)).await.is(200);
        stage.credentials(&bob).await.refused(403, "Forbidden");
        room.joined(ada).await;
        stage.credentials(ada).await.is(200);
        ada.client.post(format!("{}/end", room.path)).await.is(200);
        stage.credentials(ada).await.refused(409, "InvalidState");
        stage.credentials(&eve).await.refused(409, "InvalidState");
    }

    async fn before_a_meeting_begins_its_host_alone_may_wait_in_the_room(setup: ServerSetup) {
        let media = LiveKit::start();
        let server = setup.start(&media.settings());
        let room = TestMeeting::scheduled(&server, json!({})).await;
        credentials(&room, &room.ada).await.refused(403, "Forbidden");
        let host = room.joined(&room.ada).await;
        assert_eq!(credentials(&room, &room.ada).await.is(200).text_of("identity"), host);
        let eve = room.member(&server, Role::Analyst).await;
        room.join(&eve).await.refused(409, "InvalidState");
        credentials(&room, &eve).await.refused(403, "Forbidden");
        let name = name_of(&room).to_owned();
        assert!(media.room(&name).is_some());
        // When the meeting is cancelled, its room is deleted.
        room.ada.client.post(format!("{}/cancel", room.path)).await.is(200);
        media.wait_for("DeleteRoom", 1).await;
        assert!(media.room(&name).is_none());
        credentials(&room, &room.ada).await.refused(409, "InvalidState");
    }

    async fn the_join_page_may_speak_to_the_media_server_that_is_set_and_to_no_other(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let page = stage.caller().get(format!("/meetings/{}/join", stage.name())).await.is(200);
        let policy = page.header("content-security-policy").unwrap();
        let connect = policy.split("; ").find_map(|part| part.strip_prefix("connect-src ")).unwrap();
        let media = stage.media.url();
        let (socket, http) = (media.to_owned(), media.replace("ws://", "http://"));
        assert!(connect.split(' ').any(|source| source == socket) && connect.split(' ').any(|source| source == http), "{connect}");
        assert_eq!(connect.split(' ').count(), 4, "{connect}");
    }

    async fn without_a_media_server_the_error_names_the_settings(world: World) {
        let room = TestMeeting::open(world.server).await;
        credentials(&room, &room.ada).await.refused(403, "Forbidden");
        room.joined(&room.ada).await;
        let refused = credentials(&room, &room.ada).await.refused(503, "MediaServerNotConfigured");
        for setting in ["livekit.url", "livekit.api_key", "livekit.api_secret"] {
            assert!(refused.body["message"].as_str().unwrap().contains(setting), "{}", refused.text());
        }
    }
}
