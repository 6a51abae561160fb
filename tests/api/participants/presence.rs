//! Who is connected, by a socket that listens to the meeting; who is lost; and meetings with nobody in them.

use std::time::{Duration, Instant};

use serde_json::json;

use super::Room;
use crate::support::{Place, Role, Socket, World};

const SHORT: [(&str, &str); 2] =
    [("COLLOQUY__MEETINGS__GRACE_SECONDS", "1"), ("COLLOQUY__MEETINGS__EMPTY_SECONDS", "3600")];

on_both! {
    async fn a_live_meeting_ends_by_itself_after_its_longest_time_whoever_joined_and_never_connected(place: Place) {
        let server = place.start(&[("COLLOQUY__MEETINGS__LIVE_SECONDS", "1")]);
        let room = Room::open(&server).await;
        let eve = room.member(&server, Role::Stakeholder).await;
        // It may have ended already.
        let _ = room.join(&eve).await;
        loop {
            let details = room.ada.client.get(&room.path).await.is(200);
            if details.data()["status"] == "ENDED" {
                assert_eq!(details.data()["endReason"], "SYSTEM");
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(room.people().await.iter().all(|one| one["status"] != "JOINED"));
    }

    async fn who_listens_to_the_meeting_is_connected_whether_they_join_before_or_after(world: World) {
        let room = Room::open(world.server).await;
        let (eve, bob) = (room.member(world.server, Role::Analyst).await, room.member(world.server, Role::Analyst).await);
        let eves = room.joined(&eve).await;
        let _first = room.listening(&eve).await;
        room.until(&eves, |person| person["connected"] == true).await;
        let _second = room.listening(&bob).await;
        let bobs = room.joined(&bob).await;
        room.until(&bobs, |person| person["connected"] == true).await;
        let ada = room.people().await.into_iter().find(|one| one["role"] == "HOST").unwrap();
        assert_eq!((&ada["status"], &ada["connected"]), (&json!("INVITED"), &json!(false)));
    }

    async fn of_two_sockets_one_may_go(world: World) {
        let room = Room::open(world.server).await;
        let id = room.joined(&room.ada).await;
        let first = room.listening(&room.ada).await;
        room.until(&id, |person| person["connected"] == true).await;
        // It comes when that is known already, so it hears nothing of it.
        let mut second = room.listening(&room.ada).await;
        drop(first);
        assert_eq!(second.heard(Duration::from_millis(500)).await, None, "nothing changed");
        assert_eq!(room.person(&id).await["connected"], true);
        // An unsubscribed socket listens no more, though it is open.
        second.send(json!({"type": "unsubscribe", "topic": room.topic()})).await;
        room.until(&id, |person| person["connected"] == false).await;
        assert_eq!(room.person(&id).await["status"], "JOINED", "within the grace");
    }

    async fn who_is_lost_for_the_grace_has_left_and_who_comes_back_has_not(place: Place) {
        let server = place.start(&[("COLLOQUY__MEETINGS__GRACE_SECONDS", "3"), SHORT[1]]);
        let room = Room::open(&server).await;
        let (eve, bob) = (room.member(&server, Role::Analyst).await, room.member(&server, Role::Analyst).await);
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        let mut watching = room.listening(&room.ada).await;
        let (hers, his) = (room.listening(&eve).await, room.listening(&bob).await);
        room.until(&eves, |person| person["connected"] == true).await;
        room.until(&bobs, |person| person["connected"] == true).await;
        let lost = Instant::now();
        drop((hers, his));
        room.until(&eves, |person| person["connected"] == false).await;
        room.until(&bobs, |person| person["connected"] == false).await;
        let _back = room.listening(&bob).await;
        let left = room.until(&eves, |person| person["status"] == "LEFT").await;
        assert!(lost.elapsed() >= Duration::from_secs(3), "{:?}", lost.elapsed());
        assert!(lost.elapsed() < Duration::from_secs(6), "{:?}", lost.elapsed());
        assert_eq!(left["connected"], false);
        let stayed = room.person(&bobs).await;
        assert_eq!((&stayed["status"], &stayed["connected"]), (&json!("JOINED"), &json!(true)));
        let mut records = Vec::new();
        while let Some(frame) = watching.heard(Duration::from_millis(300)).await {
            if frame["data"]["id"] == eves {
                records.push((frame["event"].as_str().unwrap().to_owned(), frame["data"]["connected"].clone()));
            }
        }
        let expected = [("participant.updated", true), ("participant.updated", false), ("participant.left", false)];
        assert_eq!(records, expected.map(|(event, connected)| (event.to_owned(), json!(connected))));
    }

    async fn who_joined_without_any_connection_is_waited_for(place: Place) {
        let server = place.start(&SHORT);
        let room = Room::open(&server).await;
        let (eve, bob) = (room.member(&server, Role::Analyst).await, room.member(&server, Role::Analyst).await);
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        drop(room.listening(&bob).await);
        room.until(&bobs, |person| person["status"] == "LEFT").await;
        assert_eq!(room.person(&eves).await["status"], "JOINED");
    }

    async fn a_live_meeting_with_nobody_in_it_ends_by_itself(place: Place) {
        let server = place.start(&[("COLLOQUY__MEETINGS__EMPTY_SECONDS", "2")]);
        let (room, busy) = (Room::open(&server).await, Room::open(&server).await);
        busy.joined(&busy.ada).await;
        let began = Instant::now();
        let mut socket = room.listening(&room.ada).await;
        let ended = socket.next().await;
        assert_eq!((&ended["event"], &ended["data"]["status"]), (&json!("meeting.ended"), &json!("ENDED")));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        assert_eq!(room.ada.client.get(&room.path).await.is(200).data()["endReason"], "EMPTY");
        assert_eq!(busy.ada.client.get(&busy.path).await.is(200).data()["status"], "LIVE");
        busy.leave(&busy.ada).await.is(200);
        let mut socket = busy.listening(&busy.ada).await;
        assert_eq!(socket.next().await["event"], "meeting.ended");
    }

    async fn after_a_crash_whoever_does_not_come_back_has_left(place: Place) {
        let server = place.start(&SHORT);
        let room = Room::open(&server).await;
        let (eve, bob) = (room.member(&server, Role::Analyst).await, room.member(&server, Role::Analyst).await);
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        let (_hers, _his) = (room.listening(&eve).await, room.listening(&bob).await);
        room.until(&eves, |person| person["connected"] == true).await;
        room.until(&bobs, |person| person["connected"] == true).await;
        server.kill();
        let server = place.start(&[("COLLOQUY__MEETINGS__GRACE_SECONDS", "4"), SHORT[1]]);
        let room = Room { ada: room.ada.at(&server), ..room };
        let (eve, started) = (eve.at(&server), Instant::now());
        let mut back = Socket::open(&eve.client).await;
        back.subscribe(&room.topic()).await;
        room.until(&bobs, |person| person["status"] == "LEFT").await;
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        let stayed = room.person(&eves).await;
        assert_eq!((&stayed["status"], &stayed["connected"]), (&json!("JOINED"), &json!(true)));
    }
}
