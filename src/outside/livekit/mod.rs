//! The media server, where the people of a meeting hear and see each other: LiveKit.
//!
//! Of LiveKit's own crate the tokens are used: those that let people in, and those that sign. Not its client of rooms, which
//! follows redirects, carries no X-Request-Id and trusts no certificate authority of one's own; and not its reader of
//! webhooks, for which an event that has one word newer than the crate is no event at all.

mod client;
mod token;
mod webhook;

#[cfg(test)]
mod tests;

use std::time::Duration;

use actors::time::Time;
use async_trait::async_trait;

pub use client::{LiveKit, Settings};
pub use webhook::{Heard, Seal, Unheard, What};

/// Why something was not done, for the log and for the one who runs the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It can't be spoken to, or doesn't take us: nothing would be done now.
    Away(String),
    /// It will not do this.
    Refused(String),
}

/// A room to be made.
#[derive(Debug, Clone)]
pub struct Room<'a> {
    pub name: &'a str,
    /// How many may be in it.
    pub most: usize,
    /// How long it stays with nobody in it, before the first one comes and after the last one left.
    pub idle: Duration,
    /// JSON; whoever is in the room can read it.
    pub metadata: String,
}

/// Who is let into which room, to do what.
#[derive(Debug, Clone)]
pub struct Pass<'a> {
    pub room: &'a str,
    /// What the media server knows them by. Who comes in puts out whoever is in the room under the same one.
    pub identity: &'a str,
    pub display_name: &'a str,
    /// Speaking, being seen, showing a screen, sending messages: all of it or nothing.
    pub may_publish: bool,
    pub life: Duration,
}

/// A token that lets somebody in.
#[derive(Clone)]
pub struct Token {
    pub text: String,
    pub expires_at: Time,
}

/// Somebody's connection to a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub identity: String,
    /// The media server's name for it; another one for each connection.
    pub name: String,
    pub began_at: Time,
    /// As the media server has it, if it says so.
    pub may_publish: Option<bool>,
}

/// What may be published: what people show and say, and nothing else.
pub const SOURCES: [&str; 4] = ["camera", "microphone", "screen_share", "screen_share_audio"];

/// A server for the media of meetings. All that it is asked for may be asked for again.
#[async_trait]
pub trait MediaServer: Send + Sync + 'static {
    /// Where people's programs find it.
    fn url(&self) -> &str;

    /// Lets somebody in, by a token.
    ///
    /// # Errors
    /// In words: it can't be signed.
    fn token(&self, pass: &Pass<'_>) -> Result<Token, String>;

    /// Looks at what came as `Authorization` with a webhook. `None`: it isn't the media server's.
    fn seal(&self, authorization: &str) -> Option<Seal>;

    /// Makes a room. One that is there stays as it is.
    ///
    /// # Errors
    /// It was not made.
    async fn make_room(&self, room: &Room<'_>, request: &str) -> Result<(), Fault>;

    /// Closes a room and puts out whoever is in it. A room that isn't there is closed.
    ///
    /// # Errors
    /// It was not closed.
    async fn delete_room(&self, room: &str, request: &str) -> Result<(), Fault>;

    /// Puts somebody out; tokens from before `since` let them in no more, where the media server can do that. Who isn't there
    /// is out.
    ///
    /// # Errors
    /// They were not put out.
    async fn remove(&self, room: &str, identity: &str, since: Time, request: &str) -> Result<(), Fault>;

    /// Lets somebody who is in the room publish, or not, from now on. Who isn't there has nothing to publish.
    ///
    /// # Errors
    /// They may do what they might before.
    async fn permit(&self, room: &str, identity: &str, may_publish: bool, request: &str) -> Result<(), Fault>;

    /// The room by that name as it is now: a room that is made again has another one. `None`: there is none.
    ///
    /// # Errors
    /// It can't be said.
    async fn instance(&self, room: &str, request: &str) -> Result<Option<String>, Fault>;

    /// Who is in a room.
    ///
    /// # Errors
    /// It can't be said.
    async fn connections(&self, room: &str, request: &str) -> Result<Vec<Connection>, Fault>;
}
