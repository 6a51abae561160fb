//! Tests that a run over a meeting reads its recordings: every item says who said it, and when.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{MP3, WEBM, imported, listening, models, text_of};
use crate::participants::TestMeeting;
use crate::recordings::Recorder;
use crate::support::{Role, ServerSetup};

impl TestMeeting {
    fn runs(&self) -> String {
        format!("/api/projects/{}/ai/runs", self.project)
    }

    /// The body of a run over this meeting.
    fn run_over_it(&self) -> Value {
        json!({"meetingId": self.path.trim_start_matches("/api/meetings/"), "analysisType": "FULL"})
    }

    /// Runs the analysis of the meeting, and returns the dashboard.
    async fn analysed(&self) -> Value {
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
}
