//! Tests how recordings end: late, incomplete, given up, expired, deleted.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::{Recorder, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::{Server, ServerSetup};

/// The files of all recordings' contents.
pub fn stored(server: &Server) -> Vec<String> {
    fn below(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, found) } else { found.push(path.display().to_string()) }
        }
    }
    let mut found = Vec::new();
    below(&server.data.join("recordings"), &mut found);
    // Deletions wait at this one while a backup is taken.
    found.retain(|path| !path.ends_with("/deletions.lock"));
    found
}

pub async fn until_gone(server: &Server, what: &str) {
    for _ in 0..1500 {
        if !stored(server).iter().any(|path| path.contains(what)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} is still there: {:?}", stored(server));
}

on_both! {
    async fn chunks_that_stay_missing_are_listed_and_late_ones_repair_the_recording(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__RECORDINGS__LATE_SECONDS", "0")]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(3000);
        let pieces: Vec<&[u8]> = whole.chunks(1000).collect();
        recorder.chunk(0, pieces[0]).await.is(200);
        recorder.chunk(2, pieces[2]).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 3})).await.is(200);
        let failed = recorder.until("FAILED").await;
        assert_eq!((&failed["errorCode"], &failed["missingChunks"]), (&json!("MissingChunks"), &json!([1, 3])));
        assert!(failed["errorMessage"].as_str().unwrap().contains("1, 3"), "{failed}");
        recorder.content().await.refused(409, "RecordingNotReady");
        recorder.chunk(1, pieces[1]).await.is(200);
        recorder.chunk(3, pieces[3]).await.is(200);
        assert_eq!(recorder.until("READY").await["sha256"], sum(&whole));
    }

    async fn without_the_last_chunk_what_is_there_is_assembled_after_a_while(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__RECORDINGS__QUIET_SECONDS", "1"), ("COLLOQUY__RECORDINGS__REPAIR_SECONDS", "2")]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(2000);
        recorder.chunk(0, &whole[..1000]).await.is(200);
        recorder.chunk(1, &whole[1000..]).await.is(200);
        recorder.chunk(3, b"behind a gap").await.is(200);
        recorder.stop(json!({})).await.is(200);
        assert_eq!(recorder.until("READY").await["sha256"], sum(&whole));
        until_gone(&server, "chunks").await;
        // Nothing at all comes to nothing.
        let empty = Recorder::chunked(&room).await;
        empty.stop(json!({})).await.is(200);
        assert_eq!(empty.until("FAILED").await["errorCode"], "NoContent");
    }

    async fn deleting_a_recording_or_its_project_frees_the_space(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let deleted = Recorder::chunked(&room).await;
        deleted.chunk(0, &wav(100)).await.is(200);
        assert!(stored(&server).iter().any(|path| path.contains(&deleted.id)));
        deleted.client.delete(&deleted.path).await.is(200);
        deleted.chunk(1, b"x").await.refused(404, "NotFound");
        until_gone(&server, &deleted.id).await;

        let ready = Recorder::chunked(&room).await;
        ready.chunk(0, &wav(100)).await.is(200);
        ready.stop(json!({"lastChunkIndex": 0})).await.is(200);
        ready.until("READY").await;
        until_gone(&server, "chunks").await;
        assert_eq!(stored(&server).len(), 1, "{:?}", stored(&server));
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        room.ada.client.delete(format!("/api/projects/{}", room.project)).await.is(200);
        until_gone(&server, &ready.id).await;
    }

    async fn content_expires_and_an_upload_that_is_given_up_frees_its_space(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__RECORDINGS__KEEP_AUDIO_SECONDS", "1"), ("COLLOQUY__RECORDINGS__ABANDONED_SECONDS", "1")]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        recorder.chunk(0, &wav(100)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        let expired = recorder.until("EXPIRED").await;
        assert!(expired["sha256"].is_string() && expired["expiresAt"].is_string(), "{expired}");
        recorder.content().await.refused(410, "Gone");
        until_gone(&server, &recorder.id).await;
        let file = Recorder::single(&room).await;
        file.client.put(format!("{}/file", file.path)).body("audio/wav", wav(100)).await.is(200);
        assert_eq!(file.until("FAILED").await["errorCode"], "Abandoned");
        until_gone(&server, &file.id).await;
        recorder.client.delete(&recorder.path).await.is(200);
    }

    async fn what_was_changed_in_the_store_is_refused_and_said(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let change = |what: &str| {
            let path = stored(&server).into_iter().find(|path| path.contains(what)).unwrap();
            let mut bytes = std::fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&path, bytes).unwrap();
        };
        let damaged = Recorder::chunked(&room).await;
        damaged.chunk(0, &wav(100)).await.is(200);
        change(&damaged.id);
        damaged.stop(json!({"lastChunkIndex": 0})).await.is(200);
        assert_eq!(damaged.until("FAILED").await["errorCode"], "Damaged");

        let recorder = Recorder::chunked(&room).await;
        recorder.chunk(0, &wav(100)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 0})).await.is(200);
        let content = recorder.until("READY").await["sha256"].as_str().unwrap().to_owned();
        recorder.content().await.is(200);
        // Its chunk has the same content, and may still be there: the name of its file ends with the hash.
        change(&format!("/{content}"));
        let refused = recorder.content().await.refused(500, "InternalServerError");
        assert!(refused.text().contains("changed"), "{}", refused.text());
    }
}

// With a lease of ten seconds, each start after a kill takes as long on PostgreSQL; `random` kills there too.
on_sqlite! {
    async fn what_a_kill_left_of_a_recording_that_goes_on_is_deleted_after_a_day(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(2000);
        recorder.chunk(0, &whole[..1000]).await.is(200);
        let named = stored(&server).into_iter().find(|path| path.contains(&recorder.id)).unwrap();
        server.kill();
        let left_behind = |hash: &str| {
            let path = Path::new(&named).with_file_name(format!("0189a0f0-0000-7000-8000-000000000000-{hash}"));
            std::fs::write(&path, "left behind").unwrap();
            path
        };
        let [old, young] = ["ab", "cd"].map(|digits| digits.repeat(32));
        let (old_path, young_path) = (left_behind(&old), left_behind(&young));
        for path in [Path::new(&named), old_path.as_path()] {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60)).unwrap();
        }
        let server = setup.start(&[]);
        until_gone(&server, &old).await;
        assert!(Path::new(&named).exists(), "a row names it");
        assert!(young_path.exists(), "its row may be on its way");
        let recorder = recorder.at(&server);
        recorder.chunk(1, &whole[1000..]).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 1})).await.is(200);
        assert_eq!(recorder.until("READY").await["sha256"], sum(&whole));
    }

    async fn a_server_that_was_killed_goes_on_where_the_rows_are(setup: ServerSetup) {
        let mut server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let mut recorder = Recorder::chunked(&room).await;
        let whole = wav(400_000);
        let pieces: Vec<&[u8]> = whole.chunks(5000).collect();
        for round in 0_u64..4 {
            // Some chunks are acknowledged, some on their way, when the server is killed.
            let wanted = recorder.status().await;
            let missing: Vec<usize> =
                (0..pieces.len()).filter(|index| *index as u64 >= wanted["nextChunkIndex"].as_u64().unwrap()).collect();
            let sending = missing.iter().rev().map(|index| recorder.chunk(*index, pieces[*index]).tried());
            let sent = tokio::time::timeout(Duration::from_millis(20 + 15 * round), futures_util::future::join_all(sending));
            // Whether they were answered or not, the next server knows.
            let _ = sent.await;
            server.kill();
            server = setup.start(&[]);
            recorder = recorder.at(&server);
        }
        recorder.stop(json!({"lastChunkIndex": pieces.len() - 1})).await.is(200);
        let left = recorder.status().await["missingChunks"].clone();
        for index in left.as_array().unwrap() {
            let index = usize::try_from(index.as_u64().unwrap()).unwrap();
            recorder.chunk(index, pieces[index]).await.is(200);
        }
        // Also while it is assembled.
        server.kill();
        server = setup.start(&[]);
        recorder = recorder.at(&server);
        assert_eq!(recorder.until("READY").await["sha256"], sum(&whole));
        assert_eq!(recorder.content().await.is(200).bytes, whole);
        until_gone(&server, "chunks").await;
        // What no row has known for a day is gone after the next start.
        server.kill();
        let left_over = |name: &str, age: u64| {
            let folder = setup.data.join("recordings").join(format!("01a20653-438b-714b-94fe-{name}")).join("chunks");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("x"), "left over").unwrap();
            let file = std::fs::File::options().write(true).open(folder.join("x")).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        };
        left_over("0f53bbaf7e2a", 60);
        left_over("1f53bbaf7e2a", 2 * 24 * 60 * 60);
        server = setup.start(&[]);
        until_gone(&server, "1f53bbaf7e2a").await;
        assert!(stored(&server).iter().any(|path| path.contains("0f53bbaf7e2a")), "its row may be on its way");
        assert_eq!(recorder.at(&server).content().await.is(200).bytes, whole);
    }
}
