//! A recording that a browser makes: what is stored is what the browser was told is safe, whatever the network and the
//! server do meanwhile, and the page shows what was said. The scene is in tests/fakes/scenes/join.mjs: the microphone
//! hears known words, the network drops twice, and the tab is closed with chunks unsent; here the server is killed, and the
//! speech model is installed once the page says that it is missing.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::browser::{Browser, Story, account};
use crate::meetings::participants::TestMeeting;
use crate::meetings::transcripts;
use crate::support::bucket::Bucket;
use crate::support::programs::free_ports;
use crate::support::{Role, Server, ServerSetup};

/// How long the browser records: longer than the speech lasts.
const SECONDS: u32 = 20;
/// What the microphone hears.
const SPEECH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/speech/booking.webm");

on_sqlite! {
    async fn a_recording_survives_a_lost_network_a_closed_tab_and_a_killed_server(setup: ServerSetup) {
        let Some(browser) = Browser::start() else { return };
        let folder = setup.data.join("models");
        let speech = [("COLLOQUY__SPEECH__ENGINE", "embedded"), ("COLLOQUY__SPEECH__MODELS", folder.to_str().unwrap())];
        let story = Story::listen().await;
        let models = transcripts::models();
        let install = async {
            let waits = story.called().await;
            if let Some(models) = &models {
                transcripts::put_model(models, &folder);
            }
            waits.answer().await;
        };
        let transcript = json!({"story": story.url(), "isMade": models.is_some()});
        let (shown, ()) = tokio::join!(record(&browser, &setup, &speech, transcript), install);

        // What the page says while there is no model, as the server says it.
        let waits = shown["waits"].as_str().unwrap();
        let command = format!("colloquy models install {}", transcripts::MODEL);
        assert!(waits.contains("waiting for a speech recognition model") && waits.contains(&command), "{shown}");
        if models.is_none() {
            return;
        }
        let segments = shown["segments"].as_array().unwrap();
        let text = segments.iter().map(|segment| segment["text"].as_str().unwrap()).collect::<Vec<_>>().join(" ");
        let errors = transcripts::word_errors(transcripts::SPOKEN, &text);
        assert!(errors <= 0.2, "{errors}: {shown}");
        let times: Vec<&str> = segments.iter().map(|segment| segment["time"].as_str().unwrap()).collect();
        assert!(times.is_sorted() && times.first() != times.last(), "{times:?}");
        assert!(segments.iter().all(|segment| segment["speaker"] == "Speaker 1"), "{shown}");
    }

    async fn a_host_uploads_a_recording_from_elsewhere_and_deletes_it(setup: ServerSetup) {
        let Some(browser) = Browser::start() else { return };
        let server = setup.start(&[]);
        let room = TestMeeting::scheduled(&server, json!({})).await;
        room.ada.client.post(format!("{}/start", room.path)).await.is(200);
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        let page = format!("http://{}/meetings/{}/join", server.public, room.path.trim_start_matches("/api/meetings/"));
        browser.plays(json!({"scene": "imported", "page": page, "host": account(&room.ada), "file": SPEECH})).await;

        let recordings = room.ada.client.get(format!("{}/recordings", room.path)).await.is(200);
        assert_eq!(recordings.data()["items"], json!([]), "neither the deleted one nor what was no recording");
        let record = room.ada.client.get(format!("{}/consents", room.path)).await.is(200);
        assert_eq!(record.data()["items"][0]["decision"], "ATTESTED");
    }

    async fn a_recording_in_a_bucket_survives_them_too(setup: ServerSetup) {
        let Some(browser) = Browser::start() else { return };
        let Some(bucket) = Bucket::new().await else { return };
        record(&browser, &setup, &bucket.settings(), Value::Null).await;
    }

    async fn while_somebody_has_not_agreed_the_browser_records_nothing(setup: ServerSetup) {
        let Some(browser) = Browser::start() else { return };
        let server = setup.start(&[]);
        let room = TestMeeting::scheduled(&server, json!({})).await;
        let other = room.member(&server, Role::Stakeholder).await;
        let page = format!("http://{}/meetings/{}/join", server.public, room.path.trim_start_matches("/api/meetings/"));
        let scene = json!({"scene": "pause", "page": page, "host": account(&room.ada), "other": account(&other)});
        browser.plays(scene).await;

        let recording = until(&server, &room, |recording| recording["status"] == "READY").await;
        let time = |value: &Value| chrono::DateTime::parse_from_rfc3339(value.as_str().unwrap()).unwrap();
        let [pause] = recording["pausedIntervals"].as_array().unwrap().as_slice() else { panic!("{recording}") };
        let paused = (time(&pause["to"]) - time(&pause["from"])).as_seconds_f64();
        let total = (time(&recording["stoppedAt"]) - time(&recording["startedAt"])).as_seconds_f64();
        let duration = recording["durationSeconds"].as_f64().unwrap();
        assert!(paused > 3.0 && (total - paused - duration).abs() < 1.0, "{duration} s of {total} s, paused for {paused} s");
    }
}

/// Plays the scene with the transcript that it is to see, if any; returns what the page showed of it.
async fn record(browser: &Browser, setup: &ServerSetup, settings: &[(&str, &str)], transcript: Value) -> Value {
    // The page goes on with the server that is started at the same address.
    let [port] = free_ports();
    let listen = format!("127.0.0.1:{port}");
    let settings = [settings, &[("COLLOQUY__SERVER__LISTEN", listen.as_str())]].concat();
    let server = setup.start(&settings);
    let room = TestMeeting::scheduled(&server, json!({})).await;
    let page = format!("http://{listen}/meetings/{}/join", room.path.trim_start_matches("/api/meetings/"));
    let scene = json!({
        "scene": "recording", "page": page, "host": account(&room.ada), "seconds": SECONDS, "speech": SPEECH,
        "transcript": transcript,
    });
    let kill = async {
        until(&server, &room, |recording| recording["chunkCount"].as_u64() >= Some(1)).await;
        server.kill();
        setup.start(&settings)
    };
    let (mut found, server) = tokio::join!(browser.plays(scene), kill);

    assert_is_stored(&server, &room, &found).await;
    found["shown"].take()
}

/// Asserts that the meeting's only recording becomes READY and has what the browser recorded, byte for byte and as long.
/// Returns the content.
pub async fn assert_is_stored(server: &Server, room: &TestMeeting, found: &Value) -> Vec<u8> {
    let recording = until(server, room, |recording| recording["status"] == "READY").await;
    let content =
        room.ada.client.moved_to(server).get(format!("/api/recordings/{}/content", recording["id"].as_str().unwrap()));
    let content = content.await.is(200).bytes;
    let sum = hex::encode(Sha256::digest(&content));
    assert_eq!(recording["sha256"], sum);
    let stored = content.len();
    assert_eq!(found["sha256"], sum, "{stored} bytes in {}, recorded {}", recording["chunkCount"], found["sizes"]);
    let recorded = found["seconds"].as_f64().unwrap();
    let duration = recording["durationSeconds"].as_f64().unwrap();
    assert!((duration - recorded).abs() < 1.0, "{duration} s, of {recorded} s that were recorded");
    if let Some(probed) = ffprobe(&content) {
        assert!((probed - recorded).abs() < 1.0, "ffprobe: {probed} s, of {recorded} s");
    }
    content
}

/// Waits until `is` holds for the meeting's only recording and returns it. Panics after 60 s.
pub async fn until(server: &Server, room: &TestMeeting, is: impl Fn(&Value) -> bool) -> Value {
    let client = room.ada.client.moved_to(server);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let list = client.get(format!("{}/recordings", room.path)).await.is(200);
        let items = list.data()["items"].as_array().unwrap();
        if let [recording] = items.as_slice()
            && is(recording)
        {
            return recording.clone();
        }
        assert!(Instant::now() < deadline, "{items:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns how many seconds ffprobe finds in the content; `None` without ffprobe on this machine.
fn ffprobe(content: &[u8]) -> Option<f64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.webm");
    std::fs::write(&file, content).unwrap();
    // What a browser records does not have its duration in its header: the packets do.
    let asked = ["-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0"];
    let Ok(output) = Command::new("ffprobe").args(asked).arg(&file).output() else {
        println!("SKIPPED ffprobe: not on this machine");
        return None;
    };
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    Some(last.split(',').filter_map(|number| number.parse::<f64>().ok()).sum())
}
