//! Mail: today as files in an outbox, one `.eml` a letter.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use async_trait::async_trait;
use lettre::message::{Mailbox, SinglePart};
use serde::{Deserialize, Serialize};
use tokio::fs;

/// A mail to one person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Letter {
    pub to: String,
    pub tongue: Tongue,
    pub subject: String,
    pub blocks: Vec<Block>,
    /// An `.ics` file that goes with it.
    pub calendar: Option<Calendar>,
}

/// The languages that letters are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tongue {
    English,
    /// From right to left.
    Arabic,
}

/// A part of a letter, from the top to the bottom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    Text(String),
    /// What is to be typed elsewhere: alone on its line.
    Code(String),
    /// What somebody else wrote: never a link, whatever it looks like.
    Quote(String),
    Link {
        label: String,
        url: String,
    },
}

/// An invitation to a calendar, as RFC 5545 text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    /// REQUEST or CANCEL, as in the text.
    pub method: String,
    pub text: String,
}

impl Letter {
    /// As plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks = self.blocks.iter().map(|block| match block {
            Block::Text(text) | Block::Code(text) | Block::Quote(text) => text.clone(),
            Block::Link { label, url } => format!("{label}\n{url}"),
        });
        blocks.collect::<Vec<_>>().join("\n\n") + "\n"
    }
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
            .singlepart(SinglePart::plain(letter.text()))
            .map_err(|error| error.to_string())?;
        let plain = |c: char| if c.is_alphanumeric() || "@.+-_".contains(c) { c } else { '_' };
        // File systems take 255 bytes for a name, and an address may be as long.
        let address: String = letter.to.chars().map(plain).take(100).collect();
        self.put(&address, now, &message.formatted())
            .await
            .map_err(|error| format!("{}: {error}", self.folder.display()))
    }
}

impl Outbox {
    /// Written aside and linked into place, so that no file is half a letter and no letter takes another's place.
    async fn put(&self, address: &str, mut time: Time, letter: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder).await?;
        let aside = self.folder.join(format!(".{}.part", Id::<Letter>::draw()));
        fs::write(&aside, letter).await?;
        let placed = loop {
            let file = self.folder.join(format!("{}-{address}.eml", time.utc().format("%Y%m%dT%H%M%S%.3fZ")));
            match fs::hard_link(&aside, &file).await {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => time = time + Duration::from_millis(1),
                placed => break placed,
            }
        };
        fs::remove_file(&aside).await?;
        placed
    }
}
