//! A recording that a browser makes: what is stored is what it was told is safe, whatever the network and the server do
//! meanwhile. The scenes are in tests/parts/scenes/join.mjs.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::browser::{Browser, account};
use crate::support::{User, World};

on_sqlite! {
    async fn a_recording_survives_a_network_that_drops_and_a_tab_that_is_closed(world: World) {
        let Some(browser) = Browser::start() else { return };
        let host = world.user().await;
        let project = host.project().await;
        let meeting = host.meeting(&project).await;
        let seconds = 12;
        let scene = json!({
            "scene": "recording", "page": world.join_page(&meeting), "host": account(&host), "seconds": seconds,
        });
        let acknowledged = browser.plays(scene).await;

        let recording = ready(&host, &meeting).await;
        let content = host.client.get(format!("/api/recordings/{}/content", recording["id"].as_str().unwrap()));
        let content = content.await.is(200).bytes;
        let sum = hex::encode(Sha256::digest(&content));
        assert_eq!((recording["sha256"].as_str().unwrap(), acknowledged["sha256"].as_str().unwrap()), (&*sum, &*sum));
        let measured = acknowledged["seconds"].as_f64().unwrap();
        let duration = recording["durationSeconds"].as_f64().unwrap();
        assert!((duration - measured).abs() < 1.0, "{duration} s, of {measured} s that were recorded");
        if let Some(probed) = ffprobe(&content) {
            assert!((probed - measured).abs() < 1.0, "ffprobe: {probed} s, of {measured} s");
        }
    }
}

/// Waits until the meeting's only recording is READY and returns it. Panics after 60 s.
async fn ready(host: &User, meeting: &Value) -> Value {
    let path = format!("/api/meetings/{}/recordings", meeting["id"].as_str().unwrap());
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let list = host.client.get(&path).await.is(200);
        let items = list.data()["items"].as_array().unwrap().clone();
        assert_eq!(items.len(), 1, "{items:?}");
        if items[0]["status"] == "READY" {
            return items[0].clone();
        }
        assert!(std::time::Instant::now() < deadline, "{items:?}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// How many seconds ffprobe finds in the content; `None` without ffprobe on this machine.
fn ffprobe(content: &[u8]) -> Option<f64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.webm");
    std::fs::write(&file, content).unwrap();
    // What a browser records says nothing of its duration in its header: the packets do.
    let asked = ["-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0"];
    let run = Command::new("ffprobe").args(asked).arg(Path::new(&file)).output();
    let Ok(output) = run else {
        println!("SKIPPED ffprobe: not on this machine");
        return None;
    };
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    Some(last.split(',').filter_map(|number| number.parse::<f64>().ok()).sum())
}
