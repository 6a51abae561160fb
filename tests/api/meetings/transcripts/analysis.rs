//! Tests that a run over a meeting reads its recordings: every item says who said it, and when.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{MP3, WEBM, imported, listening, models, text_of};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::{Role, ServerSetup};

impl TestMeeting {
    pub fn runs(&self) -> String {
        format!("/api/projects/{}/ai/runs", self.project)
    }

    /// The body of a run over this meeting.
    pub fn run_over_it(&self) -> Value {
        json!({"meetingId": self.path.trim_start_matches("/api/meetings/"), "analysisType": "FULL"})
    }

    /// The items of the project: `requirements` or `user-stories`.
    async fn listed(&self, what: &str) -> Vec<Value> {
        let listed = self.ada.client.get(format!("/api/projects/{}/{what}?limit=100", self.project)).await.is(200);
        listed.data()["items"].as_array().unwrap().clone()
    }

    async fn requirements(&self) -> Vec<Value> {
        self.listed("requirements").await
    }

    /// The dashboard of the newest run.
    async fn dashboard(&self) -> Value {
        let path = format!("/api/projects/{}/ai/results-dashboard", self.project);
        self.ada.client.get(path).await.is(200).data().clone()
    }

    /// Runs the analysis of the meeting, and returns the dashboard.
    pub async fn analysed(&self) -> Value {
        let run = self.ada.client.post(self.runs()).json(self.run_over_it()).await.is(202).text_of("id");
        let began = Instant::now();
        loop {
            let now = self.ada.client.get(format!("{}/{run}", self.runs())).await.is(200).data().clone();
            if now["completedAt"] != Value::Null {
                assert_eq!(now["status"], "COMPLETED", "{now}");
                break;
            }
            assert!(began.elapsed() < super::PATIENCE, "{now}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let path = format!("/api/projects/{}/ai/results-dashboard?runId={run}", self.project);
        self.ada.client.get(path).await.is(200).data().clone()
    }
}

/// Asks until there is an answer.
pub async fn until<T>(ask: impl AsyncFn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(began.elapsed() < super::PATIENCE, "it did not come about");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

on_both! {
    async fn requirements_of_a_meeting_say_who_said_them_and_when(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/webm", WEBM.to_vec()).await;
        recorder.until_transcript("READY").await;
        let patch = format!("{}/transcript/segments/0", recorder.path);
        let correction = json!({"speaker": {"name": "Grace"}, "text": "The portal must let a customer cancel a booking."});
        room.ada.client.patch(patch).json(correction).await.is(200);
        let transcript = recorder.transcript().await.is(200).data().clone();
        let dashboard = room.analysed().await;
        let requirements = dashboard["requirements"].as_array().unwrap();
        let sources: Vec<&Value> = requirements.iter().flat_map(|one| one["sources"].as_array().unwrap()).collect();
        let cancel = sources.iter().find(|source| source["quote"].as_str().unwrap().contains("cancel a booking"));
        let cancel = cancel.unwrap_or_else(|| panic!("no requirement: {dashboard}"));
        assert_eq!((&cancel["kind"], &cancel["speaker"]), (&json!("RECORDING"), &json!("Grace")));
        assert_eq!((&cancel["recordingId"], &cancel["documentId"]), (&json!(recorder.id), &Value::Null));
        for source in sources {
            let (from, to) = (source["startMs"].as_u64().unwrap(), source["endMs"].as_u64().unwrap());
            assert!(from < to && to <= 14_500, "{source}");
            assert!(text_of(&transcript).contains(source["quote"].as_str().unwrap()), "{source}");
        }
    }

    async fn what_may_not_be_analysed_is_left_out(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let wording = room.wording().await;
        let grant = |scopes: &[&str]| json!({"recordingConsent": true, "scopes": scopes, "wordingVersion": wording});
        let eve = room.member(&server, Role::Stakeholder).await;
        let (ada, id) = (room.joined(&room.ada).await, room.joined(&eve).await);
        room.consents(&room.ada, &ada, grant(&["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"])).await.is(200);
        room.consents(&eve, &id, grant(&["RECORDING", "TRANSCRIPT"])).await.is(200);
        let recorded = async |track: &str| {
            let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/mpeg", "trackParticipantId": track});
            let recorder = Recorder::of(&room, body).await;
            recorder.spanning(0, MP3, 0, 1).await.is(200);
            recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
            recorder.until_transcript("READY").await;
            recorder
        };
        let hers = recorded(&id).await;
        hers.transcript().await.is(200);
        room.ada.client.post(room.runs()).json(room.run_over_it()).await.refused(409, "ConsentWithdrawn");
        let own = recorded(&ada).await;
        let dashboard = room.analysed().await;
        let all = dashboard.to_string();
        assert!(all.contains(&own.id) && !all.contains(&hers.id), "{all}");
    }

    async fn what_rests_on_a_corrected_segment_moves_with_it_or_is_suspect(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/webm", WEBM.to_vec()).await;
        recorder.until_transcript("READY").await;
        let says = async |text: &str| {
            let patch = format!("{}/transcript/segments/0", recorder.path);
            room.ada.client.patch(patch).json(json!({"text": text})).await.is(200);
        };
        says("The portal must let a customer cancel a booking.").await;
        room.analysed().await;
        let of_it = |item: &Value| item["statement"].as_str().unwrap().contains("cancel a booking");
        let quoting = async || room.requirements().await.into_iter().find(of_it).unwrap();
        let first = quoting().await;
        assert_eq!((&first["suspect"], &first["version"]), (&json!(false), &json!(1)));

        says("Well, yes. The portal must let a customer cancel a booking.").await;
        let moved = until(async || Some(quoting().await).filter(|now| now["version"] != first["version"])).await;
        let (was, now) = (&first["sources"][0], &moved["sources"][0]);
        assert_eq!((&now["quote"], &moved["suspect"]), (&was["quote"], &json!(false)));
        assert_eq!(now["startOffset"].as_u64().unwrap(), was["startOffset"].as_u64().unwrap() + 11, "{now}");

        says("The portal must let nobody cancel anything.").await;
        let suspect = until(async || Some(quoting().await).filter(|now| now["suspect"] == true)).await;
        assert_eq!(suspect["sources"], moved["sources"], "people see what it rested on");
        let shown = until(async || {
            let shown = room.dashboard().await["requirements"].as_array().unwrap().iter().find(|one| of_it(one)).cloned();
            shown.filter(|shown| shown["suspect"] == true)
        });
        assert_eq!(shown.await["id"], first["id"]);
        let others = room.requirements().await.into_iter().filter(|item| !of_it(item));
        assert!(others.into_iter().all(|item| item["suspect"] == false));
    }

    async fn a_withdrawn_persons_words_leave_what_was_found(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let wording = room.wording().await;
        let all = json!({"recordingConsent": true, "scopes": ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"], "wordingVersion": wording});
        let eve = room.member(&server, Role::Stakeholder).await;
        let (ada, id) = (room.joined(&room.ada).await, room.joined(&eve).await);
        room.consents(&room.ada, &ada, all.clone()).await.is(200);
        room.consents(&eve, &id, all.clone()).await.is(200);
        let recorded = async |track: &str| {
            let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/mpeg", "trackParticipantId": track});
            let recorder = Recorder::of(&room, body).await;
            recorder.spanning(0, MP3, 0, 1).await.is(200);
            recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
            recorder.until_transcript("READY").await;
            recorder
        };
        let (own, hers) = (recorded(&ada).await, recorded(&id).await);
        let patch = format!("{}/transcript/segments/0", hers.path);
        let secret = json!({"text": "The vault must open with my secret tulip phrase."});
        room.ada.client.patch(patch).json(secret).await.is(200);
        let found = room.analysed().await;
        let named = |found: &Value, words: &str| found.to_string().contains(words);
        assert!(named(&found, &hers.id) && named(&found, "tulip") && named(&found, &own.id), "{found}");
        assert!(named(&json!(room.requirements().await), "tulip"));

        room.consents(&eve, &id, json!({"recordingConsent": false})).await.is(200);
        until(async || {
            let (found, items) = (room.dashboard().await, json!(room.requirements().await));
            let stories = json!(room.listed("user-stories").await);
            let is_left = |all: &Value| named(all, &hers.id) || named(all, "tulip");
            (!is_left(&found) && !is_left(&items) && !is_left(&stories)).then_some(())
        })
        .await;
        let left = room.dashboard().await;
        assert!(named(&left, &own.id), "the words of others stay: {left}");
        let again = room.analysed().await;
        assert!(!named(&again, &hers.id) && !named(&again, "tulip") && named(&again, &own.id), "{again}");
    }
}
