//! Tests of tokens and signatures. The tests against LiveKit's own SDK are in tests/api/meetings/media.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use livekit_api::access_token::{AccessToken, TokenVerifier, VideoGrants};
use sha2::{Digest, Sha256};

use super::{LiveKit, LiveKitSettings, MediaServer, Pass, SOURCES, WebhookError, What};

const KEY: &str = "key";
const SECRET: &str = "a-secret-that-has-32-characters-x";

fn server() -> LiveKit {
    LiveKit::new(LiveKitSettings {
        url: "https://media.example.org/".to_owned(),
        api_url: String::new(),
        key: KEY.to_owned(),
        secret: SECRET.to_owned(),
        limit: Duration::from_secs(1),
    })
    .unwrap()
}

fn pass(may_publish: bool) -> Pass<'static> {
    Pass { room: "r", identity: "i", display_name: "Ada", may_publish, life: Duration::from_secs(600) }
}

#[test]
fn a_token_lets_one_person_into_one_room_and_never_records() {
    let server = server();
    assert_eq!(server.url(), "wss://media.example.org");
    for may_publish in [true, false] {
        let token = server.token(&pass(may_publish)).unwrap();
        let claims = TokenVerifier::with_api_key(KEY, SECRET).verify(&token.text).unwrap();
        assert_eq!((claims.sub.as_str(), claims.name.as_str(), claims.exp - claims.nbf), ("i", "Ada", 600));
        assert_eq!(i64::try_from(claims.exp).unwrap() * 1000, token.expires_at.millis());
        let sources = if may_publish { SOURCES.map(str::to_owned).to_vec() } else { Vec::new() };
        let expected = VideoGrants {
            room_join: true,
            room: "r".to_owned(),
            can_publish: Some(may_publish),
            can_subscribe: Some(true),
            can_publish_data: Some(may_publish),
            can_publish_sources: sources,
            can_update_own_metadata: Some(false),
            ..VideoGrants::default()
        };
        assert_eq!(claims.video, expected);
    }
}

fn signature(secret: &str, body: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(body));
    AccessToken::with_api_key(KEY, secret).with_sha256(&hash).to_jwt().unwrap()
}

#[test]
fn a_body_is_taken_as_it_was_signed_and_no_other() {
    let server = server();
    let body = r#"{"event":"room_started","id":"EV_1","createdAt":"1764000000","room":{"sid":"RM_1","name":"r"}}"#;
    let seal = server.seal(&signature(SECRET, body)).unwrap();
    let event = seal.open(body.as_bytes()).unwrap();
    assert_eq!((event.id.as_str(), event.room.as_str(), event.what), ("EV_1", "r", What::RoomStarted));
    assert_eq!(event.at.millis(), 1_764_000_000_000);
    assert_eq!(seal.open(format!("{body} ").as_bytes()), Err(WebhookError::NotSigned));
    assert!(server.seal(&signature("another-secret-of-32-characters-x", body)).is_none());
    // An access token for a room is not a valid webhook signature.
    assert!(server.seal(&server.token(&pass(true)).unwrap().text).is_none());
    assert!(server.seal("").is_none());
}

#[test]
fn an_event_with_words_that_are_newer_than_this_is_read_as_far_as_it_concerns_us() {
    let server = server();
    let body = r#"{"event":"participant_left","id":"EV_2","createdAt":1764000000,"shape":{"new":[1]},
        "room":{"name":"r","x":1},"participant":{"identity":"i","sid":"PA_1","joinedAtMs":"1764000000123",
        "state":"HALF_THERE","permission":{"canPublish":true,"new":1},"disconnectReason":"NEW_REASON"}}"#;
    let event = server.seal(&signature(SECRET, body)).unwrap().open(body.as_bytes()).unwrap();
    let What::Disconnected(connection) = event.what else { panic!("{event:?}") };
    assert_eq!((connection.identity.as_str(), connection.name.as_str()), ("i", "PA_1"));
    assert_eq!(connection.may_publish, Some(true));
    assert_eq!(connection.began_at.millis(), 1_764_000_000_123);
}
