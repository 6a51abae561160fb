//! Tests startMeeting, endMeeting and cancelMeeting: each command in each state.

use serde_json::json;

use crate::support::{Answer, Role, User, World, shape};

/// Makes a meeting, brings it into a state (CANCELLED unless named), and returns its path.
async fn meeting_in(state: &str, ada: &User, project: &str) -> String {
    let meeting = ada.meeting_path(project).await;
    let steps: &[&str] = match state {
        "SCHEDULED" => &[],
        "LIVE" => &["start"],
        "ENDED" => &["start", "end"],
        _ => &["cancel"],
    };
    for step in steps {
        ada.client.post(format!("{meeting}/{step}")).await.is(200);
    }
    meeting
}

on_both! {
    async fn every_state_answers_every_command_as_the_table_says(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        // Each command with the state after it. `None`: 409, and nothing changes.
        let table = [
            ("SCHEDULED", [("start", Some("LIVE")), ("end", None), ("cancel", Some("CANCELLED"))]),
            ("LIVE", [("start", Some("LIVE")), ("end", Some("ENDED")), ("cancel", None)]),
            ("ENDED", [("start", None), ("end", Some("ENDED")), ("cancel", None)]),
            ("CANCELLED", [("start", None), ("end", None), ("cancel", Some("CANCELLED"))]),
        ];
        for (state, commands) in table {
            for (command, after) in commands {
                let meeting = meeting_in(state, &ada, &project).await;
                let before = ada.client.get(&meeting).await.is(200);
                let answer: Answer = ada.client.post(format!("{meeting}/{command}")).await;
                let read = ada.client.get(&meeting).await.is(200);
                match after {
                    None => {
                        answer.refused(409, "InvalidState");
                        assert_eq!((before.etag(), before.data()), (read.etag(), read.data()), "{state} {command}");
                    }
                    Some(after) => {
                        let answer = answer.is(200);
                        assert_eq!(answer.data()["status"], after, "{state} {command}");
                        assert_eq!(shape::keys(answer.data()).len(), 13, "{state} {command}");
                        assert_eq!(answer.etag(), read.etag(), "{state} {command}");
                        if state == after {
                            assert_eq!(before.etag(), read.etag(), "{state} {command} changes nothing");
                        }
                    }
                }
            }
        }
    }

    async fn a_meeting_starts_once_and_ends_with_a_reason(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let started = ada.client.post(format!("{meeting}/start")).await.is(200);
        let again = ada.client.post(format!("{meeting}/start")).await.is(200);
        assert_eq!(started.data(), again.data());
        let ended = ada.client.post(format!("{meeting}/end")).json(json!({"reason": "All said."})).await.is(200);
        assert_eq!(ended.data()["startedAt"], started.data()["startedAt"]);
        assert!(shape::time(&ended.data()["endedAt"]) >= shape::time(&ended.data()["startedAt"]));
        let read = ada.client.get(&meeting).await.is(200);
        assert_eq!((&read.data()["endReason"], read.etag()), (&json!("HOST_ENDED"), "\"3\"".to_owned()));
    }

    async fn a_member_who_is_not_host_can_not_start_end_or_cancel(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let analyst = world.member(&project, Role::Analyst).await;
        for command in ["start", "end", "cancel"] {
            analyst.client.post(format!("{meeting}/{command}")).await.refused(403, "Forbidden");
        }
        assert_eq!(ada.client.get(&meeting).await.etag(), "\"1\"");
    }

    async fn a_reason_that_is_too_long_ends_nothing(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        ada.client.post(format!("{meeting}/start")).await.is(200);
        for (body, code) in [(json!({"reason": "x".repeat(1001)}), "TooLong"), (json!({"why": 1}), "UnknownKey")] {
            ada.client.post(format!("{meeting}/end")).json(body).await.refused(422, code);
        }
        assert_eq!(ada.client.get(&meeting).await.data()["status"], "LIVE");
    }

    async fn a_meeting_can_be_ended_in_an_archived_project(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = meeting_in("LIVE", &ada, &project).await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        ada.client.post(format!("{meeting}/start")).await.refused(409, "ProjectArchived");
        ada.client.post(format!("{meeting}/end")).await.is(200);
    }
}
