//! Tests a disk that is full (R17): the recordings' folder is a file system of a few mebibytes, in a mount namespace of the
//! server's own. Prints SKIPPED where the machine allows no such namespace.

use std::path::PathBuf;

use serde_json::json;

use super::{Recorder, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::{Server, ServerSetup, small_disk};

const MIB: usize = 1024 * 1024;
/// A file that takes up room.
fn filler(server: &Server) -> PathBuf {
    small_disk::inside(server, "recordings/filler")
}

on_sqlite! {
    async fn a_full_disk_is_said_and_nothing_half_written_is_called_done(setup: ServerSetup) {
        // Room for the whole twice, which assembling takes, and some more.
        let whole = wav(u32::try_from(4 * MIB - 44).unwrap());
        let pieces: Vec<&[u8]> = whole.chunks(MIB).collect();
        let Some(server) = small_disk::start(&setup, ("recordings", 9 * MIB), &[], r#"exec "$@""#) else { return };
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        // At every step: less than a chunk is left, none at all, or too little to join what is there.
        for (index, piece) in pieces.iter().enumerate() {
            for left in [0, MIB / 2, MIB - 1] {
                let taken = index * MIB;
                std::fs::write(filler(&server), vec![0; 9 * MIB - taken - left]).unwrap();
                recorder.chunk(index, piece).await.refused(507, "StorageFull");
                let now = recorder.status().await;
                assert_eq!((&now["chunkCount"], &now["sizeBytes"]), (&json!(index), &json!(taken)), "{left} bytes were left");
            }
            std::fs::remove_file(filler(&server)).unwrap();
            recorder.chunk(index, piece).await.is(200);
        }
        std::fs::write(filler(&server), vec![0; 3 * MIB]).unwrap();
        recorder.stop(json!({"lastChunkIndex": pieces.len() - 1})).await.is(200);
        while !server.read_log().contains("assemble-recording") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(recorder.status().await["status"], "FINALIZING", "it goes on once there is room again");
        std::fs::remove_file(filler(&server)).unwrap();
        assert_eq!(recorder.until("READY").await["sha256"], sum(&whole));
        assert!(recorder.content().await.is(200).bytes == whole);
    }
}
