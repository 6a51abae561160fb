//! Writes e-mails to a folder as `.eml` files named `<time>-<address>.eml`; used where no mail server is configured.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use async_trait::async_trait;
use lettre::message::Mailbox;
use tokio::fs;

use super::message::message;
use super::{EmailInTransit, Mail, OutgoingEmail, SendError};

pub struct DevOutbox {
    folder: PathBuf,
    /// The sender of every e-mail.
    from: Mailbox,
}

impl DevOutbox {
    /// # Errors
    /// Returns a message when `from` is not a mailbox.
    pub fn at(folder: PathBuf, from: &str) -> Result<Self, String> {
        let from = from.parse().map_err(|error| format!("mail.from: {error}"))?;
        Ok(Self { folder, from })
    }

    /// Writes an e-mail to a temporary file and hard-links it to its final name, so that no file is ever partial and
    /// none replaces another. An e-mail that is there already, from before the server was killed, is not written again.
    async fn put(&self, address: &str, mut time: Time, message: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder).await?;
        let aside = self.folder.join(format!(".{}.part", Id::<OutgoingEmail>::generate()));
        fs::write(&aside, message).await?;
        let placed = loop {
            let file = self.folder.join(format!("{}-{address}.eml", time.utc().format("%Y%m%dT%H%M%S%.3fZ")));
            match fs::hard_link(&aside, &file).await {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if fs::read(&file).await.is_ok_and(|there| there == message) {
                        break Ok(());
                    }
                    time = time + Duration::from_millis(1);
                }
                placed => break placed,
            }
        };
        fs::remove_file(&aside).await?;
        placed
    }
}

#[async_trait]
impl Mail for DevOutbox {
    async fn send(&self, sending: &EmailInTransit<'_>) -> Result<(), SendError> {
        let message = message(sending, &self.from).map_err(SendError::Refused)?;
        let plain = |c: char| if c.is_alphanumeric() || "@.+-_".contains(c) { c } else { '_' };
        // File systems limit a name to 255 bytes, and an address may be that long.
        let address: String = sending.email.to.chars().map(plain).take(100).collect();
        let put = self.put(&address, sending.written_at, &message.formatted()).await;
        put.map_err(|error| SendError::Later(format!("{}: {error}", self.folder.display())))
    }
}
