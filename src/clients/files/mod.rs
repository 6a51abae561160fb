//! Stores of uploaded files. [`Files`] is content-addressed: files are stored under their SHA-256, so equal content is
//! stored once. In [`Folders`] each file belongs to one owner and goes with it. In both, what was changed since is noticed
//! when it is opened.
//!
//! ```text
//! receive --pieces--> Incoming (a temporary file here) --end--> Received --store--> folder | bucket
//! open <-- verified <-- folder: the file itself | bucket: a temporary copy of it
//! ```

mod collection;
mod folders;
mod hold;
mod incoming;
mod storage;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use object_store::GetResultPayload;
use object_store::path::Path as Key;
use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

pub use collection::Collection;
pub use folders::{FilePath, Folders};
pub use hold::DeletionHold;
pub use incoming::{Incoming, Received};
use storage::Storage;
pub use storage::{Bucket, BucketParts};

/// A store of the server: its name, which objects of a bucket begin with, and its folder in the data folder.
#[derive(Debug, Clone, Copy)]
pub struct StorePlace {
    pub name: &'static str,
    pub folder: &'static str,
}

/// The stores of the server. All of them are in a backup.
pub const DOCUMENTS: StorePlace = StorePlace { name: "documents", folder: "files" };
pub const AVATARS: StorePlace = StorePlace { name: "avatars", folder: "avatars" };
pub const RECORDINGS: StorePlace = StorePlace { name: "recordings", folder: "recordings" };
pub const EXPORTS: StorePlace = StorePlace { name: "exports", folder: "exports" };
pub const IMPORTS: StorePlace = StorePlace { name: "imports", folder: "imports" };
pub const STORES: [StorePlace; 5] = [DOCUMENTS, AVATARS, RECORDINGS, EXPORTS, IMPORTS];

/// After this time a stored file is referenced by a row, or never will be.
pub const SETTLED: Duration = Duration::from_secs(24 * 60 * 60);
/// How many hashes one query looks up.
const PAGE: usize = 500;
/// Length of a hexadecimal SHA-256, in characters.
const HASH: usize = 64;
/// How much of a file is read at once while it is hashed.
const PIECE_BYTES: usize = 256 * 1024;

/// Files, each stored under its SHA-256. Clones share the same store.
#[derive(Clone)]
pub struct Files {
    storage: Storage,
    /// The folder of files that are being received. For a store in a folder it is on the same file system.
    incoming: PathBuf,
    /// Read-locked while files are stored and write-locked while files are deleted: between storing a file and
    /// committing the row that references it, nothing may be deleted.
    lock: Arc<RwLock<()>>,
}

/// A stored file that no row may reference yet. While this guard lives, no file can be deleted; drop it once the row is
/// committed.
#[must_use = "until the row that names the file is committed, this keeps it from being forgotten"]
pub struct StoredFile {
    _guard: OwnedRwLockReadGuard<()>,
}

/// How many files are stored, and how many bytes they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileUsage {
    pub count: u64,
    pub bytes: u64,
}

/// Exclusive permission to delete files: while it lives, no file can be stored.
pub struct ForgetWindow {
    files: Files,
    _guard: OwnedRwLockWriteGuard<()>,
}

impl Files {
    /// Stores files in a folder, which is created if it is missing.
    ///
    /// # Errors
    /// Returns the I/O error when the folder can't be created.
    pub fn at(folder: PathBuf) -> io::Result<Self> {
        let incoming = folder.join("incoming");
        Ok(Self { storage: Storage::folder(folder)?, incoming, lock: Arc::default() })
    }

    /// Stores files as objects of a bucket whose names begin with `prefix/`; `incoming` is a folder of this machine.
    #[must_use]
    pub fn in_bucket(bucket: &Bucket, prefix: &str, incoming: PathBuf) -> Self {
        Self { storage: Storage::bucket(bucket, prefix, home_of(&incoming)), incoming, lock: Arc::default() }
    }

    /// Opens a temporary file to receive content.
    ///
    /// # Errors
    /// Returns the I/O error when the folder is not writable.
    pub async fn receive(&self) -> io::Result<Incoming> {
        Incoming::within(&self.incoming).await
    }

    /// Stores a received file durably. A file that exists already under its hash has the same content.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn store(&self, received: Received) -> io::Result<StoredFile> {
        let lock = Arc::clone(&self.lock).read_owned().await;
        let key = key(&received.sha256);
        self.storage.put(&key, received).await?;
        Ok(StoredFile { _guard: lock })
    }

    /// Opens a stored file for streaming, once its content was found to have the hash.
    ///
    /// # Errors
    /// Returns `NotFound` when nothing is stored under the hash, `InvalidData` when the content is another, otherwise
    /// the I/O error.
    pub async fn open(&self, sha256: &str) -> io::Result<fs::File> {
        let (file, found) = match self.storage.get(&key(sha256)).await? {
            GetResultPayload::File(file, _) => spawn_blocking(move || hashed(file)).await??,
            GetResultPayload::Stream(mut pieces) => {
                let mut copy = self.receive().await?;
                while let Some(piece) = pieces.next().await {
                    copy.write(&piece?).await?;
                }
                copy.read_again().await?
            }
        };
        if found == sha256 {
            return Ok(fs::File::from_std(file));
        }
        let message = format!("the file that is stored as {sha256} has the SHA-256 {found}");
        Err(io::Error::new(io::ErrorKind::InvalidData, message))
    }

    /// Waits until every stored file has its row, then locks the store for deletion. Determine which files no row
    /// references only after this returns.
    pub async fn forgetting(&self) -> ForgetWindow {
        let lock = Arc::clone(&self.lock).write_owned().await;
        ForgetWindow { files: self.clone(), _guard: lock }
    }

    /// Deletes incomplete uploads that a killed server left behind.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn clear_incoming(&self) -> io::Result<()> {
        clear(&self.incoming).await
    }

    /// Deletes files that were stored before a given time and that nothing references; returns how many. `named`
    /// returns which of the given hashes are referenced. Other files in the folder are left alone.
    ///
    /// # Errors
    /// Returns a message when the references can't be looked up or a file can't be deleted; the remaining files stay.
    pub async fn sweep(
        &self,
        before: SystemTime,
        named: impl Fn(Vec<String>) -> BoxFuture<'static, Result<Vec<String>, String>>,
        stopping: &CancellationToken,
    ) -> Result<usize, String> {
        let mut removed = 0;
        for first in 0..=u8::MAX {
            let mut left =
                self.stored_before(&hex::encode([first]), before).await.map_err(|error| error.to_string())?;
            while !left.is_empty() && !stopping.is_cancelled() {
                let page = left.split_off(left.len().saturating_sub(PAGE));
                // Most files are referenced: uploads have to wait only while the unreferenced ones are deleted.
                let orphans = without(page.clone(), &named(page).await?);
                if orphans.is_empty() {
                    continue;
                }
                let forgetting = self.forgetting().await;
                for orphan in without(orphans.clone(), &named(orphans).await?) {
                    forgetting.forget(&orphan).await.map_err(|error| format!("{orphan}: {error}"))?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// Counts the stored files, and their bytes.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn usage(&self) -> io::Result<FileUsage> {
        let mut usage = FileUsage::default();
        let mut found = self.storage.list(&Key::default());
        while let Some(found) = found.next().await {
            let found = found?;
            let name = found.location.filename().unwrap_or_default();
            if is_hash(name) && found.location == key(name) {
                usage.count += 1;
                usage.bytes += found.size;
            }
        }
        Ok(usage)
    }

    /// Returns the hashes that begin with two given digits and whose files were stored before a given time.
    async fn stored_before(&self, digits: &str, before: SystemTime) -> io::Result<Vec<String>> {
        let mut stored = Vec::new();
        let mut found = self.storage.list(&Key::from(digits));
        while let Some(found) = found.next().await {
            let found = found?;
            let name = found.location.filename().unwrap_or_default();
            if is_hash(name) && found.location == key(name) && SystemTime::from(found.last_modified) < before {
                stored.push(name.to_owned());
            }
        }
        Ok(stored)
    }
}

/// Returns the key of a hash. Hashes come from this server's own rows; any character that is not a hexadecimal digit is
/// dropped, so no key leads outside the store.
fn key(sha256: &str) -> Key {
    let name: String = sha256.chars().filter(char::is_ascii_hexdigit).collect();
    let start = name.get(..2).unwrap_or("00").to_owned();
    Key::from_iter([start, name])
}

/// Reads a file to its end; returns it, to be read again, with its SHA-256.
fn hashed(mut file: std::fs::File) -> io::Result<(std::fs::File, String)> {
    let (mut digest, mut piece) = (Sha256::new(), vec![0; PIECE_BYTES]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            read => digest.update(piece.get(..read).unwrap_or_default()),
        }
    }
    file.rewind()?;
    Ok((file, hex::encode(digest.finalize())))
}

/// The folder that a store's folder of incomplete uploads is in.
fn home_of(incoming: &Path) -> &Path {
    incoming.parent().unwrap_or(incoming)
}

/// Deletes a folder of incomplete uploads.
async fn clear(incoming: &Path) -> io::Result<()> {
    match fs::remove_dir_all(incoming).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn is_hash(name: &str) -> bool {
    name.len() == HASH && name.bytes().all(|sign| sign.is_ascii_digit() || (b'a'..=b'f').contains(&sign))
}

fn without(hashes: Vec<String>, named: &[String]) -> Vec<String> {
    let named: HashSet<&String> = named.iter().collect();
    hashes.into_iter().filter(|hash| !named.contains(hash)).collect()
}

impl ForgetWindow {
    /// Deletes a file. A missing file is not an error.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn forget(&self, sha256: &str) -> io::Result<()> {
        self.files.storage.delete(&key(sha256)).await
    }
}
