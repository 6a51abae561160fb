//! Tests that a snapshot with all later events applied equals the GET response, while participants join and leave.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::TestMeeting;
use crate::support::{Role, Socket, World};

/// The state of a meeting as a client keeps it: a snapshot with the events since.
struct Folded {
    epoch: Value,
    offset: u64,
    meeting: Value,
    people: BTreeMap<String, Value>,
}

impl Folded {
    /// Starts from a `subscribed` frame.
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

    /// Applies an event frame. Panics when its offset is not the next one.
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

/// Returns the meeting and its participants as ada gets them by GET, without the fields that events don't have.
async fn got(room: &TestMeeting) -> (Value, BTreeMap<String, Value>) {
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
    async fn a_snapshot_with_its_events_applied_equals_the_get_response(world: World) {
        let room = TestMeeting::scheduled(world.server, json!({})).await;
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
        // Ada's socket is subscribed, so she becomes connected once the meeting actor has been notified. When that
        // happens is not deterministic.
        kinds.retain(|kind| kind != "participant.updated");
        let expected = [
            "participant.joined", "meeting.started", "participant.joined", "participant.consent", "meeting.updated",
            "participant.left", "participant.joined", "participant.left", "participant.left", "meeting.ended",
            "participant.removed",
        ];
        assert_eq!(kinds, expected);
    }

    async fn no_event_is_missed_while_fifty_join_and_leave_and_connections_drop(world: World) {
        let room = TestMeeting::open(world.server).await;
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
                let Some(frame) = socket.next_within(Duration::from_secs(2)).await else { break };
                folded.take(&frame);
                seen.insert(folded.offset, (folded.meeting.clone(), folded.people.clone()));
                // The observing socket is replaced now and then, too, and resumes from its offset.
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
        // Sockets that subscribed in between got a snapshot that equals the state at its offset.
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
