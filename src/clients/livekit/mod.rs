//! The media server of meetings: the trait `MediaServer`, and LiveKit as its implementation.
//!
//! Of LiveKit's own crate, only the tokens are used: access tokens and signatures. Its room client is not, because it
//! follows redirects, sends no X-Request-Id and accepts no private certificate authority. Nor is its webhook receiver,
//! which rejects an event that contains one value newer than the crate.

mod client;
mod token;
mod webhook;

#[cfg(test)]
mod tests;

use std::time::Duration;

use actors::time::Time;
use async_trait::async_trait;

pub use client::{LiveKit, LiveKitSettings};
pub use webhook::{Seal, WebhookError, WebhookEvent, What};

/// Why a request to the media server failed. The texts are for the log and the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaServerError {
    /// The media server is unreachable or rejects this server: no request would succeed at present.
    Unavailable(String),
    /// The media server rejects this request.
    Refused(String),
}

/// A media room to create.
#[derive(Debug, Clone)]
pub struct RoomSpec<'a> {
    pub name: &'a str,
    /// The maximum number of participants.
    pub most: usize,
    /// How long the room stays open while empty, both before the first participant joins and after the last one leaves.
    pub idle: Duration,
    /// JSON; every participant of the room can read it.
    pub metadata: String,
}

/// What an access token grants: one identity, one media room, and whether it may publish.
#[derive(Debug, Clone)]
pub struct Pass<'a> {
    pub room: &'a str,
    /// The identity at the media server. A new connection disconnects an existing one with the same identity in the
    /// room.
    pub identity: &'a str,
    pub display_name: &'a str,
    /// Whether audio, video, screen sharing and data messages may be published: all of them or none.
    pub may_publish: bool,
    pub life: Duration,
}

/// An access token for one media room.
#[derive(Clone)]
pub struct Token {
    pub text: String,
    pub expires_at: Time,
}

/// A participant's connection to a media room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaConnection {
    pub identity: String,
    /// The id that the media server assigns to the connection (its `sid`); different for each connection.
    pub name: String,
    pub began_at: Time,
    /// The permission as the media server reports it, if it does.
    pub may_publish: Option<bool>,
}

/// The track sources that may be published: camera, microphone and screen sharing, and no others.
pub const SOURCES: [&str; 4] = ["camera", "microphone", "screen_share", "screen_share_audio"];

/// A media server. Every request is safe to repeat.
#[async_trait]
pub trait MediaServer: Send + Sync + 'static {
    /// The URL that clients connect to.
    fn url(&self) -> &str;

    /// Issues an access token for a media room.
    ///
    /// # Errors
    /// Returns a message when the token can't be signed.
    fn token(&self, pass: &Pass<'_>) -> Result<Token, String>;

    /// Verifies the `Authorization` header of a webhook. Returns `None` when the media server did not sign it.
    fn seal(&self, authorization: &str) -> Option<Seal>;

    /// Creates a media room. An existing room stays unchanged.
    ///
    /// # Errors
    /// Returns why the room was not created.
    async fn make_room(&self, room: &RoomSpec<'_>, request: &str) -> Result<(), MediaServerError>;

    /// Closes a media room and disconnects its participants. A missing room counts as closed.
    ///
    /// # Errors
    /// Returns why the room was not closed.
    async fn delete_room(&self, room: &str, request: &str) -> Result<(), MediaServerError>;

    /// Disconnects a participant. Tokens issued before `since` no longer grant access, where the media server supports
    /// that. A participant who is not connected counts as disconnected.
    ///
    /// # Errors
    /// Returns why the participant was not disconnected.
    async fn remove(&self, room: &str, identity: &str, since: Time, request: &str) -> Result<(), MediaServerError>;

    /// Grants or withdraws the permission to publish of a connected participant. Does nothing for a participant who is
    /// not connected.
    ///
    /// # Errors
    /// Returns why the permission stays unchanged.
    async fn permit(
        &self,
        room: &str,
        identity: &str,
        may_publish: bool,
        request: &str,
    ) -> Result<(), MediaServerError>;

    /// Returns the id of the current instance of a media room: a room that is created again under the same name has
    /// another id. Returns `None` when there is no such room.
    ///
    /// # Errors
    /// Returns why the media server gave no answer.
    async fn instance(&self, room: &str, request: &str) -> Result<Option<String>, MediaServerError>;

    /// Lists the connections to a media room.
    ///
    /// # Errors
    /// Returns why the media server gave no answer.
    async fn connections(&self, room: &str, request: &str) -> Result<Vec<MediaConnection>, MediaServerError>;
}
