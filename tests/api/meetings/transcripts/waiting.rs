//! Tests runs over recordings that have no transcript yet.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{MP3, PATIENCE, imported};
use crate::meetings::participants::TestMeeting;
use crate::support::ServerSetup;
use crate::support::speech_service::{FakeSpeechService, Trouble};

impl TestMeeting {
    async fn run_now(&self, run: &str) -> Value {
        self.ada.client.get(format!("{}/{run}", self.runs())).await.is(200).data().clone()
    }
}

on_both! {
    async fn a_run_waits_for_transcripts_and_tells_how_far_they_are(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        service.fails(&[Trouble::Slow; 8]);
        let recorder = imported(&room, "audio/mpeg", MP3.repeat(10)).await;
        recorder.until_transcript("PROCESSING").await;
        let run = room.ada.client.post(room.runs()).json(room.run_over_it()).await.is(202).text_of("id");
        let (began, mut seen) = (Instant::now(), Vec::new());
        let ended = loop {
            let now = room.run_now(&run).await;
            if now["completedAt"] != Value::Null {
                break now;
            }
            if now["currentNode"] == "transcribe_recordings" {
                seen.push((now["progress"].as_u64().unwrap(), now["message"].as_str().unwrap().to_owned()));
            }
            assert!(began.elapsed() < PATIENCE, "{now}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert!(seen.iter().any(|(progress, message)| (11..25).contains(progress) && message.ends_with("of 139 s)")), "{seen:?}");
        assert!(seen.is_sorted_by_key(|(progress, _)| *progress), "{seen:?}");
        assert!(["COMPLETED", "REJECTED"].contains(&ended["status"].as_str().unwrap()), "{ended}");
        assert_eq!(recorder.status().await["transcriptStatus"], "READY", "it ended after the transcript");
    }

    async fn a_waiting_run_is_cancelled_at_once_and_outlives_a_kill(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        service.fails(&[Trouble::Silent]);
        let recorder = imported(&room, "audio/mpeg", MP3.to_vec()).await;
        recorder.until_transcript("PROCESSING").await;
        let run = room.ada.client.post(room.runs()).json(room.run_over_it()).await.is(202).text_of("id");
        let began = Instant::now();
        while room.run_now(&run).await["currentNode"] != "transcribe_recordings" {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        server.kill();
        let server = setup.start(&service.settings());
        let ada = room.ada.at(&server);
        let now = ada.client.get(format!("{}/{run}", room.runs())).await.is(200).data().clone();
        assert_eq!((&now["status"], &now["currentNode"]), (&json!("PROCESSING"), &json!("transcribe_recordings")));
        let cancelled = ada.client.post(format!("{}/{run}/cancel", room.runs())).await.is(200);
        assert_eq!(cancelled.data()["status"], "CANCELLED");
        let retried = ada.client.post(format!("{}/{run}/retry", room.runs())).await;
        assert!(retried.status == 200 || retried.status == 202, "{}", retried.text());
        let began = Instant::now();
        loop {
            let now = ada.client.get(format!("{}/{run}", room.runs())).await.is(200).data().clone();
            if now["completedAt"] != Value::Null {
                assert!(["COMPLETED", "REJECTED"].contains(&now["status"].as_str().unwrap()), "{now}");
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{now}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn without_a_transcript_a_run_goes_on_with_the_documents_and_says_so(setup: ServerSetup) {
        let folder = tempfile::tempdir().unwrap();
        let models = folder.path().to_str().unwrap();
        let server = setup.start(&[("COLLOQUY__SPEECH__ENGINE", "embedded"), ("COLLOQUY__SPEECH__MODELS", models)]);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/mpeg", MP3.to_vec()).await;
        recorder.until_transcript("WAITING_FOR_MODEL").await;
        let refused = room.ada.client.post(room.runs()).json(room.run_over_it()).await.refused(409, "RecordingNotReady");
        assert!(refused.text().contains("colloquy models install whisper-tiny.en"), "{}", refused.text());
        let (_, document) = room.ada.read(&room.project, "a.txt", b"The system shall send a reminder by mail.").await;
        let mut both = room.run_over_it();
        both["documentIds"] = json!([document["id"]]);
        let run = room.ada.client.post(room.runs()).json(both).await.is(202).text_of("id");
        let began = Instant::now();
        let ended = loop {
            let now = room.run_now(&run).await;
            if now["completedAt"] != Value::Null {
                break now;
            }
            assert!(began.elapsed() < PATIENCE, "{now}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(ended["status"], "PARTIAL", "{ended}");
        let warning = &ended["warnings"][0];
        assert_eq!((&warning["code"], &warning["sourceId"]), (&json!("SourceFailed"), &json!(recorder.id)));
        assert!(warning["message"].as_str().unwrap().contains("colloquy models install"), "{warning}");
    }
}
