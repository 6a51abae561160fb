//! Files on their way in: received piece by piece into a temporary file of this machine, and hashed meanwhile.

use std::fs::File;
use std::io::{self, Seek};
use std::path::Path;

use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::AsyncWriteExt;

/// A file that is being received; deleted on drop unless it is stored.
pub struct Incoming {
    file: fs::File,
    path: tempfile::TempPath,
    digest: Sha256,
    size: u64,
}

/// A file that was received completely.
pub struct Received {
    pub(super) path: tempfile::TempPath,
    /// The SHA-256 of the content, hexadecimal.
    pub sha256: String,
    pub size: u64,
}

impl Incoming {
    /// Opens a temporary file in a folder.
    ///
    /// # Errors
    /// Returns the I/O error when the folder is not writable.
    pub(super) async fn within(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder).await?;
        let (file, path) = tempfile::Builder::new().prefix("upload-").tempfile_in(folder)?.into_parts();
        Ok(Self { file: fs::File::from_std(file), path, digest: Sha256::new(), size: 0 })
    }

    /// # Errors
    /// Returns the I/O error.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.size += bytes.len() as u64;
        self.file.write_all(bytes).await
    }

    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Completes the file for this process alone; returns it, to be read from its beginning, with its SHA-256.
    pub(super) async fn read_again(mut self) -> io::Result<(File, String)> {
        self.file.flush().await?;
        let mut file = self.file.into_std().await;
        file.rewind()?;
        Ok((file, hex::encode(self.digest.finalize())))
    }

    /// Completes the file and syncs it to disk.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn end(mut self) -> io::Result<Received> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        Ok(Received { path: self.path, sha256: hex::encode(self.digest.finalize()), size: self.size })
    }
}

impl Received {
    /// Opens the received file for streaming.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn open(&self) -> io::Result<fs::File> {
        fs::File::open(&self.path).await
    }

    /// # Errors
    /// Returns the I/O error.
    pub async fn read(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.path).await
    }
}
