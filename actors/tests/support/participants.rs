//! Commands and values for the participants of meetings.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::meeting::{Command, ConsentAnswer, Digest, Newcomer, TimeLimits, Wording};

pub const MAX_PARTICIPANTS: usize = 500;
pub const CONNECT: Duration = Duration::from_secs(120);
pub const GRACE: Duration = Duration::from_secs(30);
pub const EMPTY: Duration = Duration::from_secs(900);
pub const MAX_LIVE: Duration = Duration::from_secs(24 * 3600);

pub fn newcomer(id: Id<ids::Participant>, user_id: Option<Id<User>>, name: &str) -> Newcomer {
    Newcomer { id, user_id, display_name: name.to_owned(), email: Some("grace@example.org".to_owned()) }
}

/// A user with an account joins.
pub fn joins(id: Id<ids::Participant>, user: Id<User>) -> Command {
    Command::Join { newcomer: newcomer(id, Some(user), "Grace"), display_name: None, most: MAX_PARTICIPANTS }
}

/// A guest without an account joins.
pub fn as_guest(id: Id<ids::Participant>) -> Command {
    Command::Join { newcomer: newcomer(id, None, "Guest"), display_name: None, most: MAX_PARTICIPANTS }
}

pub fn consent(participant: Id<ids::Participant>, answer: ConsentAnswer) -> Command {
    Command::Consent { participant, answer, wording: wording("1.en"), user_agent: "a browser".to_owned() }
}

pub fn wording(version: &str) -> Wording {
    Wording { version: version.to_owned(), language: "en".to_owned(), text_hash: Digest::of(version) }
}

pub fn sweep() -> Command {
    Command::Sweep { limits: TimeLimits { connect: CONNECT, grace: GRACE, empty: EMPTY, live: MAX_LIVE } }
}
