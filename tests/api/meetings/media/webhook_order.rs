//! The same webhooks in any order, some of them twice, lead to the same state.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Stage, name_of};
use crate::meetings::participants::TestMeeting;
use crate::support::chance::Chance;
use crate::support::livekit::{Connection, Event, now_ms};
use crate::support::{Client, Role, ServerSetup};

const ROUNDS: usize = 6;
const ORDERS: usize = 3;
const PEOPLE: usize = 3;

/// The connections of one participant by their start: the start in ms, and whether the connection has ended.
type Story = Vec<(i64, bool)>;

fn stories(chance: &mut Chance) -> Vec<Story> {
    let began = now_ms() - 60_000;
    let story = |chance: &mut Chance| -> Story {
        let count = chance.below(4);
        let connections = (0..count).map(|nth| {
            // Some start within the same millisecond.
            let began_at = began + i64::try_from(nth / 2).unwrap();
            (began_at, chance.below(2) == 0)
        });
        connections.collect()
    };
    (0..PEOPLE).map(|_| story(chance)).collect()
}

/// Returns all webhooks about these connections: starts, ends, aborted attempts, and an outdated `room_finished`.
fn events(room: &str, people: &[String], stories: &[Story]) -> Vec<Event> {
    let mut events = Vec::new();
    for (who, (identity, story)) in people.iter().zip(stories).enumerate() {
        for (nth, (began_at_ms, has_ended)) in story.iter().enumerate() {
            let name = format!("PA_{who}_{nth}");
            let connection = Connection { identity: identity.clone(), name, began_at_ms: *began_at_ms };
            events.push(Event::about("participant_joined", room, &connection));
            if *has_ended {
                events.push(Event::about("participant_left", room, &connection));
            }
        }
        let aborted = Connection::fresh(identity);
        events.push(Event::about("participant_connection_aborted", room, &aborted));
    }
    events.push(Event::of("room_finished", room, "RM_0").at(now_ms() - 60_000));
    events
}

async fn deliver(events: &[Event], to: &Client, chance: &mut Chance) {
    let mut order: Vec<usize> = (0..events.len()).collect();
    // Some are delivered twice.
    order.extend((0..events.len()).filter(|_| chance.below(3) == 0).collect::<Vec<_>>());
    for at in (1..order.len()).rev() {
        order.swap(at, usize::try_from(chance.below(at as u64 + 1)).unwrap());
    }
    for at in order {
        events[at].send_to(to).await.is(200);
    }
}

/// Returns the status of the participants who joined, and whether they are connected, sorted by display name.
fn presences(people: &[Value]) -> Vec<(String, bool)> {
    let mut people: Vec<_> = people.iter().filter(|one| one["status"] != "INVITED").collect();
    people.sort_by_key(|one| one["displayName"].to_string());
    people.iter().map(|one| (one["status"].as_str().unwrap().to_owned(), one["connected"] == true)).collect()
}

on_both! {
    async fn the_same_events_in_any_order_and_twice_lead_to_the_same_state(setup: ServerSetup) {
        let stage = Stage::open(&setup, &[("COLLOQUY__MEETINGS__GRACE_SECONDS", "3600"),
            ("COLLOQUY__MEETINGS__STEADY_SECONDS", "0"), ("COLLOQUY__LIVEKIT__LOOK_SECONDS", "3600")]).await;
        let mut chance = Chance::new();
        let mut users = Vec::new();
        for _ in 0..PEOPLE {
            users.push(stage.room.member(&stage.server, Role::Analyst).await);
        }
        for _ in 0..ROUNDS {
            let stories = stories(&mut chance);
            // A participant is connected if their last connection has not ended. Of two that started at once, the
            // connection's name decides which is the last.
            let is_connected = |story: &Story| {
                let last = story.iter().enumerate().max_by_key(|(nth, (began_at, _))| (*began_at, *nth));
                last.is_some_and(|(_, (_, has_ended))| !has_ended)
            };
            let expected: Vec<_> = stories.iter().map(|story| ("JOINED".to_owned(), is_connected(story))).collect();
            for _ in 0..ORDERS {
                let meeting = stage.room.ada.meeting_path(&stage.room.project).await;
                let ada = stage.room.ada.clone();
                ada.client.post(format!("{meeting}/start")).await.is(200);
                let room = TestMeeting { ada, project: stage.room.project.clone(), path: meeting };
                let mut people = Vec::new();
                for (nth, user) in users.iter().enumerate() {
                    let body = serde_json::json!({"displayName": format!("person {nth}")});
                    people.push(user.client.post(format!("{}/join", room.path)).json(body).await.is(200).text_of("id"));
                }
                let events = events(name_of(&room), &people, &stories);
                deliver(&events, &stage.caller(), &mut chance).await;
                // The end of a connection is told a little later; what is so for a while stays so.
                let (deadline, mut looks) = (Instant::now() + Duration::from_secs(15), 0);
                while looks < 5 {
                    let people = presences(&room.people().await);
                    looks = if people == expected { looks + 1 } else { 0 };
                    assert!(Instant::now() < deadline, "{stories:?}: {people:?}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }
}
