//! Tests recordings: uploads in chunks and as one file, consent, the end of a recording, and what a kill leaves over.

mod chunks;
mod consent;
mod disk;
pub mod ends;
mod files;
mod places;
mod playback;
mod random;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::meetings::participants::TestMeeting;
use crate::support::client::Request;
use crate::support::{Answer, Client, Server};

/// How long a recording may take to reach a status.
const PATIENCE: Duration = Duration::from_secs(60);

/// A WAV file with so many bytes of sound: 16 kB for each second.
pub fn wav(bytes: u32) -> Vec<u8> {
    let mut wav = Vec::from(*b"RIFF");
    wav.extend((36 + bytes).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(8000_u32.to_le_bytes());
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(bytes.to_le_bytes());
    // Different everywhere, so that no two chunks are alike.
    let mut state = bytes | 1;
    wav.extend(
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(bytes as usize),
    );
    wav
}

pub fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A recording that a host uploads.
pub struct Recorder {
    pub client: Client,
    /// `/api/recordings/{id}`.
    pub path: String,
    pub id: String,
}

impl Recorder {
    /// Starts a recording of WAV chunks before anybody has joined the meeting.
    pub async fn chunked(room: &TestMeeting) -> Self {
        Self::of(room, json!({"uploadMode": "CHUNKED", "mimeType": "audio/wav"})).await
    }

    pub async fn of(room: &TestMeeting, body: Value) -> Self {
        let started = start(room, body).await.is(201);
        let id = started.text_of("id");
        Self { client: room.ada.client.clone(), path: format!("/api/recordings/{id}"), id }
    }

    pub fn at(&self, server: &Server) -> Self {
        Self { client: self.client.moved_to(server), path: self.path.clone(), id: self.id.clone() }
    }

    /// A chunk of a millisecond.
    pub fn chunk(&self, index: usize, bytes: &[u8]) -> Request {
        self.spanning(index, bytes, index as u64, index as u64 + 1)
    }

    pub fn spanning(&self, index: usize, bytes: &[u8], from_ms: u64, to_ms: u64) -> Request {
        let put = self.client.put(format!("{}/chunks/{index}", self.path));
        let put = put.body("application/octet-stream", bytes.to_vec());
        put.header("x-chunk-started-ms", from_ms.to_string()).header("x-chunk-ended-ms", to_ms.to_string())
    }

    pub async fn stop(&self, body: Value) -> Answer {
        self.client.post(format!("{}/stop", self.path)).json(body).await
    }

    pub async fn status(&self) -> Value {
        self.client.get(&self.path).await.is(200).data().clone()
    }

    /// Waits until the recording has a status; returns the recording.
    pub async fn until(&self, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let now = self.status().await;
            if now["status"] == status {
                return now;
            }
            assert!(began.elapsed() < PATIENCE, "not {status}: {now}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn content(&self) -> Answer {
        self.client.get(format!("{}/content", self.path)).await
    }
}

/// Sends startRecording and returns the response, whatever its status.
pub async fn start(room: &TestMeeting, body: Value) -> Answer {
    room.ada.client.post(format!("{}/recordings/start", room.path)).json(body).await
}

/// Returns the `Content-Digest` of some bytes.
pub fn digest(bytes: &[u8]) -> String {
    use base64::Engine;
    format!("sha-256=:{}:", base64::engine::general_purpose::STANDARD.encode(Sha256::digest(bytes)))
}
