//! Webhooks of the media server are hints: unsigned ones are refused; late, repeated or unknown ones change nothing.

use std::time::Duration;

use serde_json::json;

use super::Stage;
use crate::support::livekit::{Connection, Event, SECRET, now_ms, signature};
use crate::support::{Role, ServerSetup, World};

const LIFE: Duration = Duration::from_secs(300);
const PATH: &str = "/api/webhooks/livekit";

on_both! {
    async fn what_is_not_signed_by_the_media_server_is_refused(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let eve = stage.room.member(&stage.server, Role::Analyst).await;
        let own = stage.entered(&eve).await;
        let connection = stage.media.comes(stage.name(), &own);
        let body = Event::about("participant_joined", stage.name(), &connection).0.to_string();
        let to = stage.caller();
        let call = |signature: String, body: String| {
            to.post(PATH).header("authorization", signature).body("application/webhook+json", body)
        };
        let good = signature(SECRET, &body, LIFE);
        to.post(PATH).body("application/webhook+json", body.clone()).await.refused(401, "Unauthorized");
        call("nonsense".to_owned(), body.clone()).await.refused(401, "Unauthorized");
        call(signature("another-secret-that-has-32-characters", &body, LIFE), body.clone()).await.refused(401, "Unauthorized");
        call(good.clone(), format!("{body} ")).await.refused(401, "Unauthorized");
        call(good.clone(), body.clone()).also("authorization", &good).await.refused(401, "Unauthorized");
        // Neither a room token nor an access token is a valid signature.
        call(stage.credentials(&eve).await.is(200).text_of("token"), body.clone()).await.refused(401, "Unauthorized");
        call(eve.client.token().to_owned(), body.clone()).await.refused(401, "Unauthorized");
        let stale = livekit_api::access_token::Claims::from_unverified(&good).unwrap();
        let stale = livekit_api::access_token::Claims { exp: stale.exp - 300 - 120, nbf: stale.nbf - 300, ..stale };
        call(signed(&stale), body.clone()).await.refused(401, "Unauthorized");
        let strange = livekit_api::access_token::Claims::from_unverified(&good).unwrap();
        let strange = livekit_api::access_token::Claims { iss: "another-key".to_owned(), ..strange };
        call(signed(&strange), body.clone()).await.refused(401, "Unauthorized");
        assert_eq!(stage.room.person(&own).await["connected"], false);
        // Signed, but not an event.
        call(signature(SECRET, "{", LIFE), "{".to_owned()).await.refused(400, "BadRequest");
        let large = format!("{{\"event\":\"{}\"}}", "x".repeat(64 * 1024));
        call(signature(SECRET, &large, LIFE), large).await.refused(413, "PayloadTooLarge");
        // The valid one is accepted, whatever its content type.
        to.post(PATH).header("authorization", &good).body("text/plain", body).await.is(200);
        assert_eq!(stage.room.person(&own).await["connected"], true);
    }

    async fn without_a_media_server_every_webhook_is_refused(world: World) {
        let body = Event::of("room_started", "nowhere", "RM_1").0.to_string();
        let call = world.nobody.post(PATH).header("authorization", signature(SECRET, &body, LIFE));
        call.body("application/webhook+json", body).await.refused(401, "Unauthorized");
    }

    async fn who_is_in_the_room_is_connected_and_who_is_gone_for_the_grace_has_left(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[("COLLOQUY__MEETINGS__GRACE_SECONDS", "2")]).await;
        let eve = stage.room.member(&stage.server, Role::Analyst).await;
        let own = stage.entered(&eve).await;
        let mut watching = stage.room.listening(&stage.room.ada).await;
        let first = stage.media.comes(stage.name(), &own);
        Event::about("participant_joined", stage.name(), &first).send_to(&stage.caller()).await.is(200);
        assert_eq!(watching.next().await["data"]["connected"], true);
        // An attempt that never became a connection is not a lost connection.
        let failed = Connection::fresh(&own);
        Event::about("participant_connection_aborted", stage.name(), &failed).send_to(&stage.caller()).await.is(200);
        assert_eq!(stage.room.person(&own).await["connected"], true);
        stage.media.goes(stage.name(), &first);
        Event::about("participant_left", stage.name(), &first).send_to(&stage.caller()).await.is(200);
        assert_eq!(watching.next().await["data"]["connected"], false);
        let second = stage.media.comes(stage.name(), &own);
        Event::about("participant_joined", stage.name(), &second).send_to(&stage.caller()).await.is(200);
        assert_eq!(watching.next().await["data"]["connected"], true);
        tokio::time::sleep(Duration::from_millis(2500)).await;
        assert_eq!(stage.room.person(&own).await["status"], "JOINED");
        stage.media.goes(stage.name(), &second);
        Event::about("participant_left", stage.name(), &second).send_to(&stage.caller()).await.is(200);
        assert_eq!(stage.room.until(&own, |person| person["status"] == "LEFT").await["connected"], false);
    }

    async fn unknown_late_or_unrelated_webhooks_change_nothing(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let to = stage.caller();
        let before = stage.server.positions_of_meeting(stage.name()).await;
        let nobody = Connection::fresh("0189a0f0-0000-7000-8000-000000000000");
        let recorder = Connection::fresh("EG_recorder");
        let ada = Connection::fresh(stage.details().await["hostParticipantId"].as_str().unwrap());
        let elsewhere = "0189a0f0-0000-7000-8000-000000000001";
        let events = [
            Event::of("room_started", stage.name(), "RM_1"),
            Event::of("egress_started", stage.name(), "RM_1"),
            Event::of("something_new", stage.name(), "RM_1"),
            Event::of("room_finished", "a room of somebody else", "RM_1"),
            Event::of("room_finished", elsewhere, "RM_1"),
            Event::about("participant_joined", elsewhere, &ada),
            Event::about("participant_joined", stage.name(), &recorder),
            Event::about("participant_left", stage.name(), &nobody),
            Event::about("participant_left", stage.name(), &ada),
            // The meeting started after that.
            Event::of("room_finished", stage.name(), "RM_0").at(now_ms() - 60_000),
            Event(json!({})),
            Event(json!({"event": "participant_joined", "room": {"name": stage.name()}})),
        ];
        for event in events.iter().chain(&events) {
            event.send_to(&to).await.is(200);
        }
        assert_eq!(stage.server.positions_of_meeting(stage.name()).await, before);
        assert_eq!(stage.details().await["status"], "LIVE");
    }

    async fn a_room_that_is_finished_ends_its_meeting_unless_there_is_another_one(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let to = stage.caller();
        stage.entered(&stage.room.ada).await;
        let first = stage.media.room(stage.name()).unwrap().sid;
        // The room was closed, and created again before the webhook about that was sent.
        stage.media.closes(stage.name());
        stage.credentials(&stage.room.ada).await.is(200);
        Event::of("room_finished", stage.name(), &first).send_to(&to).await.is(200);
        stage.media.wait_for("ListRooms", 1).await;
        let mut stopping = Event::of("room_finished", stage.name(), &first);
        stopping.0["roomEndReason"] = json!("ROOM_END_SERVER_SHUTDOWN");
        stopping.send_to(&to).await.is(200);
        assert_eq!(stage.details().await["status"], "LIVE");
        // Closed for good.
        let second = stage.media.room(stage.name()).unwrap().sid;
        stage.media.closes(stage.name());
        let finished = Event::of("room_finished", stage.name(), &second);
        finished.send_to(&to).await.is(200);
        let ended = stage.until(|details| details["status"] == "ENDED").await;
        assert_eq!(ended["endReason"], "ROOM_FINISHED");
        assert!(stage.room.people().await.iter().all(|person| person["status"] == "LEFT"));
        let positions = stage.server.positions_of_meeting(stage.name()).await;
        finished.send_to(&to).await.is(200);
        assert_eq!(stage.server.positions_of_meeting(stage.name()).await, positions);
    }

    async fn who_is_in_the_room_but_not_in_the_meeting_is_disconnected(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (to, room) = (stage.caller(), &stage.room);
        let eve = room.member(&stage.server, Role::Analyst).await;
        let own = stage.entered(&eve).await;
        room.ada.client.delete(format!("{}/participants/{own}", room.path)).await.is(200);
        stage.media.wait_for("RemoveParticipant", 1).await;
        // The removed participant connects again with an earlier token.
        let sneaking = stage.media.comes(stage.name(), &own);
        Event::about("participant_joined", stage.name(), &sneaking).send_to(&to).await.is(200);
        stage.media.wait_for("RemoveParticipant", 2).await;
        assert!(stage.media.room(stage.name()).unwrap().people.is_empty());
        assert_eq!(room.person(&own).await["status"], "REMOVED");
        // A room that is created after the meeting's end is deleted.
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        stage.media.wait_for("DeleteRoom", 1).await;
        Event::of("room_started", stage.name(), "RM_9").send_to(&to).await.is(200);
        stage.media.wait_for("DeleteRoom", 2).await;
    }

    async fn a_connection_whose_end_was_never_reported_is_detected(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[("COLLOQUY__MEETINGS__GRACE_SECONDS", "1")]).await;
        let (eve, bob) =
            (stage.room.member(&stage.server, Role::Analyst).await, stage.room.member(&stage.server, Role::Analyst).await);
        let (eves, bobs) = (stage.entered(&eve).await, stage.entered(&bob).await);
        for (own, stays) in [(&eves, false), (&bobs, true)] {
            let mut connection = stage.media.comes(stage.name(), own);
            if !stays {
                stage.media.goes(stage.name(), &connection);
                // The media server may not list a young connection yet, so this one is older.
                connection.began_at_ms -= 60_000;
            }
            Event::about("participant_joined", stage.name(), &connection).send_to(&stage.caller()).await.is(200);
        }
        stage.room.until(&eves, |person| person["status"] == "LEFT").await;
        stage.media.wait_for("ListParticipants", 2).await;
        let stays = stage.room.person(&bobs).await;
        assert_eq!((&stays["status"], &stays["connected"]), (&json!("JOINED"), &json!(true)));
    }
}

/// Signs the claims with the tests' secret.
fn signed(claims: &livekit_api::access_token::Claims) -> String {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use hmac::{Hmac, KeyInit, Mac};
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text =
        format!("{}.{}", part(json!({"alg": "HS256", "typ": "JWT"})), part(serde_json::to_value(claims).unwrap()));
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}
