//! Mail: today as files in an outbox, one `.eml` a letter.

use std::path::PathBuf;

use actors::time::Time;
use async_trait::async_trait;
use lettre::message::{Mailbox, SinglePart};
use serde::{Deserialize, Serialize};

/// A mail to one person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Letter {
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Sends letters.
#[async_trait]
pub trait Mail: Send + Sync + 'static {
    /// # Errors
    /// Why it was not sent, for the log; it may be tried again.
    async fn send(&self, letter: &Letter, now: Time) -> Result<(), String>;
}

/// A folder of `.eml` files, named `<time>-<address>.eml`.
pub struct Outbox {
    pub folder: PathBuf,
    /// Whom mails come from.
    pub from: Mailbox,
}

#[async_trait]
impl Mail for Outbox {
    async fn send(&self, letter: &Letter, now: Time) -> Result<(), String> {
        let to: Mailbox = letter.to.parse().map_err(|error| format!("the address can't be written to: {error}"))?;
        let message = lettre::Message::builder()
            .from(self.from.clone())
            .to(to)
            .date(now.utc().into())
            .subject(&letter.subject)
            .singlepart(SinglePart::plain(letter.text.clone()))
            .map_err(|error| error.to_string())?;
        let address: String =
            letter.to.chars().map(|c| if c.is_alphanumeric() || "@.+-_".contains(c) { c } else { '_' }).collect();
        let time = now.utc().format("%Y%m%dT%H%M%S%.3fZ");
        let file = self.folder.join(format!("{time}-{address}.eml"));
        let aside = self.folder.join(format!(".{time}-{address}.part"));
        let write = async {
            tokio::fs::create_dir_all(&self.folder).await?;
            tokio::fs::write(&aside, message.formatted()).await?;
            tokio::fs::rename(&aside, &file).await
        };
        write.await.map_err(|error| format!("{}: {error}", file.display()))
    }
}
