//! Mail: over SMTP where a mail server is set, else as files in an outbox.

mod inert;
mod letter;
mod message;
mod outbox;
mod smtp;

#[cfg(test)]
mod tests;

use actors::time::Time;
use async_trait::async_trait;

pub use inert::isolated;
pub use letter::{Block, Calendar, Letter, Tongue};
pub use outbox::Outbox;
pub use smtp::{Security, Settings, Smtp};

/// A letter on its way.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    pub letter: &'a Letter,
    /// The same at each try, so that a letter that came twice can be told from two letters.
    pub id: &'a str,
    pub written_at: Time,
    /// What caused it.
    pub request: &'a str,
}

/// Why a letter was not sent, for the log and for the one who runs the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsent {
    /// Not now: this letter may be taken later.
    Later(String),
    /// The mail server can't be spoken to, or doesn't take us: no letter would be taken now.
    Away(String),
    /// This letter will not be taken.
    Refused(String),
}

/// Sends letters.
#[async_trait]
pub trait Mail: Send + Sync + 'static {
    /// # Errors
    /// Why it was not sent. One that was not answered may have been sent nonetheless.
    async fn send(&self, sending: &Sending<'_>) -> Result<(), Unsent>;
}
