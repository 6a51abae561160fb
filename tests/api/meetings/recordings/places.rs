//! Tests recordings in a bucket.

use serde_json::json;

use super::{Recorder, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::ServerSetup;
use crate::support::bucket::Bucket;

on_sqlite! {
    async fn a_recording_in_a_bucket_is_the_same_and_goes_with_its_objects(setup: ServerSetup) {
        let Some(bucket) = Bucket::new().await else { return };
        let server = setup.start(&bucket.settings());
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        // Sent in several parts.
        let whole = wav(11_000_000);
        let pieces: Vec<&[u8]> = whole.chunks(4_000_000).collect();
        for (index, piece) in pieces.iter().enumerate().rev() {
            recorder.chunk(index, piece).await.is(200);
        }
        server.kill();
        let server = setup.start(&bucket.settings());
        let recorder = recorder.at(&server);
        recorder.stop(json!({"lastChunkIndex": pieces.len() - 1})).await.is(200);
        let ready = recorder.until("READY").await;
        assert_eq!((&ready["sha256"], &ready["durationSeconds"]), (&json!(sum(&whole)), &json!(687.5)));
        let object = format!("recordings/{}/{}", recorder.id, sum(&whole));
        assert!(bucket.object(&object).await.is_some_and(|stored| stored == whole));
        assert!(recorder.content().await.is(200).bytes == whole);
        let path = format!("{}/content", recorder.path);
        let part = recorder.client.get(&path).header("range", "bytes=5000000-5000009").await.is(206);
        assert_eq!(part.bytes, &whole[5_000_000..5_000_010]);



        bucket.overwrite(&object, b"something else").await;
        recorder.content().await.refused(500, "InternalServerError");
        recorder.client.delete(&recorder.path).await.is(200);
        while bucket.object(&object).await.is_some() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}
