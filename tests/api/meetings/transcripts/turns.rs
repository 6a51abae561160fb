//! Tests that a long recording is transcribed in turns, between which others have theirs, and that a file has a longest duration.

use std::time::Instant;

use super::{MP3, PATIENCE, imported};
use crate::meetings::participants::TestMeeting;
use crate::support::ServerSetup;
use crate::support::speech_service::{FakeSpeechService, Trouble};

/// Twelve minutes: three turns.
const TIMES: usize = 52;

on_both! {
    async fn the_short_recording_of_another_project_waits_for_one_turn_of_a_long_one(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let server = setup.start(&service.settings());
        let (room, other) = (TestMeeting::open(&server).await, TestMeeting::open(&server).await);
        service.fails(&[Trouble::Held]);
        let long = imported(&room, "audio/mpeg", MP3.repeat(TIMES)).await;
        let began = Instant::now();
        while service.forms().is_empty() {
            assert!(began.elapsed() < PATIENCE);
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let short = imported(&other, "audio/mpeg", MP3.to_vec()).await;
        short.until_transcript("QUEUED").await;
        service.release();
        short.until_transcript("READY").await;
        long.until_transcript("READY").await;
        let sizes: Vec<usize> = service.forms().iter().map(|form| form["file"].len()).collect();
        // Some 15 s, of 32,000 bytes each; the pieces of the long one have 80 s and more, but for the last.
        let at = sizes.iter().position(|size| *size < 32_000 * 20).unwrap();
        let seconds = sizes[..at].iter().sum::<usize>() / 32_000;
        assert!((240..=420).contains(&seconds), "after {seconds} s: {sizes:?}");
        assert!(sizes.len() > at + 2, "the long one goes on: {sizes:?}");
        let transcript = long.transcript().await.is(200).data().clone();
        let segments = transcript["segments"].as_array().unwrap();
        let starts: Vec<u64> = segments.iter().map(|one| one["startMs"].as_u64().unwrap()).collect();
        assert!(starts.is_sorted() && *starts.last().unwrap() > 720_000, "{starts:?}");
        // One segment for each two seconds: nothing is missing between two turns, and nothing is there twice.
        let gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (1..=15_000).contains(gap)), "{gaps:?}");
    }

    async fn a_file_that_is_too_long_is_kept_and_its_transcript_fails_with_the_reason(setup: ServerSetup) {
        let service = FakeSpeechService::start();
        let mut settings = service.settings();
        settings.push(("COLLOQUY__SPEECH__LONGEST_SECONDS", "60"));
        let server = setup.start(&settings);
        let room = TestMeeting::open(&server).await;
        let long = imported(&room, "audio/mpeg", MP3.repeat(10)).await;
        let recording = long.until_transcript("FAILED").await;
        assert_eq!(recording["status"], "READY", "{recording}");
        let why = long.versions().await[0]["errorMessage"].as_str().unwrap().to_owned();
        assert!(why.contains("longer than 1 min"), "{why}");
        assert_eq!(service.forms().len(), 0, "nothing of it was sent");
        imported(&room, "audio/mpeg", MP3.to_vec()).await.until_transcript("READY").await;
    }
}
