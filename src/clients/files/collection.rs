//! The files of one store by their keys, whatever each is: what a backup copies, and what a restore fills.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use object_store::GetResultPayload;
use object_store::path::Path as Key;

use super::hold::{DeletionHold, DeletionLock};
use super::incoming::{Incoming, Received};
use super::storage::{Bucket, Storage};

/// One store's files.
pub struct Collection {
    storage: Storage,
    incoming: PathBuf,
}

impl Collection {
    /// The files of a store in a folder, or the objects of a bucket whose names begin with `name/`; `home` is the store's
    /// folder of this machine, which is created if it is missing.
    ///
    /// # Errors
    /// Returns the I/O error when the folder can't be created.
    pub fn of(bucket: Option<&Bucket>, name: &str, home: &Path) -> io::Result<Self> {
        let storage = match bucket {
            Some(bucket) => Storage::bucket(bucket, name, home),
            None => Storage::folder(home.to_owned())?,
        };
        Ok(Self { storage, incoming: home.join("incoming") })
    }

    /// Waits until no deletion is under way and makes every later one fail while the result lives, in the server's
    /// process too.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub fn hold_deletions(home: &Path) -> io::Result<DeletionHold> {
        DeletionLock::within(home).lock_out_deletions()
    }

    /// Opens a file to be read once: itself, or a copy of a bucket's object.
    ///
    /// # Errors
    /// Returns `NotFound` when there is none, otherwise the I/O error.
    pub async fn open(&self, key: &str) -> io::Result<File> {
        match self.storage.get(&Key::from(key)).await? {
            GetResultPayload::File(file, _) => Ok(file),
            GetResultPayload::Stream(mut pieces) => {
                let mut copy = self.receive().await?;
                while let Some(piece) = pieces.next().await {
                    copy.write(&piece?).await?;
                }
                Ok(copy.read_again().await?.0)
            }
        }
    }

    /// Opens a temporary file to receive content.
    ///
    /// # Errors
    /// Returns the I/O error when the folder is not writable.
    pub async fn receive(&self) -> io::Result<Incoming> {
        Incoming::within(&self.incoming).await
    }

    /// Stores a received file durably, in place of what is there.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn put(&self, key: &str, received: Received) -> io::Result<()> {
        self.storage.put(&Key::from(key), received).await
    }

    /// Whether it has any file. Those that are being received don't count.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn is_empty(&self) -> io::Result<bool> {
        let mut found = self.storage.list(&Key::default());
        while let Some(found) = found.next().await {
            let location = found?.location;
            // The store's own files are in folders: by the first digits of a hash, or by an owner's id.
            if location.parts_count() > 1 && !location.prefix_matches(&Key::from("incoming")) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
