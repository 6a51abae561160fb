//! Tests uploadRecordingFile: whole, cut and resumed, begun anew.

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use actors::time::Time;
use colloquy::db::schema::recording_chunks;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::ends::stored;
use super::{Recorder, digest, sum, wav};
use crate::meetings::participants::TestMeeting;
use crate::support::{Server, World};

/// The files that a recording has.
fn files_of(server: &Server, recorder: &Recorder) -> Vec<String> {
    stored(server).into_iter().filter(|path| path.contains(&recorder.id)).collect()
}

impl Recorder {
    pub async fn single(room: &TestMeeting) -> Self {
        let attestation = json!({"text": "Everyone agreed."});
        let body = json!({"uploadMode": "SINGLE_FILE", "mimeType": "audio/wav", "consentAttestation": attestation});
        Self::of(room, body).await
    }

    fn put(&self, bytes: &[u8]) -> crate::support::client::Request {
        self.client.put(format!("{}/file", self.path)).body("audio/wav", bytes.to_vec())
    }

    fn rest(&self, bytes: &[u8], start: usize) -> crate::support::client::Request {
        let range = format!("bytes {start}-{}/{}", bytes.len() - 1, bytes.len());
        self.put(&bytes[start..]).header("content-range", range)
    }

    /// Sends the beginning of a file, and closes the connection.
    async fn cut(&self, bytes: &[u8], at: usize) {
        let address = self.client.base().strip_prefix("http://").unwrap().to_owned();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "PUT {}/file HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-type: audio/wav\r\ncontent-length: {}\r\n\r\n",
            self.path,
            self.client.token(),
            bytes.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&bytes[..at]).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

on_both! {
    async fn a_file_is_uploaded_at_once(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::single(&room).await;
        // Of more than one part.
        let whole = wav(20_000_000);
        let uploaded = recorder.put(&whole).header("content-digest", digest(&whole)).await.is(200);
        assert_eq!((&uploaded.data()["sizeBytes"], &uploaded.data()["status"]), (&json!(whole.len()), &json!("ACTIVE")));
        recorder.stop(json!({"durationSeconds": 7})).await.is(200);
        let ready = recorder.until("READY").await;
        assert_eq!(ready["sha256"], sum(&whole));
        assert_eq!(ready["durationSeconds"], 1250.0, "what the content tells, not what the client says");
        assert!(recorder.content().await.is(200).bytes == whole);
    }

    async fn an_upload_that_was_cut_is_resumed_where_the_status_says(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::single(&room).await;
        let whole = wav(300_000);
        recorder.cut(&whole, 100_000).await;
        let mut stored = 0;
        while stored == 0 {
            stored = recorder.status().await["sizeBytes"].as_u64().unwrap() as usize;
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        recorder.stop(json!({})).await.refused(409, "InvalidState");
        recorder.rest(&whole, stored + 1).await.refused(409, "InvalidState");
        recorder.rest(&whole, stored).header("content-range", "bytes 9-1/5").await.refused(400, "BadRequest");
        let rest = recorder.rest(&whole, stored).header("content-digest", digest(&whole[stored..]));
        assert_eq!(rest.await.is(200).data()["sizeBytes"], whole.len());
        recorder.stop(json!({})).await.is(200);
        assert_eq!(recorder.until("READY").await["sha256"], sum(&whole));
    }

    async fn a_file_is_begun_anew_and_nothing_stays_of_what_was_corrupted(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::single(&room).await;
        let (first, second) = (wav(5000), wav(6000));
        recorder.put(&first).header("content-digest", digest(&second)).await.refused(422, "DigestMismatch");
        assert_eq!(recorder.status().await["sizeBytes"], 0);
        recorder
            .put(b"<html> and more than is needed to see that this is no recording at all </html>")
            .await
            .refused(415, "UnsupportedMediaType");
        recorder.put(&first).await.is(200);
        recorder.put(&second).await.is(200);
        recorder.chunk(0, b"RIFF").await.refused(409, "InvalidState");
        recorder.stop(json!({})).await.is(200);
        assert_eq!(recorder.until("READY").await["sha256"], sum(&second));
        recorder.put(&first).await.refused(409, "InvalidState");
    }

    async fn what_was_corrupted_leaves_no_file(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::single(&room).await;
        // Of more than one part.
        let whole = wav(20_000_000);
        let other = digest(b"something else");
        recorder.put(&whole).header("content-digest", &other).await.refused(422, "DigestMismatch");
        assert_eq!(files_of(world.server, &recorder), Vec::<String>::new());
        // What was there before an upload went on stays.
        recorder.put(&whole[..5000]).await.is(200);
        let before = files_of(world.server, &recorder);
        assert_eq!(before.len(), 1, "{before:?}");
        recorder.rest(&whole, 5000).header("content-digest", &other).await.refused(422, "DigestMismatch");
        assert_eq!(files_of(world.server, &recorder), before);
        assert_eq!(recorder.rest(&whole, 5000).await.is(200).data()["sizeBytes"], whole.len());
    }

    async fn what_is_replaced_leaves_no_file_however_many_parts_it_has(world: World) {
        const MORE: usize = 1200;
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::single(&room).await;
        recorder.put(&wav(5000)).await.is(200);
        // As if it had been resumed as often.
        let id: Id<ids::Recording> = recorder.id.parse().unwrap();
        let files: Vec<Id<ids::ChunkFile>> = (0..MORE).map(|_| Id::generate()).collect();
        let folder = world.server.data.join("recordings").join(&recorder.id).join("chunks");
        let hash = "ab".repeat(32);
        for file in &files {
            std::fs::write(folder.join(format!("{file}-{hash}")), "x").unwrap();
        }
        let db = world.server.db().await;
        let written = db.write(move |conn| {
            Box::pin(async move {
                let first = recording_chunks::table.filter(recording_chunks::recording_id.eq(id));
                let first = first.select((recording_chunks::meeting_id, recording_chunks::stored_at));
                let (meeting_id, stored_at): (Id<Meeting>, Time) = first.first(conn).await?;
                for (number, file) in (1_i64..).zip(files) {
                    let row = (
                        recording_chunks::recording_id.eq(id),
                        recording_chunks::number.eq(number),
                        recording_chunks::meeting_id.eq(meeting_id),
                        recording_chunks::file_id.eq(file),
                        recording_chunks::bytes.eq(1_i64),
                        recording_chunks::sha256.eq(hash.clone()),
                        recording_chunks::stored_at.eq(stored_at),
                    );
                    diesel::insert_into(recording_chunks::table).values(row).execute(conn).await?;
                }
                Ok::<_, DbError>(())
            })
        });
        written.await.unwrap();
        assert_eq!(files_of(world.server, &recorder).len(), MORE + 1);
        recorder.put(&wav(6000)).await.is(200);
        let left = files_of(world.server, &recorder);
        assert_eq!(left.len(), 1, "{left:?}");
    }

    async fn nothing_uploaded_is_no_recording(world: World) {
        let room = TestMeeting::open(world.server).await;
        let recorder = Recorder::single(&room).await;
        let stopped = recorder.stop(json!({})).await.is(200);
        assert_eq!((&stopped.data()["status"], &stopped.data()["errorCode"]), (&json!("FAILED"), &json!("NoContent")));
        assert_eq!(recorder.stop(json!({})).await.is(200).data(), stopped.data());
    }
}
