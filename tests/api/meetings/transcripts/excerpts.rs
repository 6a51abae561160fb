//! Tests excerpts: a quote's own seconds of a recording.

use super::{MP3, WEBM, imported};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::wav;
use crate::support::ServerSetup;

/// How much sound a WAV file of 16 kHz has, in milliseconds.
fn milliseconds(wav: &[u8]) -> usize {
    assert_eq!((&wav[..4], &wav[8..12], wav[24]), (&b"RIFF"[..], &b"WAVE"[..], 0x80));
    (wav.len() - 44) / 32
}

on_both! {
    async fn an_excerpt_has_what_was_asked_for_and_no_more(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        // Of 8 kHz: an excerpt of 16 kHz has two samples for each.
        for (mime_type, bytes) in [("audio/wav", wav(160_000)), ("audio/webm", WEBM.to_vec()), ("audio/mpeg", MP3.to_vec())] {
            let recorder = imported(&room, mime_type, bytes).await;
            recorder.until("READY").await;
            let excerpt = |query: &str| recorder.client.get(format!("{}/content?{query}", recorder.path));
            let heard = excerpt("startMs=2000&endMs=4500").await.is(200);
            assert_eq!(heard.header("content-type"), Some("audio/wav"));
            assert_eq!(milliseconds(&heard.bytes), 2500);
            // The same sound as in a longer excerpt: where it begins does not matter.
            let longer = excerpt("startMs=0&endMs=5000").await.is(200);
            let (part, whole) = (&heard.bytes[44..], &longer.bytes[44 + 2000 * 32..44 + 4500 * 32]);
            let sample = |bytes: &[u8], at: usize| i32::from(i16::from_le_bytes([bytes[at], bytes[at + 1]]));
            let far = (0..part.len()).step_by(2).filter(|at| (sample(part, *at) - sample(whole, *at)).abs() > 600).count();
            assert!(far < part.len() / 200, "{far} of {} samples differ", part.len() / 2);
            // What is past the end is not made up.
            assert!(milliseconds(&excerpt("startMs=5000&endMs=60000").await.is(200).bytes) < 10_500);
            excerpt("startMs=100000&endMs=100500").await.refused(416, "RangeNotSatisfiable");
            for wrong in [
                "startMs=5",
                "endMs=5",
                "startMs=5&endMs=5",
                "startMs=0&endMs=300001",
                "startMs=-1&endMs=5",
                "startMs=a&endMs=5",
            ] {
                excerpt(wrong).await.refused(422, "ValidationError");
            }
            let stranger = server.user().await;
            stranger.client.get(format!("{}/content?startMs=0&endMs=500", recorder.path)).await.refused(403, "Forbidden");
        }
        let mut broken = WEBM[..400].to_vec();
        broken.extend([0; 4000]);
        let broken = imported(&room, "audio/webm", broken).await;
        broken.until("READY").await;
        broken.client.get(format!("{}/content?startMs=0&endMs=500", broken.path)).await.refused(409, "InvalidState");
    }
}
