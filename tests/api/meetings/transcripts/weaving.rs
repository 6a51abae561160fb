//! Tests recordings that were made at the same time: their transcripts are woven by time, and say who speaks.

use std::path::Path;

use serde_json::{Value, json};

use super::{MP3, imported, listening, models};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::speech_service::FakeSpeechService;
use crate::support::{Role, ServerSetup};

/// Two voices, in turns.
const TWO_VOICES: &[u8] = include_bytes!("../../../samples/speech/two-voices.webm");

/// Whether the model that tells voices apart is in a folder.
fn has_speakers(models: &Path) -> bool {
    let is_there = models.join("speaker-ge2e/manifest.json").exists();
    if !is_there {
        println!("SKIPPED: COLLOQUY_TEST_MODELS names no folder with speaker-ge2e");
    }
    is_there
}

/// Starts to record, the voice of a participant or that of everyone.
async fn recorded(room: &TestMeeting, track: Option<&str>) -> Recorder {
    let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/mpeg", "trackParticipantId": track});
    let recorder = Recorder::of(room, body).await;
    recorder.spanning(0, MP3, 0, 1).await.is(200);
    recorder
}

async fn woven(recorder: &Recorder) -> Vec<Value> {
    let answer = recorder.client.get(format!("{}/transcript?woven=true", recorder.path)).await.is(200);
    answer.data()["segments"].as_array().unwrap().clone()
}

async fn segments(recorder: &Recorder) -> Vec<Value> {
    recorder.transcript().await.is(200).data()["segments"].as_array().unwrap().clone()
}

on_both! {
    async fn tracks_are_woven_by_time_and_a_run_reads_them_as_one_conversation(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let scopes = ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"];
        let all = json!({"recordingConsent": true, "scopes": scopes, "wordingVersion": room.wording().await});
        let eve = room.member(&server, Role::Stakeholder).await;
        let (ada, id) = (room.joined(&room.ada).await, room.joined(&eve).await);
        room.consents(&room.ada, &ada, all.clone()).await.is(200);
        room.consents(&eve, &id, all).await.is(200);
        let (own, hers) = (recorded(&room, Some(&ada)).await, recorded(&room, Some(&id)).await);
        for recorder in [&own, &hers] {
            recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
            recorder.until_transcript("READY").await;
        }
        let says = async |recorder: &Recorder, index: usize, text: &str| {
            let patch = format!("{}/transcript/segments/{index}", recorder.path);
            room.ada.client.patch(patch).json(json!({"text": text})).await.is(200);
        };
        says(&own, 0, "The portal must let a customer cancel a booking.").await;
        says(&hers, 0, "Good.").await;
        says(&hers, 1, "The system shall send a reminder by mail.").await;

        let together = woven(&own).await;
        let alone = [segments(&own).await, segments(&hers).await];
        assert_eq!(together.len(), alone[0].len() + alone[1].len());
        let of = |which: &Recorder| together.iter().filter(|one| one["recordingId"] == which.id).collect::<Vec<_>>();
        assert!(of(&own).iter().zip(&alone[0]).all(|(one, own)| **one == *own), "its own times are the ones that count");
        let late = of(&hers)[0]["startMs"].as_u64().unwrap() - alone[1][0]["startMs"].as_u64().unwrap();
        assert!(late < 10_000, "her track began a little later: {late} ms");
        assert!(of(&hers).iter().all(|one| one["speaker"]["participantId"] == json!(id)));
        let first: Vec<&Value> = together.iter().take(2).map(|one| &one["recordingId"]).collect();
        assert_eq!(first, [&json!(own.id), &json!(hers.id)]);
        let text = own.client.get(format!("{}/transcript?woven=true&format=TEXT", own.path)).await.is(200);
        assert!(text.text().contains("cancel a booking.\n") && text.text().contains("reminder by mail.\n"), "{}", text.text());
        own.client.get(format!("{}/transcript?woven=1", own.path)).await.refused(422, "ValidationError");

        let found = room.analysed().await;
        for (words, recorder, segment) in [("cancel a booking", &own, &alone[0][0]), ("reminder by mail", &hers, &alone[1][1])] {
            let cited: Vec<Value> = found["requirements"]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|one| one["sources"].as_array().unwrap().clone())
                .collect();
            let source = cited.iter().find(|source| source["quote"].as_str().unwrap().contains(words));
            let source = source.unwrap_or_else(|| panic!("{words} is not found: {found}"));
            assert_eq!((&source["recordingId"], &source["kind"]), (&json!(recorder.id), &json!("RECORDING")));
            assert_eq!((&source["startMs"], &source["speaker"]), (&segment["startMs"], &segment["speaker"]["name"]));
        }
        assert_eq!(found["metrics"]["sources"], 1, "the meeting is one conversation");
    }

    async fn a_recording_of_everyone_knows_by_the_tracks_beside_it_who_speaks(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let scopes = ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"];
        let all = json!({"recordingConsent": true, "scopes": scopes, "wordingVersion": room.wording().await});
        let ada = room.joined(&room.ada).await;
        room.consents(&room.ada, &ada, all).await.is(200);
        let (track, mixed) = (recorded(&room, Some(&ada)).await, recorded(&room, None).await);
        // It waits for the track, although it is complete before.
        mixed.stop(json!({"lastChunkIndex": 0})).await.is(200);
        mixed.until("READY").await;
        track.stop(json!({"lastChunkIndex": 0})).await.is(200);
        track.until_transcript("READY").await;
        mixed.until_transcript("READY").await;
        let heard = segments(&mixed).await;
        assert!(heard.len() >= 3 && heard.iter().all(|one| one["speaker"]["participantId"] == json!(ada)), "{heard:?}");
        // What the track has too is said once.
        let together = woven(&mixed).await;
        assert!(together.iter().all(|one| one["recordingId"] == track.id), "{together:?}");
        assert_eq!(together.len(), segments(&track).await.len());
    }
}

// The database has no part in these.
on_sqlite! {
    async fn voices_of_a_recording_of_everyone_are_told_apart(setup: ServerSetup) {
        let Some(models) = models().filter(|folder| has_speakers(folder)) else { return };
        let server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/webm", TWO_VOICES.to_vec()).await;
        recorder.until_transcript("READY").await;
        let heard = segments(&recorder).await;
        let speaker_of = |heard: &[Value], words: &str| -> Value {
            let said = heard.iter().find(|one| one["text"].as_str().unwrap().contains(words));
            said.unwrap_or_else(|| panic!("nobody says {words}: {heard:?}"))["speaker"]["name"].clone()
        };
        for (words, speaker) in [
            ("two hours before", "Speaker 1"),
            ("seven", "Speaker 1"),
            ("confirmation", "Speaker 2"),
            ("reception", "Speaker 2"),
            ("pays for", "Speaker 2"),
        ] {
            assert_eq!(speaker_of(&heard, words), speaker, "{words}");
        }
        assert!(heard.iter().all(|one| one["speaker"]["participantId"] == Value::Null));
        // Who is named once is named everywhere.
        let index = heard.iter().find(|one| one["speaker"]["name"] == "Speaker 2").unwrap()["index"].clone();
        let patch = format!("{}/transcript/segments/{index}", recorder.path);
        room.ada.client.patch(patch).json(json!({"speaker": {"name": "Marcus", "everywhere": true}})).await.is(200);
        let named = segments(&recorder).await;
        assert_eq!((speaker_of(&named, "pays for"), speaker_of(&named, "two hours before")), (json!("Marcus"), json!("Speaker 1")));
    }
}
