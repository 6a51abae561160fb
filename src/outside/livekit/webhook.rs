//! What the media server tells by webhooks: signed, of the body too; read as far as it concerns us, since a newer server
//! says more than we know.

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use super::Connection;

/// A signature that is the media server's own, for a body that is to be compared.
#[derive(Debug, Clone)]
pub struct Seal {
    body_hash: Vec<u8>,
}

/// Why a body says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unheard {
    /// Something else was signed.
    NotSigned,
    /// It is no event.
    Unreadable(String),
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The same one when it is told again; empty where it has none.
    pub id: String,
    pub room: String,
    /// In whole seconds.
    pub at: Time,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    RoomStarted,
    /// `instance` is which of the rooms by that name.
    RoomFinished {
        instance: String,
        /// Why, as newer servers say; else empty.
        reason: String,
    },
    Connected(Connection),
    Disconnected(Connection),
    /// Ended before it was one.
    Aborted(Connection),
    Other,
}

impl Seal {
    /// `None`: it signs no body.
    pub(super) fn of(sha256: &str) -> Option<Self> {
        let body_hash = STANDARD.decode(sha256).ok()?;
        (body_hash.len() == Sha256::output_size()).then_some(Self { body_hash })
    }

    /// # Errors
    /// It was not signed, or is no event.
    pub fn open(&self, body: &[u8]) -> Result<Heard, Unheard> {
        if Sha256::digest(body).as_slice() != self.body_hash {
            return Err(Unheard::NotSigned);
        }
        let event: Event = serde_json::from_slice(body).map_err(|error| Unheard::Unreadable(error.to_string()))?;
        Ok(event.heard())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Event {
    event: String,
    id: String,
    #[serde(deserialize_with = "whole")]
    created_at: i64,
    room: Room,
    participant: Option<Participant>,
    room_end_reason: serde_json::Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Room {
    sid: String,
    name: String,
}

/// Also as the media server lists people.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Participant {
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

impl Participant {
    pub(super) fn connection(self) -> Connection {
        let millis = if self.joined_at_ms > 0 { self.joined_at_ms } else { self.joined_at.saturating_mul(1000) };
        let may_publish = self.permission.map(|permission| permission.can_publish);
        Connection { identity: self.identity, name: self.sid, began_at: instant(millis), may_publish }
    }
}

impl Event {
    fn heard(self) -> Heard {
        let connection = self.participant.map(Participant::connection);
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
        Heard { id: self.id, room: self.room.name, at: instant(self.created_at.saturating_mul(1000)), what }
    }
}

/// What lies outside the years that can be counted is the beginning of time: older than all that is known.
fn instant(millis: i64) -> Time {
    Time::from_millis(millis).or_else(|| Time::from_millis(0)).unwrap_or(Time::at(chrono::DateTime::UNIX_EPOCH))
}

/// A 64-bit number, which is a text in the JSON of protobuf.
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
