//! A save that nobody knows the outcome of, and that becomes durable long after its answer: nobody is served anything older
//! than it from then on (R18).

use std::time::{Duration, Instant};

use serde_json::json;

use crate::invitations::Guest;
use crate::participants::Room;
use crate::people::membership;
use crate::support::slow::Slow;
use crate::support::world::tell;
use crate::support::{Answer, Kind, Role};

/// Asks until it is known what became of the save. Until then it is a 503, never an answer.
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

/// An answer which says that it can't be known at the moment.
fn not_known(answer: Answer) {
    let answer = answer.is(503);
    assert!(answer.header("retry-after").is_some());
}

on_both! {
    async fn a_guest_whose_removal_may_have_been_saved_is_never_served_as_being_in(slow: Slow) {
        let room = Room::open(&slow.server).await;
        let guest = Guest::of(&slow.server, &room).await;
        guest.join(&room).await.is(200);
        let participants = format!("{}/participants", room.path);
        slow.hold();
        not_known(room.ada.client.delete(format!("{participants}/{}", guest.participant)).await);
        for _ in 0..2 {
            not_known(guest.client.get(&room.path).await);
            not_known(room.ada.client.get(&participants).await);
            not_known(guest.client.post("/api/ws/tickets").await);
        }
        slow.let_go();
        once_known(async || guest.client.get(&room.path).await).await.refused(403, "Forbidden");
        guest.client.post("/api/ws/tickets").await.refused(403, "Forbidden");
        assert_eq!(room.person(&guest.participant).await["status"], "REMOVED");
    }

    async fn a_consent_whose_withdrawal_may_have_been_saved_is_never_served_as_given(slow: Slow) {
        let room = Room::open(&slow.server).await;
        let eve = room.member(&slow.server, Role::Stakeholder).await;
        let id = room.joined(&eve).await;
        let grant = json!({"recordingConsent": true, "scopes": ["RECORDING"], "wordingVersion": room.wording().await});
        room.consents(&eve, &id, grant).await.is(200);
        let (record, people) = (format!("{}/consents", room.path), format!("{}/participants", room.path));
        slow.hold();
        not_known(room.consents(&eve, &id, json!({"recordingConsent": false})).await);
        for _ in 0..2 {
            not_known(room.ada.client.get(&people).await);
            not_known(room.ada.client.get(&record).await);
        }
        slow.let_go();
        once_known(async || room.ada.client.get(&people).await).await.is(200);
        assert_eq!(room.person(&id).await["consent"]["recordingConsent"], false);
        let record = room.ada.client.get(&record).await.is(200);
        let decisions: Vec<_> = record.data()["items"].as_array().unwrap().iter().map(|item| &item["decision"]).collect();
        assert_eq!(decisions, ["GRANTED", "WITHDRAWN"]);
    }

    async fn who_listens_hears_what_nobody_could_be_told(slow: Slow) {
        let room = Room::open(&slow.server).await;
        let mut socket = room.listening(&room.ada).await;
        slow.hold();
        not_known(room.ada.client.patch(&room.path).json(json!({"title": "Discovery, late"})).await);
        slow.let_go();
        loop {
            let said = socket.next().await;
            if said["event"] == "meeting.updated" && said["data"]["title"] == "Discovery, late" {
                break;
            }
        }
        assert_eq!(once_known(async || room.ada.client.get(&room.path).await).await.is(200).text_of("title"), "Discovery, late");
    }
}

/// On SQLite the answer to a write that is no meeting's or run's waits for the disk, and is never "unknown".
#[test]
fn a_member_whose_removal_may_have_been_saved_is_never_served_as_one() {
    tell(Kind::Postgres, |slow: Slow| async move {
        let ada = slow.server.user().await;
        let project = ada.project().await;
        let eve = slow.server.member(&project, Role::Analyst).await;
        let (path, own) = (format!("/api/projects/{project}"), membership(&ada, &project, &eve).await);
        // Her role is remembered.
        eve.client.get(&path).await.is(200);
        slow.hold();
        not_known(ada.client.delete(&own).await);
        for _ in 0..2 {
            not_known(eve.client.get(&path).await);
        }
        slow.let_go();
        once_known(async || eve.client.get(&path).await).await.refused(403, "Forbidden");
    });
}

#[test]
fn a_project_whose_deletion_may_have_been_saved_is_never_served_as_being_there() {
    tell(Kind::Postgres, |slow: Slow| async move {
        let ada = slow.server.user().await;
        let project = ada.project().await;
        let eve = slow.server.member(&project, Role::Analyst).await;
        let path = format!("/api/projects/{project}");
        let meetings = format!("{path}/meetings");
        // Her role is remembered.
        eve.client.get(&meetings).await.is(200);
        slow.hold();
        not_known(ada.client.delete(&path).await);
        for _ in 0..2 {
            not_known(eve.client.get(&meetings).await);
        }
        slow.let_go();
        for gone in [&meetings, &path] {
            once_known(async || eve.client.get(gone).await).await.refused(404, "NotFound");
        }
    });
}

#[test]
fn a_member_whose_removal_is_known_late_is_out_of_the_meeting_that_is_awake() {
    tell(Kind::Postgres, |slow: Slow| async move {
        let room = Room::open(&slow.server).await;
        let eve = room.member(&slow.server, Role::Analyst).await;
        let id = room.joined(&eve).await;
        let own = membership(&room.ada, &room.project, &eve).await;
        slow.hold();
        not_known(room.ada.client.delete(&own).await);
        slow.let_go();
        once_known(async || room.ada.client.get(&room.path).await).await.is(200);
        room.until(&id, |person| person["status"] == "REMOVED").await;
    });
}
