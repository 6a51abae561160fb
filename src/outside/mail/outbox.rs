//! Mail where no mail server is set: a folder of `.eml` files, named `<time>-<address>.eml`.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use async_trait::async_trait;
use lettre::message::Mailbox;
use tokio::fs;

use super::message::message;
use super::{Letter, Mail, Sending, Unsent};

pub struct Outbox {
    folder: PathBuf,
    /// Whom mails come from.
    from: Mailbox,
}

impl Outbox {
    /// # Errors
    /// `from` is no address.
    pub fn at(folder: PathBuf, from: &str) -> Result<Self, String> {
        let from = from.parse().map_err(|error| format!("mail.from: {error}"))?;
        Ok(Self { folder, from })
    }

    /// Written aside and linked into place, so that no file is half a letter and no letter takes another's place. One that
    /// is there already, from before the server was killed, is not put there again.
    async fn put(&self, address: &str, mut time: Time, letter: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder).await?;
        let aside = self.folder.join(format!(".{}.part", Id::<Letter>::draw()));
        fs::write(&aside, letter).await?;
        let placed = loop {
            let file = self.folder.join(format!("{}-{address}.eml", time.utc().format("%Y%m%dT%H%M%S%.3fZ")));
            match fs::hard_link(&aside, &file).await {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if fs::read(&file).await.is_ok_and(|there| there == letter) {
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
impl Mail for Outbox {
    async fn send(&self, sending: &Sending<'_>) -> Result<(), Unsent> {
        let message = message(sending, &self.from).map_err(Unsent::Refused)?;
        let plain = |c: char| if c.is_alphanumeric() || "@.+-_".contains(c) { c } else { '_' };
        // File systems take 255 bytes for a name, and an address may be as long.
        let address: String = sending.letter.to.chars().map(plain).take(100).collect();
        let put = self.put(&address, sending.written_at, &message.formatted()).await;
        put.map_err(|error| Unsent::Later(format!("{}: {error}", self.folder.display())))
    }
}
