//! Jobs for the media server that follow from what happens in a meeting.

use std::time::Duration;

use colloquy::db::schema::jobs;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use super::Stage;
use crate::meetings::participants::TestMeeting;
use crate::support::livekit::now_ms;
use crate::support::{Role, Server, ServerSetup, World};

/// Returns the number of media jobs of the meeting that are not done yet.
async fn open(server: &Server, room: &TestMeeting) -> usize {
    let meeting = super::name_of(room).to_owned();
    let db = server.db().await;
    let left = db.read(|conn| {
        Box::pin(async move {
            let left = jobs::table.filter(jobs::kind.eq("media")).select(jobs::payload);
            Ok::<Vec<String>, DbError>(left.load(conn).await?)
        })
    });
    left.await.unwrap().iter().filter(|payload| payload.contains(&meeting)).count()
}

on_both! {
    async fn leaving_or_removal_disconnects_from_the_room_and_the_meetings_end_closes_it(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[]).await;
        let (eve, bob) =
            (stage.room.member(&stage.server, Role::Analyst).await, stage.room.member(&stage.server, Role::Analyst).await);
        let (eves, bobs) = (stage.entered(&eve).await, stage.entered(&bob).await);
        stage.media.comes(stage.name(), &eves);
        stage.media.comes(stage.name(), &bobs);
        let before = now_ms() / 1000;
        stage.room.ada.client.delete(format!("{}/participants/{bobs}", stage.room.path)).await.is(200);
        let call = stage.media.wait_for("RemoveParticipant", 1).await.remove(0);
        assert_eq!((&call.body["room"], &call.body["identity"]), (&json!(stage.name()), &json!(bobs)));
        // Tokens issued before that are void, if the media server supports it; the time is in seconds, as in tokens.
        let revoked: i64 = call.body["revokeTokenTs"].as_str().unwrap().parse().unwrap();
        assert!((before..=now_ms() / 1000).contains(&revoked), "{revoked}");
        let people = stage.media.room(stage.name()).unwrap().people;
        assert_eq!(people.iter().map(|(identity, ..)| identity.clone()).collect::<Vec<_>>(), std::slice::from_ref(&eves));

        stage.room.leave(&eve).await.is(200);
        let call = stage.media.wait_for("RemoveParticipant", 2).await.remove(1);
        assert_eq!(call.body["identity"], json!(eves));
        assert!(stage.media.room(stage.name()).unwrap().people.is_empty());

        // In the media room again, until the end.
        stage.entered(&eve).await;
        stage.media.comes(stage.name(), &eves);
        stage.room.ada.client.post(format!("{}/end", stage.room.path)).await.is(200);
        stage.media.wait_for("DeleteRoom", 1).await;
        assert!(stage.media.room(stage.name()).is_none());
        // Deleting the room disconnects everybody: no participant is removed separately.
        tokio::time::timeout(Duration::from_secs(15), async {
            while open(&stage.server, &stage.room).await > 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await
        .unwrap();
        assert_eq!(stage.media.calls("RemoveParticipant").len(), 2);
    }

    async fn without_a_media_server_no_media_jobs_are_enqueued(world: World) {
        let room = TestMeeting::open(world.server).await;
        room.joined(&room.ada).await;
        room.leave(&room.ada).await.is(200);
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        assert_eq!(open(world.server, &room).await, 0);
    }
}
