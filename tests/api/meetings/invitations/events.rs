//! Tests that only the hosts of a meeting receive its invitation events. Other subscribers get an empty event at the
//! same offset.

use serde_json::{Value, json};

use super::{Guest, accept, ask_members, mailed};
use crate::meetings::participants::TestMeeting;
use crate::support::{Role, Socket, User, World};

/// Reads the events after an offset up to and including the first of kind `end`. Panics when an offset is missing.
async fn events_until(socket: &mut Socket, after: u64, end: &str) -> Vec<Value> {
    let mut offset = after;
    let mut all = Vec::new();
    loop {
        let frame = socket.next().await;
        offset += 1;
        assert_eq!(frame["offset"], offset, "{frame}");
        let is_end = frame["event"] == end;
        all.push(frame);
        if is_end {
            return all;
        }
    }
}

/// Subscribes to a topic as `who`. Returns the socket, and the epoch and offset to resume from.
async fn subscribed(who: &User, topic: &str) -> (Socket, Value, u64) {
    let mut socket = Socket::open(&who.client).await;
    let begun = socket.subscribe(topic).await;
    let offset = begun["offset"].as_u64().unwrap();
    (socket, begun["epoch"].clone(), offset)
}

on_both! {
    async fn only_hosts_receive_invitation_events_and_no_subscriber_has_an_offset_gap(world: World) {
        let room = TestMeeting::open(world.server).await;
        let (mia, eve) = (room.member(world.server, Role::Manager).await, room.member(world.server, Role::Analyst).await);
        let topic = format!("project:{}", room.project);
        let mut sockets = Vec::new();
        for who in [&room.ada, &mia, &eve] {
            sockets.push(subscribed(who, &topic).await);
        }
        let guest = Guest::of(world.server, &room).await;
        let renamed = json!({"name": "Clinic booking, anew"});
        room.ada.client.patch(format!("/api/projects/{}", room.project)).json(renamed).await.is(200);
        let mut all = Vec::new();
        for (socket, _, offset) in &mut sockets {
            all.push(events_until(socket, *offset, "project.updated").await);
        }
        let accepted = json!({"id": guest.invitation, "meetingId": room.path.rsplit('/').next().unwrap()});
        assert_eq!(all[0], all[1], "both host the meeting");
        assert!(all[0].iter().any(|frame| frame["event"] == "invitation.accepted" && frame["data"] == accepted), "{:?}", all[0]);
        for (hosts, eves) in all[0].iter().zip(&all[2]) {
            if hosts["event"].as_str().unwrap().starts_with("invitation.") {
                let (offset, at) = (&hosts["offset"], &hosts["at"]);
                assert_eq!(eves, &json!({
                    "type": "event", "topic": topic, "offset": offset, "event": "withheld", "at": at, "data": {}, "requestId": "withheld",
                }));
            } else {
                assert_eq!(hosts, eves);
            }
        }
        // A socket that resumes from the earlier offset receives the same events again.
        let (_, epoch, offset) = &sockets[2];
        let mut again = Socket::open(&eve.client).await;
        assert_eq!(again.resume(&topic, epoch, *offset).await["recovered"], true);
        assert_eq!(events_until(&mut again, *offset, "project.updated").await, all[2]);
    }

    async fn a_new_co_host_receives_invitation_events_from_then_on(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let (mut socket, ..) = subscribed(&eve, &format!("project:{}", room.project)).await;
        ask_members(&room, json!([{"userId": eve.id, "role": "CO_HOST"}])).await.is(201);
        accept(&eve.client, &mailed(world.server, &eve.email, 1).await).await.is(200);
        let guest = Guest::of(world.server, &room).await;
        loop {
            let frame = socket.next().await;
            if frame["event"] == "invitation.accepted" && frame["data"]["id"] == guest.invitation {
                break;
            }
        }
    }
}
