//! What the media server tells is a hint: signed, or refused; late, twice or strange, and nothing changes.

use std::time::Duration;

use serde_json::json;

use super::Stage;
use crate::support::livekit::{Connection, Event, SECRET, now_ms, signature};
use crate::support::{Place, Role, World};

const LIFE: Duration = Duration::from_secs(300);
const PATH: &str = "/api/webhooks/livekit";

on_both! {
    async fn what_is_not_signed_by_the_media_server_is_refused(place: Place) {
        let stage = Stage::open(&place, &[]).await;
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
        // Neither what lets people into rooms nor what lets them into the service signs anything.
        call(stage.credentials(&eve).await.is(200).text_of("token"), body.clone()).await.refused(401, "Unauthorized");
        call(eve.client.token().to_owned(), body.clone()).await.refused(401, "Unauthorized");
        let stale = livekit_api::access_token::Claims::from_unverified(&good).unwrap();
        let stale = livekit_api::access_token::Claims { exp: stale.exp - 300 - 120, nbf: stale.nbf - 300, ..stale };
        call(signed(&stale), body.clone()).await.refused(401, "Unauthorized");
        let strange = livekit_api::access_token::Claims::from_unverified(&good).unwrap();
        let strange = livekit_api::access_token::Claims { iss: "another-key".to_owned(), ..strange };
        call(signed(&strange), body.clone()).await.refused(401, "Unauthorized");
        assert_eq!(stage.room.person(&own).await["connected"], false);
        // Signed, and yet no event.
        call(signature(SECRET, "{", LIFE), "{".to_owned()).await.refused(400, "BadRequest");
        let large = format!("{{\"event\":\"{}\"}}", "x".repeat(64 * 1024));
        call(signature(SECRET, &large, LIFE), large).await.refused(413, "PayloadTooLarge");
        // The good one counts, whatever it says it is.
        to.post(PATH).header("authorization", &good).body("text/plain", body).await.is(200);
        assert_eq!(stage.room.person(&own).await["connected"], true);
    }

    async fn without_a_media_server_nobody_signs(world: World) {
        let body = Event::of("room_started", "nowhere", "RM_1").0.to_string();
        let call = world.nobody.post(PATH).header("authorization", signature(SECRET, &body, LIFE));
        call.body("application/webhook+json", body).await.refused(401, "Unauthorized");
    }

    async fn who_is_in_the_room_is_connected_and_who_is_gone_for_the_grace_has_left(place: Place) {
        let stage = Stage::open(&place, &[("COLLOQUY__MEETINGS__GRACE_SECONDS", "2")]).await;
        let eve = stage.room.member(&stage.server, Role::Analyst).await;
        let own = stage.entered(&eve).await;
        let mut watching = stage.room.listening(&stage.room.ada).await;
        let first = stage.media.comes(stage.name(), &own);
        Event::about("participant_joined", stage.name(), &first).records(&stage.caller()).await.is(200);
        assert_eq!(watching.next().await["data"]["connected"], true);
        // A second try that never became a connection is none that was lost.
        let failed = Connection::fresh(&own);
        Event::about("participant_connection_aborted", stage.name(), &failed).records(&stage.caller()).await.is(200);
        assert_eq!(stage.room.person(&own).await["connected"], true);
        stage.media.goes(stage.name(), &first);
        Event::about("participant_left", stage.name(), &first).records(&stage.caller()).await.is(200);
        assert_eq!(watching.next().await["data"]["connected"], false);
        let second = stage.media.comes(stage.name(), &own);
        Event::about("participant_joined", stage.name(), &second).records(&stage.caller()).await.is(200);
        assert_eq!(watching.next().await["data"]["connected"], true);
        tokio::time::sleep(Duration::from_millis(2500)).await;
        assert_eq!(stage.room.person(&own).await["status"], "JOINED");
        stage.media.goes(stage.name(), &second);
        Event::about("participant_left", stage.name(), &second).records(&stage.caller()).await.is(200);
        assert_eq!(stage.room.until(&own, |person| person["status"] == "LEFT").await["connected"], false);
    }

    async fn what_is_strange_late_or_about_nobody_changes_nothing(place: Place) {
        let stage = Stage::open(&place, &[]).await;
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
            // The meeting began after that.
            Event::of("room_finished", stage.name(), "RM_0").at(now_ms() - 60_000),
            Event(json!({})),
            Event(json!({"event": "participant_joined", "room": {"name": stage.name()}})),
        ];
        for event in events.iter().chain(&events) {
            event.records(&to).await.is(200);
        }
        assert_eq!(stage.server.positions_of_meeting(stage.name()).await, before);
        assert_eq!(stage.details().await["status"], "LIVE");
    }

    async fn a_room_that_is_finished_ends_its_meeting_unless_there_is_another_one(place: Place) {
        let stage = Stage::open(&place, &[]).await;
        let to = stage.caller();
        stage.entered(&stage.room.ada).await;
        let first = stage.media.room(stage.name()).unwrap().sid;
        // It was closed, and made again before that was told.
        stage.media.closes(stage.name());
        stage.credentials(&stage.room.ada).await.is(200);
        Event::of("room_finished", stage.name(), &first).records(&to).await.is(200);
        stage.media.wait_for("ListRooms", 1).await;
        let mut stopping = Event::of("room_finished", stage.name(), &first);
        stopping.0["roomEndReason"] = json!("ROOM_END_SERVER_SHUTDOWN");
        stopping.records(&to).await.is(200);
        assert_eq!(stage.details().await["status"], "LIVE");
        // Closed for good.
        let second = stage.media.room(stage.name()).unwrap().sid;
        stage.media.closes(stage.name());
        let finished = Event::of("room_finished", stage.name(), &second);
        finished.records(&to).await.is(200);
        let ended = stage.until(|details| details["status"] == "ENDED").await;
        assert_eq!(ended["endReason"], "ROOM_FINISHED");
        assert!(stage.room.people().await.iter().all(|person| person["status"] == "LEFT"));
        let records = stage.server.positions_of_meeting(stage.name()).await;
        finished.records(&to).await.is(200);
        assert_eq!(stage.server.positions_of_meeting(stage.name()).await, records);
    }

    async fn who_is_in_the_room_and_not_in_the_meeting_is_put_out(place: Place) {
        let stage = Stage::open(&place, &[]).await;
        let (to, room) = (stage.caller(), &stage.room);
        let eve = room.member(&stage.server, Role::Analyst).await;
        let own = stage.entered(&eve).await;
        room.ada.client.delete(format!("{}/participants/{own}", room.path)).await.is(200);
        stage.media.wait_for("RemoveParticipant", 1).await;
        // With a token from before they come in again.
        let sneaking = stage.media.comes(stage.name(), &own);
        Event::about("participant_joined", stage.name(), &sneaking).records(&to).await.is(200);
        stage.media.wait_for("RemoveParticipant", 2).await;
        assert!(stage.media.room(stage.name()).unwrap().people.is_empty());
        assert_eq!(room.person(&own).await["status"], "REMOVED");
        // And a room that opens after the end is closed.
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        stage.media.wait_for("DeleteRoom", 1).await;
        Event::of("room_started", stage.name(), "RM_9").records(&to).await.is(200);
        stage.media.wait_for("DeleteRoom", 2).await;
    }

    async fn a_connection_whose_end_was_never_told_is_found_gone(place: Place) {
        let stage = Stage::open(&place, &[("COLLOQUY__MEETINGS__GRACE_SECONDS", "1")]).await;
        let (eve, bob) =
            (stage.room.member(&stage.server, Role::Analyst).await, stage.room.member(&stage.server, Role::Analyst).await);
        let (eves, bobs) = (stage.entered(&eve).await, stage.entered(&bob).await);
        for (own, stays) in [(&eves, false), (&bobs, true)] {
            let mut connection = stage.media.comes(stage.name(), own);
            if !stays {
                stage.media.goes(stage.name(), &connection);
                // One that is young may not be listed yet.
                connection.began_at_ms -= 60_000;
            }
            Event::about("participant_joined", stage.name(), &connection).records(&stage.caller()).await.is(200);
        }
        stage.room.until(&eves, |person| person["status"] == "LEFT").await;
        stage.media.wait_for("ListParticipants", 2).await;
        let stays = stage.room.person(&bobs).await;
        assert_eq!((&stays["status"], &stays["connected"]), (&json!("JOINED"), &json!(true)));
    }
}

/// A token with the secret of the stories.
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
