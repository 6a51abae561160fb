//! Tests how transcripts are made: waiting for the model, the words, versions, the project's spelling.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{MP3, PATIENCE, SPOKEN, WEBM, imported, listening, models, put_model, text_of, word_errors};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::{ServerSetup, World};

on_both! {
    async fn a_recording_waits_for_its_model_and_is_transcribed_once_it_is_installed(setup: ServerSetup) {
        let folder = setup.data.join("models");
        let server = listening(&setup, &folder);
        let room = TestMeeting::open(&server).await;
        let mut events = room.listening(&room.ada).await;
        let recorder = imported(&room, "audio/webm", WEBM.to_vec()).await;
        recorder.until_transcript("WAITING_FOR_MODEL").await;
        assert_eq!(recorder.status().await["status"], "READY");
        let refused = recorder.transcript().await.refused(409, "TranscriptNotReady");
        assert!(refused.text().contains("colloquy models install whisper-tiny.en"), "{}", refused.text());
        let versions = recorder.versions().await;
        assert_eq!((versions.len(), &versions[0]["status"]), (1, &json!("WAITING_FOR_MODEL")));
        // One at a time.
        recorder.transcribe_again(json!({})).await.refused(409, "Conflict");
        let Some(models) = models() else { return };
        put_model(&models, &folder);
        let ready = recorder.until_transcript("READY").await;
        // Whoever listens was told of each state.
        let mut told: Vec<Value> = Vec::new();
        while told.last() != Some(&json!("READY")) {
            let event = events.next().await;
            if event["event"] == "recording.transcript" {
                told.push(event["data"]["transcriptStatus"].clone());
            }
        }
        assert_eq!(told, ["WAITING_FOR_MODEL", "PROCESSING", "READY"]);
        assert_eq!(ready["status"], "READY");
        let transcript = recorder.transcript().await.is(200).data().clone();
        is_what_was_said(&transcript);
        assert_eq!((&transcript["language"], &transcript["engine"]), (&json!("en"), &json!("embedded")));
        assert_eq!((&transcript["model"], &transcript["version"]), (&json!("whisper-tiny.en"), &json!(1)));
        assert_eq!(transcript["segments"][0]["speaker"], json!({"participantId": null, "name": "Speaker 1"}));
    }

    async fn a_new_version_is_shown_and_the_former_one_stays(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/mpeg", MP3.to_vec()).await;
        recorder.until_transcript("READY").await;
        is_what_was_said(recorder.transcript().await.is(200).data());
        let refused = recorder.transcribe_again(json!({"language": "de"})).await.refused(422, "ValidationError");
        assert_eq!(refused.faults()[0].0, "language");
        // What the recogniser hears is spelled as the project does.
        let glossary = format!("/api/projects/{}/glossary", room.project);
        let entry = json!({"term": "E-Mail", "definition": null, "spellings": ["email"]});
        room.ada.client.put(glossary).json(json!({"entries": [entry]})).await.is(200);
        let begun = recorder.transcribe_again(json!({"language": "en"})).await.is(202);
        assert_eq!((&begun.data()["number"], &begun.data()["createdBy"]), (&json!(2), &json!(room.ada.id)));
        let versions = until_current(&recorder, 2).await;
        assert_eq!(versions.iter().map(|one| one["isCurrent"] == true).collect::<Vec<_>>(), [true, false]);
        assert_eq!((&versions[1]["status"], &versions[1]["createdBy"]), (&json!("READY"), &Value::Null));
        let transcript = recorder.transcript().await.is(200).data().clone();
        assert!(text_of(&transcript).contains("E-Mail"), "{transcript}");
        // A model that is not installed makes it wait; the transcript stays.
        recorder.transcribe_again(json!({"model": "whisper-of-nobody"})).await.is(202);
        recorder.until_transcript("READY").await;
        assert_eq!(recorder.transcript().await.is(200).data(), &transcript);
        // With the recording, everything is gone.
        room.ada.client.delete(&recorder.path).await.is(200);
        recorder.transcript().await.refused(404, "NotFound");
    }

    async fn audio_is_deleted_once_it_is_transcribed_where_that_is_set(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let once = ("COLLOQUY__RECORDINGS__DELETE_AUDIO_ONCE_TRANSCRIBED", "true");
        let embedded = ("COLLOQUY__SPEECH__ENGINE", "embedded");
        let server = setup.start(&[once, embedded, ("COLLOQUY__SPEECH__MODELS", models.to_str().unwrap())]);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/mpeg", MP3.to_vec()).await;
        recorder.until("EXPIRED").await;
        recorder.content().await.refused(410, "Gone");
        is_what_was_said(recorder.transcript().await.is(200).data());
        recorder.transcribe_again(json!({})).await.refused(410, "Gone");
        // What could not be transcribed stays.
        let mut broken = WEBM[..400].to_vec();
        broken.extend([0; 4000]);
        let broken = imported(&room, "audio/webm", broken).await;
        broken.until_transcript("FAILED").await;
        broken.content().await.is(200);
    }

    async fn a_transcript_expires_apart_from_its_audio(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let speech =
            [("COLLOQUY__SPEECH__ENGINE", "embedded"), ("COLLOQUY__SPEECH__MODELS", models.to_str().unwrap())];
        let server = setup.start(&speech);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/mpeg", MP3.to_vec()).await;
        recorder.until_transcript("READY").await;
        let before = recorder.status().await;
        let path = recorder.path.clone();
        server.kill();

        let server = setup.start(&[&speech[..], &[("COLLOQUY__RECORDINGS__KEEP_TRANSCRIPT_SECONDS", "1")]].concat());
        let recorder = recorder.at(&server);
        let expired = recorder.until_transcript("NONE").await;
        assert_eq!((&expired["status"], &expired["sha256"]), (&json!("READY"), &before["sha256"]));
        recorder.content().await.is(200);
        recorder.transcript().await.refused(409, "TranscriptNotReady");
        // The meeting is told before the last row goes.
        let began = Instant::now();
        while !recorder.versions().await.is_empty() {
            assert!(began.elapsed() < PATIENCE, "{:?}", recorder.versions().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        room.ada.client.moved_to(&server).patch(format!("{path}/transcript/segments/0")).json(json!({"text": "x"})).await
            .refused(409, "TranscriptNotReady");
    }

    async fn noise_is_transcribed_as_nothing_and_what_is_no_sound_fails(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let noise = imported(&room, "audio/wav", crate::meetings::recordings::wav(480_000)).await;
        noise.until_transcript("READY").await;
        assert_eq!(noise.transcript().await.is(200).data()["segments"], json!([]));
        let mut broken = WEBM[..400].to_vec();
        broken.extend([0; 4000]);
        let broken = imported(&room, "audio/webm", broken).await;
        let failed = broken.until_transcript("FAILED").await;
        assert_eq!(failed["status"], "READY");
        broken.transcript().await.refused(409, "TranscriptNotReady");
    }

    async fn without_speech_recognition_there_is_none(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = imported(&room, "audio/webm", WEBM.to_vec()).await;
        assert_eq!(recorder.until("READY").await["transcriptStatus"], "NONE");
        recorder.transcript().await.refused(409, "TranscriptNotReady");
        recorder.transcribe_again(json!({})).await.refused(409, "InvalidState");
        assert_eq!(recorder.versions().await, Vec::<Value>::new());
    }
}

fn is_what_was_said(transcript: &Value) {
    let errors = word_errors(SPOKEN, &text_of(transcript));
    assert!(errors <= 0.15, "{errors}: {transcript}");
    let times: Vec<u64> = transcript["segments"].as_array().unwrap().iter().flat_map(times).collect();
    assert!(times.is_sorted() && times.last().is_some_and(|end| *end <= 14_500), "{times:?}");
}

fn times(segment: &Value) -> [u64; 2] {
    [segment["startMs"].as_u64().unwrap(), segment["endMs"].as_u64().unwrap()]
}

/// Waits until a version is shown; returns all versions.
async fn until_current(recorder: &Recorder, number: u64) -> Vec<Value> {
    let began = std::time::Instant::now();
    loop {
        let versions = recorder.versions().await;
        if versions.iter().any(|one| one["number"] == number && one["isCurrent"] == true) {
            return versions;
        }
        assert!(began.elapsed() < super::PATIENCE, "{versions:?}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
