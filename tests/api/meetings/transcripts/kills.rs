//! Tests that a transcription goes on where it was when the server was killed (R8).

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{MP3, imported, listening, models, text_of};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::ServerSetup;

/// How often the recording says its sentences.
const TIMES: usize = 10;

on_both! {
    async fn a_server_that_is_killed_three_times_loses_and_repeats_no_segment(setup: ServerSetup) {
        let Some(models) = models() else { return };
        let mut server = listening(&setup, &models);
        let room = TestMeeting::open(&server).await;
        // What an undisturbed server makes of it.
        let whole = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        whole.until_transcript("READY").await;
        let wanted = whole.transcript().await.is(200).data().clone();
        let spoken = |of: &Value| text_of(of).to_lowercase();
        assert!(spoken(&wanted).matches("customer").count() > TIMES * 3 / 2, "{wanted}");

        let mut recorder = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        let mut done = 0.0;
        for kill in 0..3 {
            done = further(&recorder, done).await;
            server.kill();
            server = listening(&setup, &models);
            recorder = recorder.at(&server);
            assert!(recorder.versions().await[0]["doneSeconds"].as_f64().unwrap() >= done, "after kill {kill}");
        }
        recorder.until_transcript("READY").await;
        let transcript = recorder.transcript().await.is(200).data().clone();
        let (heard, expected) = (spoken(&transcript), spoken(&wanted));
        let segments = |of: &Value| of["segments"].as_array().unwrap().clone();
        let (found, wanted) = (segments(&transcript), segments(&wanted));
        let indices: Vec<u64> = found.iter().map(|one| one["index"].as_u64().unwrap()).collect();
        assert_eq!(indices, (0..found.len() as u64).collect::<Vec<_>>());
        let ends: Vec<u64> = found.iter().flat_map(|one| [&one["startMs"], &one["endMs"]]).map(|ms| ms.as_u64().unwrap()).collect();
        assert!(ends.is_sorted(), "{ends:?}");
        // The voice activity begins anew behind each kill, so that windows may be cut elsewhere: the words count.
        assert!(found.len().abs_diff(wanted.len()) <= 3, "{} segments for {}", found.len(), wanted.len());
        for word in ["customer", "station", "working days"] {
            let (found, wanted) = (heard.matches(word).count(), expected.matches(word).count());
            assert!(found.abs_diff(wanted) <= 2, "{word}: {found} for {wanted}");
        }
    }
}

/// Waits until more is transcribed than before, and the version is not complete; returns how much.
async fn further(recorder: &Recorder, before: f64) -> f64 {
    let began = Instant::now();
    loop {
        let version = recorder.versions().await.pop().unwrap_or_default();
        let done = version["doneSeconds"].as_f64().unwrap_or_default();
        assert_ne!(version["status"], "READY", "too fast to be killed: {version}");
        if done > before {
            return done;
        }
        assert!(began.elapsed() < super::PATIENCE, "{version}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
