//! While the media server is away, what needs it fails and says so; the rest is unmoved, and what was to be done there is
//! done once it is back (R12). It is asked at its own address and led nowhere else (S16).

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Stage, credentials, name_of};
use crate::participants::Room;
use crate::support::livekit::{LiveKit, Mood};
use crate::support::{Place, Role};

on_both! {
    async fn nothing_but_credentials_fails_while_the_media_server_is_away(place: Place) {
        let stage = Stage::open(&place, &[]).await;
        let own = stage.room.joined(&stage.room.ada).await;
        for mood in [Mood::Failing, Mood::Silent, Mood::Astray] {
            stage.media.is(mood);
            let began = Instant::now();
            stage.credentials(&stage.room.ada).await.refused(503, "MediaServerUnavailable");
            assert!(began.elapsed() < Duration::from_secs(4), "{mood:?}: {:?}", began.elapsed());
            assert_eq!(stage.media.calls("CreateRoom").len(), 1 + mood as usize - Mood::Failing as usize, "{mood:?}");
        }
        stage.media.is(Mood::Silent);
        let eve = stage.room.member(&stage.server, Role::Analyst).await;
        let began = Instant::now();
        let eves = stage.room.joined(&eve).await;
        stage.room.leave(&eve).await.is(200);
        stage.room.joined(&eve).await;
        let patch = stage.room.ada.client.patch(&stage.room.path).json(json!({"title": "Still here"}));
        patch.await.is(200);
        stage.room.ada.client.delete(format!("{}/participants/{eves}", stage.room.path)).await.is(200);
        stage.server.client().get("/health/ready").await.is(200);
        assert!(began.elapsed() < Duration::from_secs(5), "somebody waited: {:?}", began.elapsed());
        assert_eq!(stage.room.person(&own).await["status"], "JOINED");
        stage.media.is(Mood::Well);
        stage.credentials(&stage.room.ada).await.is(200);
    }

    async fn what_was_to_be_done_there_is_done_once_it_is_back_also_after_a_restart(place: Place) {
        let Stage { media, server, room } = Stage::open(&place, &[]).await;
        room.joined(&room.ada).await;
        credentials(&room, &room.ada).await.is(200);
        let port = media.stop().await;
        credentials(&room, &room.ada).await.refused(503, "MediaServerUnavailable");
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        server.kill();

        let media = LiveKit::on(port);
        media.is(Mood::Failing);
        let server = place.start(&media.settings());
        media.wait_for("DeleteRoom", 1).await;
        media.is(Mood::Well);
        let calls = media.wait_for("DeleteRoom", 2).await;
        assert_eq!(calls[0].body, json!({"room": name_of(&room)}));
        // A room that isn't there is closed: it is not asked for again.
        let other = Room::open(&server).await;
        other.ada.client.post(format!("{}/end", other.path)).await.is(200);
        let calls = media.wait_for("DeleteRoom", 3).await;
        assert_eq!(calls[2].body, json!({"room": name_of(&other)}));
    }
}
