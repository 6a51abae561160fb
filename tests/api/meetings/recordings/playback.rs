//! Tests createPlaybackLink, and what a link plays for whom (S12, S14).

use serde_json::json;

use super::{Recorder, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::client::Answer;
use crate::support::{Role, User, World};

/// A recording that is complete, in a meeting that nobody joined.
async fn recorded(room: &TestMeeting) -> (Recorder, Vec<u8>) {
    let (recorder, whole) = (Recorder::chunked(room).await, wav(2000));
    recorder.chunk(0, &whole).await.is(200);
    recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
    recorder.until("READY").await;
    (recorder, whole)
}

async fn link(recorder: &Recorder, user: &User) -> String {
    user.client.post(format!("{}/playback-links", recorder.path)).await.is(201).text_of("url")
}

/// What a media element gets that asks for a part.
async fn played(world: &World, url: &str) -> Answer {
    world.nobody.get(url).header("range", "bytes=100-199").await
}

on_both! {
    async fn a_link_plays_its_recording_in_parts_and_nothing_else(world: World) {
        let room = TestMeeting::open(world.server).await;
        let ((recorder, whole), (other, _)) = (recorded(&room).await, recorded(&room).await);
        let url = link(&recorder, &room.ada).await;
        assert!(url.starts_with(&format!("{}/content?playback=", recorder.path)), "{url}");
        let part = played(&world, &url).await.is(206);
        assert_eq!(part.bytes, whole[100..200]);
        assert_eq!((part.header("cache-control"), part.header("referrer-policy")), (Some("no-store"), Some("no-referrer")));
        assert_eq!(part.header("accept-ranges"), Some("bytes"));
        assert_eq!(world.nobody.get(&url).await.is(200).bytes, whole);

        let signature = url.rsplit('=').next().unwrap();
        for path in ["", "/transcript", "/transcripts"] {
            world.nobody.get(format!("{}{path}?playback={signature}", recorder.path)).await.refused(401, "Unauthorized");
        }
        played(&world, &format!("{}/content?playback={signature}", other.path)).await.refused(401, "Unauthorized");
        played(&world, &format!("{}/content?playback=", recorder.path)).await.refused(401, "Unauthorized");
        world.nobody.bearing(signature).get(format!("{}/content", recorder.path)).await.refused(401, "Unauthorized");
        world.nobody.delete(format!("{}?playback={signature}", recorder.path)).await.refused(401, "Unauthorized");
    }

    async fn a_link_ends_with_the_permission(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (recorder, _) = recorded(&room).await;
        let stakeholder = room.member(world.server, Role::Stakeholder).await;
        stakeholder.client.post(format!("{}/playback-links", recorder.path)).await.refused(403, "Forbidden");
        let analyst = room.member(world.server, Role::Analyst).await;
        let url = link(&recorder, &analyst).await;
        played(&world, &url).await.is(206);
        let members = format!("/api/projects/{}/members", room.project);
        let all = room.ada.client.get(format!("{members}?search={}", analyst.email)).await.is(200);
        let id = all.data()["items"][0]["id"].as_str().unwrap().to_owned();
        room.ada.client.delete(format!("{members}/{id}")).await.is(200);
        played(&world, &url).await.refused(403, "Forbidden");
    }

    async fn a_link_ends_with_the_session_and_with_the_recording(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (recorder, _) = recorded(&room).await;
        let analyst = room.member(world.server, Role::Analyst).await;
        let (url, own) = (link(&recorder, &analyst).await, link(&recorder, &room.ada).await);
        analyst.client.post("/api/auth/logout").await.is(200);
        played(&world, &url).await.refused(401, "Unauthorized");
        played(&world, &own).await.is(206);
        room.ada.client.delete(&recorder.path).await.is(200);
        played(&world, &own).await.refused(404, "NotFound");
    }

    async fn a_recording_that_may_not_be_heard_has_no_link(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::chunked(&room).await;
        let links = format!("{}/playback-links", recorder.path);
        room.ada.client.post(&links).await.refused(409, "RecordingNotReady");
        recorder.chunk(0, &wav(100)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        recorder.until("READY").await;
        room.ada.client.post(&links).await.is(201);
    }
}
