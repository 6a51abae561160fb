//! Tests of saves with an unknown outcome that become durable long after their response: once such a save may be
//! durable, no request is answered with an older state (R18).

use std::time::{Duration, Instant};

use serde_json::json;

use crate::meetings::invitations::Guest;
use crate::meetings::participants::TestMeeting;
use crate::projects::people::membership;
use crate::support::slow::Slow;
use crate::support::world::run_on;
use crate::support::{Answer, Kind, Role};

/// Repeats a request until the outcome of the save is known, and returns its response; until then it is a 503. Panics
/// after 15 s.
async fn once_known(ask: impl AsyncFn() -> Answer) -> Answer {
    let deadline = Instant::now() + Duration::from_secs(15);
    loop {
        let answer = ask().await;
        if answer.status != 503 {
            return answer;
        }
        assert!(Instant::now() < deadline, "it never came to be known");
    }
}

/// Checks that a response is the 503 for an unknown outcome, with `Retry-After`.
fn assert_outcome_unknown(answer: Answer) {
    let answer = answer.is(503);
    assert!(answer.header("retry-after").is_some());
}

on_both! {
    async fn a_guest_whose_removal_may_have_been_saved_is_never_shown_as_joined(slow: Slow) {
        let room = TestMeeting::open(&slow.server).await;
        let guest = Guest::of(&slow.server, &room).await;
        guest.join(&room).await.is(200);
        let participants = format!("{}/participants", room.path);
        slow.hold();
        assert_outcome_unknown(room.ada.client.delete(format!("{participants}/{}", guest.participant)).await);
        for _ in 0..2 {
            assert_outcome_unknown(guest.client.get(&room.path).await);
            assert_outcome_unknown(room.ada.client.get(&participants).await);
            assert_outcome_unknown(guest.client.post("/api/ws/tickets").await);
        }
        slow.release();
        once_known(async || guest.client.get(&room.path).await).await.refused(403, "Forbidden");
        guest.client.post("/api/ws/tickets").await.refused(403, "Forbidden");
        assert_eq!(room.person(&guest.participant).await["status"], "REMOVED");
    }

    async fn a_consent_whose_withdrawal_may_have_been_saved_is_never_served_as_given(slow: Slow) {
        let room = TestMeeting::open(&slow.server).await;
        let eve = room.member(&slow.server, Role::Stakeholder).await;
        let id = room.joined(&eve).await;
        let grant = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": room.wording().await});
        room.consents(&eve, &id, grant).await.is(200);
        let (record, people) = (format!("{}/consents", room.path), format!("{}/participants", room.path));
        slow.hold();
        assert_outcome_unknown(room.consents(&eve, &id, json!({"recordingConsent": false})).await);
        for _ in 0..2 {
            assert_outcome_unknown(room.ada.client.get(&people).await);
            assert_outcome_unknown(room.ada.client.get(&record).await);
        }
        slow.release();
        once_known(async || room.ada.client.get(&people).await).await.is(200);
        assert_eq!(room.person(&id).await["consent"]["recordingConsent"], false);
        let record = room.ada.client.get(&record).await.is(200);
        let decisions: Vec<_> = record.data()["items"].as_array().unwrap().iter().map(|item| &item["decision"]).collect();
        assert_eq!(decisions, ["GRANTED", "WITHDRAWN"]);
    }

    async fn a_subscriber_receives_the_event_of_a_save_with_an_unknown_outcome(slow: Slow) {
        let room = TestMeeting::open(&slow.server).await;
        let mut socket = room.listening(&room.ada).await;
        slow.hold();
        assert_outcome_unknown(room.ada.client.patch(&room.path).json(json!({"title": "Discovery, late"})).await);
        slow.release();
        loop {
            let said = socket.next().await;
            if said["event"] == "meeting.updated" && said["data"]["title"] == "Discovery, late" {
                break;
            }
        }
        assert_eq!(once_known(async || room.ada.client.get(&room.path).await).await.is(200).text_of("title"), "Discovery, late");
    }
}

/// Only on PostgreSQL: on SQLite the response to a write of anything but a meeting or run waits for the disk, so that
/// its outcome is never unknown.
#[test]
fn a_member_whose_removal_may_have_been_saved_is_never_served_as_one() {
    run_on(Kind::Postgres, |slow: Slow| async move {
        let ada = slow.server.user().await;
        let project = ada.project().await;
        let eve = slow.server.member(&project, Role::Analyst).await;
        let (path, own) = (format!("/api/projects/{project}"), membership(&ada, &project, &eve).await);
        // This caches her role.
        eve.client.get(&path).await.is(200);
        slow.hold();
        assert_outcome_unknown(ada.client.delete(&own).await);
        for _ in 0..2 {
            assert_outcome_unknown(eve.client.get(&path).await);
        }
        slow.release();
        once_known(async || eve.client.get(&path).await).await.refused(403, "Forbidden");
    });
}

#[test]
fn a_project_whose_deletion_may_have_been_saved_is_never_served_as_being_there() {
    run_on(Kind::Postgres, |slow: Slow| async move {
        let ada = slow.server.user().await;
        let project = ada.project().await;
        let eve = slow.server.member(&project, Role::Analyst).await;
        let path = format!("/api/projects/{project}");
        let meetings = format!("{path}/meetings");
        // This caches her role.
        eve.client.get(&meetings).await.is(200);
        slow.hold();
        assert_outcome_unknown(ada.client.delete(&path).await);
        for _ in 0..2 {
            assert_outcome_unknown(eve.client.get(&meetings).await);
        }
        slow.release();
        for gone in [&meetings, &path] {
            once_known(async || eve.client.get(gone).await).await.refused(404, "NotFound");
        }
    });
}

#[test]
fn a_member_whose_removal_is_known_late_leaves_the_live_meeting() {
    run_on(Kind::Postgres, |slow: Slow| async move {
        let room = TestMeeting::open(&slow.server).await;
        let eve = room.member(&slow.server, Role::Analyst).await;
        let id = room.joined(&eve).await;
        let own = membership(&room.ada, &room.project, &eve).await;
        slow.hold();
        assert_outcome_unknown(room.ada.client.delete(&own).await);
        slow.release();
        once_known(async || room.ada.client.get(&room.path).await).await.is(200);
        room.until(&id, |person| person["status"] == "REMOVED").await;
    });
}
