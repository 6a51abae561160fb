//! While the media server is unavailable, requests that need it fail and say so, everything else works, and its jobs
//! are done once it is back (R12). It is called at its configured address only, and no redirect is followed (S16).

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Stage, credentials, name_of};
use crate::meetings::participants::TestMeeting;
use crate::support::livekit::{Behaviour, LiveKit};
use crate::support::{Role, ServerSetup};

on_both! {
    async fn nothing_but_credentials_fails_while_the_media_server_is_away(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let own = stage.room.joined(&stage.room.ada).await;
        for mood in [Behaviour::Failing, Behaviour::Silent, Behaviour::Astray] {
            stage.media.is(mood);
            let began = Instant::now();
            stage.credentials(&stage.room.ada).await.refused(503, "MediaServerUnavailable");
            assert!(began.elapsed() < Duration::from_secs(4), "{mood:?}: {:?}", began.elapsed());
            assert_eq!(stage.media.calls("CreateRoom").len(), 1 + mood as usize - Behaviour::Failing as usize, "{mood:?}");
        }
        stage.media.is(Behaviour::Silent);
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
        stage.media.is(Behaviour::Well);
        stage.credentials(&stage.room.ada).await.is(200);
    }

    async fn pending_media_jobs_run_once_the_media_server_is_back_also_after_a_restart(setup: ServerSetup) {
        let Stage { media, server, room } = Stage::open(&setup, &[]).await;
        room.joined(&room.ada).await;
        credentials(&room, &room.ada).await.is(200);
        let port = media.stop().await;
        credentials(&room, &room.ada).await.refused(503, "MediaServerUnavailable");
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        server.kill();

        let media = LiveKit::on(port);
        media.is(Behaviour::Failing);
        let server = setup.start(&media.settings());
        media.wait_for("DeleteRoom", 1).await;
        media.is(Behaviour::Well);
        let calls = media.wait_for("DeleteRoom", 2).await;
        assert_eq!(calls[0].body, json!({"room": name_of(&room)}));
        // A room that does not exist counts as closed: deleting it is not retried.
        let other = TestMeeting::open(&server).await;
        other.ada.client.post(format!("{}/end", other.path)).await.is(200);
        let calls = media.wait_for("DeleteRoom", 3).await;
        assert_eq!(calls[2].body, json!({"room": name_of(&other)}));
    }
}
