//! Tests transcripts: made by the real model where COLLOQUY_TEST_MODELS names a folder with whisper-tiny.en (elsewhere
//! SKIPPED), resumed after kills, corrected, made anew, and held back without consent.

mod analysis;
mod attached;
mod consent;
mod corrections;
mod excerpts;
mod http;
mod kills;
mod making;
mod proposals;
mod turns;
mod waiting;
mod weaving;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::Recorder;
use crate::support::{Answer, Server, ServerSetup};

pub const MODEL: &str = "whisper-tiny.en";
/// How long a transcript may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

const WEBM: &[u8] = include_bytes!("../../../samples/speech/booking.webm");
pub const MP3: &[u8] = include_bytes!("../../../samples/speech/booking.mp3");
pub const SPOKEN: &str = include_str!("../../../samples/speech/booking.txt");

/// The folder of installed models; `None`, with a message, where there is none.
pub fn models() -> Option<PathBuf> {
    let folder = std::env::var_os("COLLOQUY_TEST_MODELS").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join(MODEL).join("manifest.json").exists());
    if folder.is_none() {
        println!("SKIPPED: COLLOQUY_TEST_MODELS names no folder with {MODEL}");
    }
    folder
}

/// Starts a server that recognises speech with the models of a folder.
fn listening(setup: &ServerSetup, models: &Path) -> Server {
    setup.start(&[("COLLOQUY__SPEECH__ENGINE", "embedded"), ("COLLOQUY__SPEECH__MODELS", models.to_str().unwrap())])
}

/// A recording of a file, in a meeting that nobody joined.
pub async fn imported(room: &TestMeeting, mime_type: &str, bytes: Vec<u8>) -> Recorder {
    let attestation = json!({"text": "Everyone agreed."});
    let body = json!({"uploadMode": "SINGLE_FILE", "mimeType": mime_type, "consentAttestation": attestation});
    let recorder = Recorder::of(room, body).await;
    recorder.client.put(format!("{}/file", recorder.path)).body(mime_type, bytes).await.is(200);
    recorder.stop(json!({})).await.is(200);
    recorder
}

impl Recorder {
    pub async fn transcript(&self) -> Answer {
        self.client.get(format!("{}/transcript", self.path)).await
    }

    pub async fn versions(&self) -> Vec<Value> {
        let listed = self.client.get(format!("{}/transcripts", self.path)).await.is(200);
        listed.data()["items"].as_array().unwrap().clone()
    }

    async fn transcribe_again(&self, body: Value) -> Answer {
        self.client.post(format!("{}/transcripts", self.path)).json(body).await
    }

    /// Waits until the recording's transcript has a status; returns the recording.
    pub async fn until_transcript(&self, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let now = self.status().await;
            if now["transcriptStatus"] == status {
                return now;
            }
            assert!(began.elapsed() < PATIENCE, "not {status}: {now}, {:?}", self.versions().await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let sign = |sign: char| if sign.is_alphanumeric() { sign.to_ascii_lowercase() } else { ' ' };
    text.chars().map(sign).collect::<String>().split_whitespace().map(str::to_owned).collect()
}

fn text_of(transcript: &Value) -> String {
    let segments = transcript["segments"].as_array().unwrap();
    segments.iter().map(|segment| segment["text"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

/// The share of words that have to be changed to turn one text into the other.
pub fn word_errors(wanted: &str, found: &str) -> f64 {
    let (wanted, found) = (words(wanted), words(found));
    let mut row: Vec<usize> = (0..=found.len()).collect();
    for (i, word) in wanted.iter().enumerate() {
        let mut left = i + 1;
        let mut diagonal = std::mem::replace(&mut row[0], left);
        for (j, other) in found.iter().enumerate() {
            let changed = (diagonal + usize::from(word != other)).min(left + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], changed);
            left = changed;
        }
    }
    row[found.len()] as f64 / wanted.len() as f64
}

/// Copies an installed model, as an installation would put it in place.
pub fn put_model(from: &Path, into: &Path) {
    let (from, incoming) = (from.join(MODEL), into.join(".incoming"));
    fs::create_dir_all(&incoming).unwrap();
    for file in fs::read_dir(&from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), incoming.join(file.file_name())).unwrap();
    }
    fs::rename(incoming, into.join(MODEL)).unwrap();
}
