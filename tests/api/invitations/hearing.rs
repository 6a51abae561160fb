//! Who hears of invitations: those who host the meeting. The others get the offsets, with nothing in them.

use serde_json::{Value, json};

use super::{Guest, accept, ask_members, mailed};
use crate::participants::Room;
use crate::support::{Role, Socket, User, World};

/// Everything that somebody hears of a project from a place in it up to the event that ends it.
async fn heard(socket: &mut Socket, after: u64, end: &str) -> Vec<Value> {
    let mut offset = after;
    let mut all = Vec::new();
    loop {
        let records = socket.next().await;
        offset += 1;
        assert_eq!(records["offset"], offset, "{records}");
        let is_end = records["event"] == end;
        all.push(records);
        if is_end {
            return all;
        }
    }
}

async fn begun(who: &User, topic: &str) -> (Socket, Value, u64) {
    let mut socket = Socket::open(&who.client).await;
    let begun = socket.subscribe(topic).await;
    let offset = begun["offset"].as_u64().unwrap();
    (socket, begun["epoch"].clone(), offset)
}

on_both! {
    async fn only_hosts_hear_of_invitations_and_nobody_has_a_gap(world: World) {
        let room = Room::open(world.server).await;
        let (mia, eve) = (room.member(world.server, Role::Manager).await, room.member(world.server, Role::Analyst).await);
        let topic = format!("project:{}", room.project);
        let mut sockets = Vec::new();
        for who in [&room.ada, &mia, &eve] {
            sockets.push(begun(who, &topic).await);
        }
        let guest = Guest::of(world.server, &room).await;
        let renamed = json!({"name": "Clinic booking, anew"});
        room.ada.client.patch(format!("/api/projects/{}", room.project)).json(renamed).await.is(200);
        let mut all = Vec::new();
        for (socket, _, offset) in &mut sockets {
            all.push(heard(socket, *offset, "project.updated").await);
        }
        let accepted = json!({"id": guest.invitation, "meetingId": room.path.rsplit('/').next().unwrap()});
        assert_eq!(all[0], all[1], "both host the meeting");
        assert!(all[0].iter().any(|records| records["event"] == "invitation.accepted" && records["data"] == accepted), "{:?}", all[0]);
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
        // Whoever comes back to where they stood is told the same again.
        let (_, epoch, offset) = &sockets[2];
        let mut again = Socket::open(&eve.client).await;
        assert_eq!(again.resume(&topic, epoch, *offset).await["recovered"], true);
        assert_eq!(heard(&mut again, *offset, "project.updated").await, all[2]);
    }

    async fn who_becomes_a_host_hears_of_invitations_from_then_on(world: World) {
        let room = Room::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        let (mut socket, ..) = begun(&eve, &format!("project:{}", room.project)).await;
        ask_members(&room, json!([{"userId": eve.id, "role": "CO_HOST"}])).await.is(201);
        accept(&eve.client, &mailed(world.server, &eve.email, 1).await).await.is(200);
        let guest = Guest::of(world.server, &room).await;
        loop {
            let records = socket.next().await;
            if records["event"] == "invitation.accepted" && records["data"]["id"] == guest.invitation {
                break;
            }
        }
    }
}
