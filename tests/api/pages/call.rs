//! Calls through a real LiveKit server, by browsers with fake devices, where COLLOQUY_TEST_LIVEKIT names its program; the
//! scenes are in tests/fakes/scenes/call.mjs.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use livekit_api::access_token::{AccessToken, VideoGrants};
use serde_json::{Value, json};

use super::browser::{Browser, Story, account};
use super::recording;
use crate::meetings::invitations::mailed;
use crate::meetings::participants::TestMeeting;
use crate::support::builders::fresh_email;
use crate::support::client::plain_http;
use crate::support::livekit::{KEY, SECRET};
use crate::support::programs::free_ports;
use crate::support::real_livekit::RealLiveKit;
use crate::support::{Server, ServerSetup};

/// A scheduled meeting on a server at an address that stays when it is restarted, with a real media server.
struct RealStage {
    media: RealLiveKit,
    server: Server,
    room: TestMeeting,
    listen: String,
}

impl RealStage {
    /// Returns `None` without LiveKit or a browser on this machine.
    async fn open(setup: &ServerSetup) -> Option<(Self, Browser)> {
        let mut media = RealLiveKit::new()?;
        let browser = Browser::start()?;
        let [port] = free_ports();
        let listen = format!("127.0.0.1:{port}");
        let server = setup.start(&settings(&media, &listen));
        media.start(&server).await;
        let room = TestMeeting::scheduled(&server, json!({})).await;
        Some((Self { media, server, room, listen }, browser))
    }

    fn name(&self) -> &str {
        self.room.path.trim_start_matches("/api/meetings/")
    }

    fn page(&self) -> String {
        format!("http://{}/meetings/{}/join", self.listen, self.name())
    }

    /// Invites a guest and returns what the scene needs of them.
    async fn guest(&self, name: &str, role: &str) -> Value {
        let email = fresh_email();
        let invitees = json!({"invitees": [{"email": email, "role": role}]});
        self.room.ada.client.post(format!("{}/invitations/guests", self.room.path)).json(invitees).await.is(201);
        let token = mailed(&self.server, &email, 1).await;
        json!({"name": name, "link": format!("{}#invitation={token}", self.page())})
    }
}

fn settings<'a>(media: &'a RealLiveKit, listen: &'a str) -> Vec<(&'a str, &'a str)> {
    [&media.settings()[..], &[("COLLOQUY__SERVER__LISTEN", listen)]].concat()
}

/// Waits until `is` holds for what GET returns for the path. Panics after 60 s.
async fn until(server: &Server, room: &TestMeeting, path: &str, is: impl Fn(&Value) -> bool) {
    let client = room.ada.client.moved_to(server);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = client.get(format!("{}{path}", room.path)).await.is(200);
        if is(found.data()) {
            return;
        }
        assert!(Instant::now() < deadline, "{}", found.text());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Returns the mean volume of a recording in dB; `None` without ffmpeg on this machine. Silence is below -90 dB.
fn mean_volume(content: &[u8]) -> Option<f64> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.webm");
    std::fs::write(&file, content).unwrap();
    let detect = ["-af", "volumedetect", "-f", "null", "-"];
    let Ok(output) = Command::new("ffmpeg").args(["-hide_banner", "-nostats", "-i"]).arg(&file).args(detect).output()
    else {
        println!("SKIPPED ffmpeg: not on this machine");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let volume = text.split("mean_volume: ").nth(1).unwrap_or_else(|| panic!("{text}"));
    Some(volume.split(' ').next().unwrap().parse().unwrap())
}

on_sqlite! {
    async fn people_hear_each_other_though_our_server_restarts_and_who_is_removed_is_out(setup: ServerSetup) {
        let Some((stage, browser)) = RealStage::open(&setup).await else { return };
        let guests = [stage.guest("Grace", "PARTICIPANT").await, stage.guest("Linus", "PARTICIPANT").await];
        let observer = stage.guest("Otto", "OBSERVER").await;
        let story = Story::listen().await;
        let people = format!("http://{}{}/participants", stage.listen, stage.room.path);
        let scene = json!({
            "scene": "call", "page": stage.page(), "host": account(&stage.room.ada), "guests": guests, "observer": observer,
            "remove": {"people": people, "authorization": format!("Bearer {}", stage.room.ada.client.token())},
            "story": story.url(),
        });
        let RealStage { media, server, room, listen } = stage;
        let connected = |list: &Value| {
            let items = list["items"].as_array().unwrap();
            items.len() == 4 && items.iter().all(|one| one["connected"] == true && one["status"] == "JOINED")
        };
        let restart = async {
            let down = story.called().await;
            until(&server, &room, "/participants", connected).await;
            server.kill();
            down.answer().await;
            let up = story.called().await;
            let server = setup.start(&settings(&media, &listen));
            up.answer().await;
            server
        };
        let (_, server) = tokio::join!(browser.plays(scene), restart);

        until(&server, &room, "", |meeting| meeting["status"] == "ENDED").await;
        let deadline = Instant::now() + Duration::from_secs(30);
        while !media.webhooks().iter().any(|event| event == "room_finished") {
            assert!(Instant::now() < deadline, "{:?}", media.webhooks());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let webhooks = media.webhooks();
        let count = |name: &str| webhooks.iter().filter(|event| *event == name).count();
        assert!(count("room_started") == 1 && count("participant_joined") >= 4, "{webhooks:?}");
        assert!(count("participant_left") >= 4 && count("track_published") >= 3, "{webhooks:?}");
    }

    async fn a_call_is_recorded_with_everybodys_voice_though_the_network_drops_and_our_server_restarts(setup: ServerSetup) {
        let Some((stage, browser)) = RealStage::open(&setup).await else { return };
        let guests = [stage.guest("Grace", "PARTICIPANT").await, stage.guest("Linus", "PARTICIPANT").await];
        let story = Story::listen().await;
        let scene = json!({
            "scene": "recordedCall", "page": stage.page(), "host": account(&stage.room.ada), "guests": guests, "seconds": 20,
            "story": story.url(),
        });
        let RealStage { media, server, room, listen } = stage;
        let restart = async {
            let called = story.called().await;
            recording::until(&server, &room, |recording| recording["chunkCount"].as_u64() >= Some(1)).await;
            server.kill();
            let server = setup.start(&settings(&media, &listen));
            called.answer().await;
            server
        };
        let (found, server) = tokio::join!(browser.plays(scene), restart);
        let content = recording::assert_is_stored(&server, &room, &found).await;
        if let Some(loudness) = mean_volume(&content) {
            assert!(loudness > -60.0, "{loudness} dB: the guests are not in the recording");
        }
    }

    async fn each_voice_is_a_recording_of_its_own_where_the_host_wants_that(setup: ServerSetup) {
        let Some((stage, browser)) = RealStage::open(&setup).await else { return };
        let guests = [stage.guest("Grace", "PARTICIPANT").await, stage.guest("Linus", "PARTICIPANT").await];
        let scene = json!({
            "scene": "voices", "page": stage.page(), "host": account(&stage.room.ada), "guests": guests, "seconds": 6,
        });
        browser.plays(scene).await;

        let ready = |list: &Value| {
            let items = list["items"].as_array().unwrap();
            items.len() == 3 && items.iter().all(|one| one["status"] == "READY")
        };
        until(&stage.server, &stage.room, "/recordings", ready).await;
        let people = stage.room.ada.client.get(format!("{}/participants", stage.room.path)).await.is(200);
        let list = stage.room.ada.client.get(format!("{}/recordings", stage.room.path)).await.is(200);
        let mut durations = BTreeMap::new();
        for recording in list.data()["items"].as_array().unwrap() {
            let people = people.data()["items"].as_array().unwrap();
            let whose = people.iter().find(|one| one["id"] == recording["trackParticipantId"]).expect("somebody's voice");
            durations.insert(whose["role"].as_str().unwrap().to_owned(), recording["durationSeconds"].as_f64().unwrap());
            let content = format!("/api/recordings/{}/content", recording["id"].as_str().unwrap());
            let content = stage.room.ada.client.get(content).await.is(200).bytes;
            assert!(mean_volume(&content).is_none_or(|loudness| loudness > -60.0), "{whose}");
        }
        assert!(durations["HOST"] + 4.0 < durations["PARTICIPANT"], "{durations:?}");
    }

    async fn a_room_that_is_closed_at_the_media_server_ends_the_meeting(setup: ServerSetup) {
        let Some((stage, browser)) = RealStage::open(&setup).await else { return };
        let story = Story::listen().await;
        let scene = json!({
            "scene": "closed", "page": stage.page(), "host": account(&stage.room.ada), "story": story.url(),
        });
        let close = async {
            let called = story.called().await;
            until(&stage.server, &stage.room, "/participants", |list| list["items"][0]["connected"] == true).await;
            let grants = VideoGrants { room_create: true, ..VideoGrants::default() };
            let token = AccessToken::with_api_key(KEY, SECRET).with_grants(grants).to_jwt().unwrap();
            let url = stage.media.twirp("DeleteRoom");
            let call = plain_http().build().unwrap().post(url).bearer_auth(token).json(&json!({"room": stage.name()}));
            assert!(call.send().await.unwrap().status().is_success());
            called.answer().await;
        };
        tokio::join!(browser.plays(scene), close);
        until(&stage.server, &stage.room, "", |meeting| meeting["endReason"] == "ROOM_FINISHED").await;
    }
}
