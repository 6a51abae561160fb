//! Tests transcripts that a speech service makes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{MP3, PATIENCE, imported};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::ServerSetup;
use crate::support::speech_service::{FakeSpeechService, KEY, Trouble};

/// More than one piece.
const TIMES: usize = 10;

fn segments(transcript: &Value) -> Vec<(u64, u64, String)> {
    let segments = transcript["segments"].as_array().unwrap().iter();
    let of = |one: &Value| {
        let text = one["text"].as_str().unwrap().to_owned();
        (one["startMs"].as_u64().unwrap(), one["endMs"].as_u64().unwrap(), text)
    };
    segments.map(of).collect()
}

on_both! {
    async fn a_service_that_fails_in_all_ways_loses_and_repeats_no_segment(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let whole = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        whole.until_transcript("READY").await;
        let transcript = whole.transcript().await.is(200).data().clone();
        assert_eq!(
            (&transcript["engine"], &transcript["model"], &transcript["language"]),
            (&json!("http"), &json!("whisper-1"), &json!("en"))
        );
        let wanted = segments(&transcript);
        assert!(wanted.len() >= 60 && wanted.last().unwrap().1 <= 146_000, "{wanted:?}");
        assert!(wanted.iter().is_sorted_by_key(|(start, ..)| start));
        let pieces = service.forms().len();
        assert!(pieces >= 2, "{pieces}");
        let language = |form: usize| service.forms()[form].get("language").cloned();
        assert_eq!((language(0), language(1)), (None, Some(b"en".to_vec())), "once it is known it is told");

        service.fails(&[Trouble::Busy, Trouble::Failing, Trouble::Cut]);
        let troubled = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        let began = Instant::now();
        while service.troubles() > 0 {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        service.fails(&[Trouble::WrongJson]);
        troubled.until_transcript("READY").await;
        assert_eq!(service.troubles(), 0);
        assert_eq!(segments(troubled.transcript().await.is(200).data()), wanted);

        // What is no speech is never sent.
        let sent = service.forms().len();
        let mut silence = crate::meetings::recordings::wav(480_000);
        silence[44..].fill(0);
        let silence = imported(&room, "audio/wav", silence).await;
        silence.until_transcript("READY").await;
        let transcript = silence.transcript().await.is(200).data().clone();
        assert_eq!((&transcript["segments"], service.forms().len()), (&json!([]), sent));
    }

    async fn a_server_that_is_killed_while_the_service_is_silent_goes_on_behind_what_was_heard(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        recorder.until_transcript("READY").await;
        let wanted = segments(recorder.transcript().await.is(200).data());
        let pieces = service.forms().len();

        service.fails(&[Trouble::Slow, Trouble::Silent]);
        let recorder = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        let began = Instant::now();
        while service.forms().len() < pieces + 2 {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.kill();
        let server = setup.start(&service.settings());
        let recorder = recorder.at(&server);
        recorder.until_transcript("READY").await;
        assert_eq!(segments(recorder.transcript().await.is(200).data()), wanted);
        assert_eq!(service.forms().len(), pieces + pieces + 1, "only the silent piece is sent again");
    }

    async fn nothing_is_sent_once_a_consent_is_withdrawn(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let room = TestMeeting::open(&server).await;
        let scopes = ["RECORDING", "TRANSCRIPT", "AI_ANALYSIS"];
        let all = json!({"recordingConsent": true, "scopes": scopes, "wordingVersion": room.wording().await});
        let ada = room.joined(&room.ada).await;
        room.consents(&room.ada, &ada, all).await.is(200);
        let body = json!({"uploadMode": "CHUNKED", "mimeType": "audio/mpeg"});
        let recorder = Recorder::of(&room, body).await;
        recorder.spanning(0, &MP3.repeat(TIMES), 0, 1).await.is(200);
        // The service is busy for long enough to withdraw.
        service.fails(&[Trouble::Busy, Trouble::Busy, Trouble::Busy]);
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        let began = Instant::now();
        while service.forms().is_empty() {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        room.consents(&room.ada, &ada, json!({"recordingConsent": false})).await.is(200);
        let sent = service.forms().len();
        recorder.until_transcript("FAILED").await;
        assert_eq!(service.forms().len(), sent);
    }

    async fn what_the_service_refuses_ends_at_once_and_its_key_is_in_no_log_or_message(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let wrong = "sk-another-key-of-the-stories";
        let mut settings = service.settings();
        settings.push(("COLLOQUY__SPEECH__SERVICE_KEY", wrong));
        settings.push(("COLLOQUY__LOG__FILTER", "debug"));
        let server = setup.start(&settings);
        let room = TestMeeting::open(&server).await;
        let recorder = imported(&room, "audio/mpeg", MP3.to_vec()).await;
        recorder.until_transcript("FAILED").await;
        let refused = recorder.transcript().await.refused(409, "TranscriptNotReady");
        assert!(refused.text().contains("The speech service refused the recording: 401 it does not accept"), "{}", refused.text());
        assert!(!refused.text().contains(wrong));
        // A model that the service does not have.
        let own = {
            drop(server);
            setup.start(&service.settings())
        };
        let recorder = recorder.at(&own);
        recorder.transcribe_again(json!({"model": "whisper-large"})).await.is(202);
        let began = Instant::now();
        loop {
            let newest = recorder.versions().await[0].clone();
            if newest["status"] == "FAILED" && newest["number"] == 2 {
                assert!(newest["errorMessage"].as_str().unwrap().contains("404 The model `whisper-large` does not exist"), "{newest}");
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{newest}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        drop(own);
        for entry in std::fs::read_dir(&setup.data).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "log" || ending == "out") {
                let log = std::fs::read_to_string(&path).unwrap();
                assert!(!log.contains(KEY) && !log.contains(wrong), "{}", path.display());
            }
        }
    }
}
