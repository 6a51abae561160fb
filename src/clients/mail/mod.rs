//! Sends e-mail: over SMTP where a mail server is configured, otherwise as files in an outbox folder.

mod dev_outbox;
mod email;
mod inert;
mod message;
mod smtp;

#[cfg(test)]
mod tests;

use actors::time::Time;
use async_trait::async_trait;

pub use dev_outbox::DevOutbox;
pub use email::{Calendar, EmailBlock, EmailKind, Locale, OutgoingEmail};
pub use inert::isolated;
pub use smtp::{Security, Smtp, SmtpSettings};

/// An e-mail that is being sent, with the metadata of its message.
#[derive(Debug, Clone, Copy)]
pub struct EmailInTransit<'a> {
    pub email: &'a OutgoingEmail,
    /// Used for the Message-ID. It is the same for every attempt, so that a duplicate delivery can be told apart from a
    /// second e-mail.
    pub id: &'a str,
    pub written_at: Time,
    /// The id of the request that caused the e-mail; sent as `X-Request-Id`.
    pub request: &'a str,
}

/// Why an e-mail was not sent. The texts are for the log and the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// A temporary failure of this e-mail: a later attempt may succeed.
    Later(String),
    /// The mail server is unreachable or rejects this server: no e-mail can be sent at present.
    Unavailable(String),
    /// A permanent failure: the mail server will not accept this e-mail.
    Refused(String),
}

/// A transport for e-mail.
#[async_trait]
pub trait Mail: Send + Sync + 'static {
    /// # Errors
    /// Returns why the e-mail was not sent. If the mail server did not answer, it may have been sent nonetheless.
    async fn send(&self, sending: &EmailInTransit<'_>) -> Result<(), SendError>;
}
