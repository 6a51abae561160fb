//! Tests presence: a participant is connected while a socket is subscribed to the meeting, and leaves after the grace
//! period without one; live meetings without participants end.

use std::time::{Duration, Instant};

use serde_json::json;

use super::TestMeeting;
use crate::support::{Role, ServerSetup, Socket, World};

const SHORT: [(&str, &str); 2] =
    [("COLLOQUY__MEETINGS__GRACE_SECONDS", "1"), ("COLLOQUY__MEETINGS__EMPTY_SECONDS", "3600")];

on_both! {
    async fn a_live_meeting_ends_by_itself_after_its_longest_time_whoever_joined_and_never_connected(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__MEETINGS__LIVE_SECONDS", "1")]);
        let room = TestMeeting::open(&server).await;
        let eve = room.member(&server, Role::Stakeholder).await;
        // The meeting may have ended already.
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

    async fn a_subscribed_participant_is_connected_whether_they_join_before_or_after(world: World) {
        let room = TestMeeting::open(world.server).await;
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

    async fn a_participant_with_two_sockets_stays_connected_when_one_closes(world: World) {
        let room = TestMeeting::open(world.server).await;
        let id = room.joined(&room.ada).await;
        let first = room.listening(&room.ada).await;
        room.until(&id, |person| person["connected"] == true).await;
        // It subscribes after that was published, so it receives no event about it.
        let mut second = room.listening(&room.ada).await;
        drop(first);
        assert_eq!(second.next_within(Duration::from_millis(500)).await, None, "nothing changed");
        assert_eq!(room.person(&id).await["connected"], true);
        // After it has unsubscribed, an open socket does not count as a connection.
        second.send(json!({"type": "unsubscribe", "topic": room.topic()})).await;
        room.until(&id, |person| person["connected"] == false).await;
        assert_eq!(room.person(&id).await["status"], "JOINED", "within the grace");
    }

    async fn a_participant_leaves_after_the_grace_period_unless_they_reconnect(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__MEETINGS__GRACE_SECONDS", "3"), SHORT[1]]);
        let room = TestMeeting::open(&server).await;
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
        let mut seen = Vec::new();
        while let Some(frame) = watching.next_within(Duration::from_millis(300)).await {
            if frame["data"]["id"] == eves {
                seen.push((frame["event"].as_str().unwrap().to_owned(), frame["data"]["connected"].clone()));
            }
        }
        let expected = [("participant.updated", true), ("participant.updated", false), ("participant.left", false)];
        assert_eq!(seen, expected.map(|(event, connected)| (event.to_owned(), json!(connected))));
    }

    async fn who_joins_and_never_connects_has_left_after_a_while_and_the_meeting_ends(setup: ServerSetup) {
        let settings = [("COLLOQUY__MEETINGS__CONNECT_SECONDS", "2"), ("COLLOQUY__MEETINGS__EMPTY_SECONDS", "4")];
        let server = setup.start(&settings);
        let room = TestMeeting::scheduled(&server, json!({})).await;
        let (eve, bob) = (room.member(&server, Role::Analyst).await, room.member(&server, Role::Analyst).await);
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        let joined = Instant::now();
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        let listening = room.listening(&bob).await;
        let left = room.until(&eves, |person| person["status"] == "LEFT").await;
        assert!(joined.elapsed() >= Duration::from_secs(2), "{:?}", joined.elapsed());
        assert_eq!((&left["connected"], left["leftAt"].is_string()), (&json!(false), true));
        let stayed = room.person(&bobs).await;
        assert_eq!((&stayed["status"], &stayed["connected"]), (&json!("JOINED"), &json!(true)));
        room.leave(&bob).await.is(200);
        drop(listening);
        // Whoever left so may join again, and what is stored tells how long they have, also after a restart.
        assert_eq!(room.joined(&eve).await, eves);
        assert_eq!(room.person(&eves).await["status"], "JOINED");
        server.kill();
        let server = setup.start(&settings);
        let room = TestMeeting { ada: room.ada.at(&server), ..room };
        room.until(&eves, |person| person["status"] == "LEFT").await;
        let began = Instant::now();
        loop {
            let details = room.ada.client.get(&room.path).await.is(200);
            if details.data()["status"] == "ENDED" {
                assert_eq!(details.data()["endReason"], "EMPTY");
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(15), "it is still live: {}", details.data());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn who_subscribes_and_unsubscribes_all_the_time_is_told_of_twice_within_the_steady_time(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__MEETINGS__STEADY_SECONDS", "3")]);
        let room = TestMeeting::open(&server).await;
        let eve = room.member(&server, Role::Analyst).await;
        let eves = room.joined(&eve).await;
        let mut watching = room.listening(&room.ada).await;
        let mut hers = Socket::open(&eve.client).await;
        let began = Instant::now();
        for _ in 0..100 {
            hers.subscribe(&room.topic()).await;
            hers.send(json!({"type": "unsubscribe", "topic": room.topic()})).await;
        }
        room.until(&eves, |person| person["connected"] == false).await;
        let most = 2 * (1 + began.elapsed().as_secs() / 3);
        let mut seen = Vec::new();
        while let Some(frame) = watching.next_within(Duration::from_millis(300)).await {
            assert_eq!((&frame["event"], &frame["data"]["id"]), (&json!("participant.updated"), &json!(eves)));
            seen.push(frame["data"]["connected"].clone());
        }
        assert!(seen.len() as u64 <= most, "{seen:?}");
        assert_eq!(seen.last(), Some(&json!(false)));
        // Whoever stays is told of at once.
        hers.subscribe(&room.topic()).await;
        let frame = watching.next_within(Duration::from_secs(1)).await.unwrap();
        assert_eq!(frame["data"]["connected"], true);
    }

    async fn a_live_meeting_with_nobody_in_it_ends_by_itself(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__MEETINGS__EMPTY_SECONDS", "2")]);
        let (room, busy) = (TestMeeting::open(&server).await, TestMeeting::open(&server).await);
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

    async fn after_a_crash_participants_who_do_not_reconnect_leave(setup: ServerSetup) {
        let server = setup.start(&SHORT);
        let room = TestMeeting::open(&server).await;
        let (eve, bob) = (room.member(&server, Role::Analyst).await, room.member(&server, Role::Analyst).await);
        let (eves, bobs) = (room.joined(&eve).await, room.joined(&bob).await);
        let (_hers, _his) = (room.listening(&eve).await, room.listening(&bob).await);
        room.until(&eves, |person| person["connected"] == true).await;
        room.until(&bobs, |person| person["connected"] == true).await;
        server.kill();
        let server = setup.start(&[("COLLOQUY__MEETINGS__GRACE_SECONDS", "4"), SHORT[1]]);
        let room = TestMeeting { ada: room.ada.at(&server), ..room };
        let (eve, started) = (eve.at(&server), Instant::now());
        let mut back = Socket::open(&eve.client).await;
        back.subscribe(&room.topic()).await;
        room.until(&bobs, |person| person["status"] == "LEFT").await;
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        let stayed = room.person(&eves).await;
        assert_eq!((&stayed["status"], &stayed["connected"]), (&json!("JOINED"), &json!(true)));
    }
}
