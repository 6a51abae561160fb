//! Folding what a socket is told over its snapshot gives what GET gives, while people come and go.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::Room;
use crate::support::{Role, Socket, World};

/// The state of a meeting as a client has it.
struct Folded {
    epoch: Value,
    offset: u64,
    meeting: Value,
    people: BTreeMap<String, Value>,
}

impl Folded {
    fn of(subscribed: &Value) -> Self {
        let snapshot = &subscribed["snapshot"];
        assert_eq!(snapshot["recordings"], json!([]));
        let people = snapshot["participants"].as_array().unwrap().iter();
        Self {
            epoch: subscribed["epoch"].clone(),
            offset: subscribed["offset"].as_u64().unwrap(),
            meeting: snapshot["meeting"].clone(),
            people: people.map(|one| (one["id"].as_str().unwrap().to_owned(), one.clone())).collect(),
        }
    }

    fn take(&mut self, frame: &Value) {
        assert_eq!((&frame["type"], &frame["offset"]), (&json!("event"), &json!(self.offset + 1)), "{frame}");
        self.offset += 1;
        let (event, data) = (frame["event"].as_str().unwrap(), frame["data"].clone());
        match event.split_once('.') {
            Some(("meeting", _)) => self.meeting = data,
            Some(("participant", _)) => drop(self.people.insert(data["id"].as_str().unwrap().to_owned(), data)),
            _ => panic!("{frame}"),
        }
    }
}

/// What GET gives, without what differs by caller.
async fn got(room: &Room) -> (Value, BTreeMap<String, Value>) {
    let mut meeting = room.ada.client.get(&room.path).await.is(200).data().clone();
    for key in ["myRole", "myParticipantId", "endReason", "consentPolicy", "version", "consentWording"] {
        assert!(meeting.as_object_mut().unwrap().remove(key).is_some(), "{key}");
    }
    let people = room.people().await.into_iter().map(|mut one| {
        assert!(one.as_object_mut().unwrap().remove("email").is_some());
        (one["id"].as_str().unwrap().to_owned(), one)
    });
    (meeting, people.collect())
}

on_both! {
    async fn whoever_folds_the_events_has_what_get_gives(world: World) {
        let room = Room::scheduled(world.server, json!({})).await;
        let mut socket = Socket::open(&room.ada.client).await;
        let mut folded = Folded::of(&socket.subscribe(&room.topic()).await);
        let version = room.wording().await;
        let eve = room.member(world.server, Role::Analyst).await;
        room.join(&room.ada).await.is(200);
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        let eves = room.joined(&eve).await;
        let body = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": version});
        room.consents(&eve, &eves, body).await.is(200);
        room.ada.client.patch(&room.path).json(json!({"title": "Another"})).await.is(200);
        room.leave(&eve).await.is(200);
        room.join(&eve).await.is(200);
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        room.ada.client.delete(format!("{}/participants/{eves}", room.path)).await.is(200);
        let mut kinds = Vec::new();
        while kinds.last().is_none_or(|kind| kind != "participant.removed") {
            let frame = socket.next().await;
            kinds.push(frame["event"].as_str().unwrap().to_owned());
            folded.take(&frame);
        }
        let (meeting, people) = got(&room).await;
        assert_eq!((folded.meeting, folded.people), (meeting, people));
        // Ada listens, so that she is connected as soon as the meeting was told so; when that is, is anybody's guess.
        kinds.retain(|kind| kind != "participant.updated");
        let expected = [
            "participant.joined", "meeting.started", "participant.joined", "participant.consent", "meeting.updated",
            "participant.left", "participant.joined", "participant.left", "participant.left", "meeting.ended",
            "participant.removed",
        ];
        assert_eq!(kinds, expected);
    }

    async fn while_fifty_come_and_go_and_connections_drop_nothing_is_missed(world: World) {
        let room = Room::open(world.server).await;
        let mut people = Vec::new();
        for _ in 0..50 {
            people.push(room.member(world.server, Role::Stakeholder).await);
        }
        let mut socket = Socket::open(&room.ada.client).await;
        let mut folded = Folded::of(&socket.subscribe(&room.topic()).await);
        let version = room.wording().await;
        let crowd = join_all(people.iter().enumerate().map(|(nth, who)| {
            let (room, version) = (&room, &version);
            async move {
                let id = room.joined(who).await;
                let listening = (nth % 3 == 0).then_some(Socket::open(&who.client));
                let mut listening = match listening {
                    Some(opening) => Some(opening.await),
                    None => None,
                };
                let begun = match &mut listening {
                    Some(socket) => Some(Folded::of(&socket.subscribe(&room.topic()).await)),
                    None => None,
                };
                let body = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": version});
                room.consents(who, &id, body).await.is(200);
                if nth % 2 == 0 {
                    drop(listening.take());
                    room.leave(who).await.is(200);
                    room.join(who).await.is(200);
                }
                if nth % 5 == 0 {
                    room.ada.client.delete(format!("{}/participants/{id}", room.path)).await.is(200);
                }
                (listening, begun)
            }
        }));
        let watching = async {
            let (mut drops, mut seen) = (0, BTreeMap::new());
            loop {
                let Some(frame) = socket.heard(Duration::from_secs(2)).await else { break };
                folded.take(&frame);
                seen.insert(folded.offset, (folded.meeting.clone(), folded.people.clone()));
                // The watcher's own connection drops too, now and then, and goes on from where it was.
                if folded.offset.is_multiple_of(37) {
                    socket = Socket::open(&room.ada.client).await;
                    let resumed = socket.resume(&room.topic(), &folded.epoch, folded.offset).await;
                    assert_eq!(resumed["recovered"], true, "{resumed}");
                    drops += 1;
                }
            }
            (drops, seen)
        };
        let (crowd, (drops, seen)) = tokio::join!(crowd, watching);
        assert!(drops >= 3, "{drops}");
        // Whoever came in between began with what had been folded until then.
        let begun: Vec<_> = crowd.iter().filter_map(|(_, begun)| begun.as_ref()).collect();
        assert_eq!(begun.len(), 17);
        for one in begun {
            assert_eq!(seen[&one.offset], (one.meeting.clone(), one.people.clone()), "at {}", one.offset);
        }
        let (meeting, people) = got(&room).await;
        assert_eq!(folded.people.len(), 51);
        assert_eq!((folded.meeting, folded.people), (meeting, people));
    }
}
