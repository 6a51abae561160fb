//! Tests removeParticipant.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::TestMeeting;
use crate::support::{Role, World};

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

on_both! {
    async fn a_removed_participant_can_not_join_or_read_the_meeting(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let id = room.joined(&eve).await;
        let path = format!("{}/participants/{id}", room.path);
        assert_eq!(room.ada.client.delete(&path).await.is(200).data(), &json!({}));
        room.ada.client.delete(&path).await.is(200);
        let person = room.person(&id).await;
        assert_eq!((&person["status"], &person["connected"]), (&json!("REMOVED"), &json!(false)));
        assert_ne!(person["leftAt"], Value::Null);
        room.join(&eve).await.refused(403, "Forbidden");
        room.leave(&eve).await.refused(403, "Forbidden");
        eve.client.get(&room.path).await.refused(403, "Forbidden");
        eve.client.get(format!("{}/participants", room.path)).await.refused(403, "Forbidden");
    }

    async fn the_host_is_not_removed_and_nobody_else_removes(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (eve, bob) = (room.member(world.server, Role::Analyst).await, room.member(world.server, Role::Manager).await);
        let id = room.joined(&eve).await;
        let host = room.joined(&room.ada).await;
        eve.client.delete(format!("{}/participants/{host}", room.path)).await.refused(403, "Forbidden");
        bob.client.delete(format!("{}/participants/{host}", room.path)).await.refused(409, "LastHost");
        bob.client.delete(format!("{}/participants/{NOWHERE}", room.path)).await.refused(404, "NotFound");
        let other = TestMeeting::open(world.server).await;
        other.ada.client.delete(format!("{}/participants/{id}", other.path)).await.refused(404, "NotFound");
        bob.client.delete(format!("{}/participants/{id}", room.path)).await.is(200);
    }

    async fn removal_works_in_every_state(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let id = room.joined(&eve).await;
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        room.ada.client.delete(format!("{}/participants/{id}", room.path)).await.is(200);
        assert_eq!(room.person(&id).await["status"], "REMOVED");
    }

    async fn a_removed_participant_receives_that_event_and_none_after_it(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let id = room.joined(&eve).await;
        let mut socket = room.listening(&eve).await;
        room.until(&id, |person| person["connected"] == true).await;
        assert_eq!(socket.next().await["event"], "participant.updated");
        room.ada.client.delete(format!("{}/participants/{id}", room.path)).await.is(200);
        let removed = Instant::now();
        let frame = socket.next().await;
        assert_eq!((&frame["event"], &frame["data"]["status"]), (&json!("participant.removed"), &json!("REMOVED")));
        let ended = socket.next().await;
        assert_eq!((&ended["type"], &ended["code"]), (&json!("error"), &json!("Forbidden")), "{ended}");
        assert!(removed.elapsed() < Duration::from_secs(1), "{:?}", removed.elapsed());
        room.join(&room.ada).await.is(200);
        assert_eq!(socket.next_within(Duration::from_millis(300)).await, None);
    }
}
