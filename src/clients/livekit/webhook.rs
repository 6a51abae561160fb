//! Webhooks of the media server: signatures, which cover the body, and events.
//!
//! Only the fields that this server needs are read, since a newer media server may send more than is known here.

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use super::MediaConnection;

/// A verified signature of the media server; the hash in it is still to be compared with that of the body.
#[derive(Debug, Clone)]
pub struct Seal {
    body_hash: Vec<u8>,
}

/// Why a webhook body was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookError {
    /// The signature is for another body.
    NotSigned,
    /// The body can't be parsed as an event.
    Unreadable(String),
}

/// An event of the media server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookEvent {
    /// The same for every delivery of the event; empty where the media server sends none.
    pub id: String,
    pub room: String,
    /// When the event happened, in whole seconds.
    pub at: Time,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    RoomStarted,
    /// The room was closed. `instance` identifies it among all rooms that had this name.
    RoomFinished {
        instance: String,
        /// The reason that newer media servers send; otherwise empty.
        reason: String,
    },
    Connected(MediaConnection),
    Disconnected(MediaConnection),
    /// A connection that failed before it was established.
    Aborted(MediaConnection),
    Other,
}

impl Seal {
    /// Creates a seal from the base64 SHA-256 in a token. Returns `None` when the token carries no body hash.
    pub(super) fn of(sha256: &str) -> Option<Self> {
        let body_hash = STANDARD.decode(sha256).ok()?;
        (body_hash.len() == Sha256::output_size()).then_some(Self { body_hash })
    }

    /// # Errors
    /// `NotSigned` when the signature is for another body; `Unreadable` when the body is not an event.
    pub fn open(&self, body: &[u8]) -> Result<WebhookEvent, WebhookError> {
        if Sha256::digest(body).as_slice() != self.body_hash {
            return Err(WebhookError::NotSigned);
        }
        let event: WireEvent =
            serde_json::from_slice(body).map_err(|error| WebhookError::Unreadable(error.to_string()))?;
        Ok(event.into_event())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct WireEvent {
    event: String,
    id: String,
    #[serde(deserialize_with = "whole")]
    created_at: i64,
    room: WireRoom,
    participant: Option<WireParticipant>,
    room_end_reason: serde_json::Value,
}

/// A room on the wire, both in events and in the room list.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct WireRoom {
    pub(super) sid: String,
    pub(super) name: String,
}

/// A participant on the wire, both in events and in the participant list.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireParticipant {
    sid: String,
    identity: String,
    #[serde(deserialize_with = "whole")]
    joined_at: i64,
    #[serde(deserialize_with = "whole")]
    joined_at_ms: i64,
    permission: Option<Permission>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Permission {
    can_publish: bool,
}

impl WireParticipant {
    pub(super) fn connection(self) -> MediaConnection {
        let millis = if self.joined_at_ms > 0 { self.joined_at_ms } else { self.joined_at.saturating_mul(1000) };
        let may_publish = self.permission.map(|permission| permission.can_publish);
        MediaConnection { identity: self.identity, name: self.sid, began_at: instant(millis), may_publish }
    }
}

impl WireEvent {
    fn into_event(self) -> WebhookEvent {
        let connection = self.participant.map(WireParticipant::connection);
        let what = match (self.event.as_str(), connection) {
            ("room_started", _) => What::RoomStarted,
            ("room_finished", _) => What::RoomFinished {
                instance: self.room.sid,
                reason: self.room_end_reason.as_str().unwrap_or_default().to_owned(),
            },
            ("participant_joined", Some(connection)) => What::Connected(connection),
            ("participant_left", Some(connection)) => What::Disconnected(connection),
            ("participant_connection_aborted", Some(connection)) => What::Aborted(connection),
            _ => What::Other,
        };
        WebhookEvent { id: self.id, room: self.room.name, at: instant(self.created_at.saturating_mul(1000)), what }
    }
}

/// Converts Unix milliseconds to a time. A value outside the representable range becomes the Unix epoch: older than
/// everything known.
fn instant(millis: i64) -> Time {
    Time::from_millis(millis).unwrap_or_else(|| Time::nearest(0))
}

/// Parses a 64-bit number, which the JSON mapping of protobuf encodes as a string.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Whole {
        Number(i64),
        Text(String),
    }
    match Whole::deserialize(deserializer)? {
        Whole::Number(number) => Ok(number),
        Whole::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}
