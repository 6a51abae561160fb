//! Files in folders: each folder belongs to one owner, such as a recording, and goes with it. Names end in the SHA-256
//! of the content, so that what was changed since is noticed.
//!
//! No two owners share a file, so storing needs no lock against deleting. Who deletes a folder must have made sure that
//! nothing refers to it any more.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use object_store::path::Path as Key;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio_util::io::ReaderStream;

use super::incoming::{Incoming, Received};
use super::storage::{Bucket, Storage};
use super::{PIECE_BYTES, hashed, home_of};

/// How many files are remembered as unchanged.
const VERIFIED: usize = 10_000;
/// How much of a bucket's object one call reads: as much is in memory for each stream.
const CALL_BYTES: u64 = 1024 * 1024;
/// How many files are hashed at once before they are given out.
static HASHING: Semaphore = Semaphore::const_new(2);

/// A stream of a file's content.
pub type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// Files in folders. Clones share the same store.
#[derive(Clone)]
pub struct Folders {
    storage: Storage,
    /// The folder of files that are being received. For a store in a folder it is on the same file system.
    incoming: PathBuf,
    /// The ETags under which files were found to have the content that their names say.
    verified: Arc<Cache<String, String>>,
}

/// The place of a file: the name of its folder, and names below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilePath(Key);

impl FilePath {
    /// Returns the path of a file, or of everything below a folder. The parts are ids, numbers and hashes, none of which
    /// has a slash.
    pub fn of(parts: impl IntoIterator<Item = String>) -> Self {
        Self(Key::from_iter(parts))
    }
}

impl Folders {
    /// Stores files in a folder, which is created if it is missing.
    ///
    /// # Errors
    /// Returns the I/O error when the folder can't be created.
    pub fn at(folder: PathBuf) -> io::Result<Self> {
        let incoming = folder.join("incoming");
        Ok(Self { storage: Storage::folder(folder)?, incoming, verified: Arc::new(Cache::new(VERIFIED)) })
    }

    /// Stores files as objects of a bucket whose names begin with `prefix/`; `incoming` is a folder of this machine.
    #[must_use]
    pub fn in_bucket(bucket: &Bucket, prefix: &str, incoming: PathBuf) -> Self {
        Self {
            storage: Storage::bucket(bucket, prefix, home_of(&incoming)),
            incoming,
            verified: Arc::new(Cache::new(VERIFIED)),
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
    pub async fn put(&self, path: &FilePath, received: Received) -> io::Result<()> {
        self.storage.put(&path.0, received).await
    }

    /// Copies a stored file to the end of one that is being received.
    ///
    /// # Errors
    /// Returns `NotFound` when there is no such file, `InvalidData` when its content is not what its hash says,
    /// otherwise the I/O error.
    pub async fn append(&self, path: &FilePath, sha256: &str, to: &mut Incoming) -> io::Result<()> {
        let mut content = self.content(path, None).await?;
        let mut digest = Sha256::new();
        while let Some(piece) = content.next().await {
            let piece = piece?;
            digest.update(&piece);
            to.write(&piece).await?;
        }
        must_be(&hex::encode(digest.finalize()), sha256)
    }

    /// Opens a range of a stored file, once its content was found to be what its hash says. That is looked at again
    /// only if the file was changed since, or the server was restarted.
    ///
    /// # Errors
    /// As [`Folders::append`].
    pub async fn open(&self, path: &FilePath, sha256: &str, range: Range<u64>) -> io::Result<ByteStream> {
        self.verify(path, sha256).await?;
        self.content(path, Some(range)).await
    }

    /// Opens a stored file as one of this machine: itself, or a copy that is deleted with the second part of the result.
    ///
    /// # Errors
    /// As [`Folders::append`].
    pub async fn file(&self, path: &FilePath, sha256: &str) -> io::Result<(File, Option<Received>)> {
        if let Some(file) = self.storage.file(&path.0).await? {
            self.verify(path, sha256).await?;
            return Ok((file, None));
        }
        let mut copy = self.receive().await?;
        self.append(path, sha256, &mut copy).await?;
        let copy = copy.end().await?;
        let file = copy.open().await?.into_std().await;
        Ok((file, Some(copy)))
    }

    /// Finds that a file's content is what its hash says, unless it was found before.
    async fn verify(&self, path: &FilePath, sha256: &str) -> io::Result<()> {
        let name = path.0.to_string();
        let etag = self.storage.etag(&path.0).await?;
        if self.verified.get(&name).is_none_or(|verified| verified != etag) {
            let _permit = HASHING.acquire().await.map_err(io::Error::other)?;
            must_be(&self.hash(path).await?, sha256)?;
            self.verified.insert(name, etag);
        }
        Ok(())
    }

    async fn hash(&self, path: &FilePath) -> io::Result<String> {
        if let Some(file) = self.storage.file(&path.0).await? {
            return Ok(spawn_blocking(move || hashed(file)).await??.1);
        }
        let mut digest = Sha256::new();
        let mut content = self.content(path, None).await?;
        while let Some(piece) = content.next().await {
            digest.update(&piece?);
        }
        Ok(hex::encode(digest.finalize()))
    }

    /// Returns a range of a file, or the whole. A bucket's object is read in several calls, each of which is over soon
    /// however slowly the stream is read.
    async fn content(&self, path: &FilePath, range: Option<Range<u64>>) -> io::Result<ByteStream> {
        if let Some(file) = self.storage.file(&path.0).await? {
            let mut file = fs::File::from_std(file);
            let (start, end) = range.map_or((0, u64::MAX), |range| (range.start, range.end));
            file.seek(io::SeekFrom::Start(start)).await?;
            let part = file.take(end.saturating_sub(start));
            return Ok(ReaderStream::with_capacity(part, PIECE_BYTES).boxed());
        }
        let range = match range {
            Some(range) => range,
            None => 0..self.storage.size(&path.0).await?,
        };
        let (storage, key) = (self.storage.clone(), path.0.clone());
        let calls = stream::try_unfold(range.start, move |at| {
            let (storage, key) = (storage.clone(), key.clone());
            async move {
                let end = range.end.min(at.saturating_add(CALL_BYTES));
                if at >= end {
                    return Ok(None);
                }
                Ok(Some((storage.bytes(&key, at..end).await?, end)))
            }
        });
        Ok(calls.boxed())
    }

    /// Deletes everything below a path. A missing folder is not an error.
    ///
    /// # Errors
    /// Returns the I/O error; what was deleted before it stays deleted.
    pub async fn delete_all(&self, below: &FilePath) -> io::Result<()> {
        let mut found = self.storage.list(&below.0);
        while let Some(found) = found.next().await {
            self.storage.delete(&found?.location).await?;
        }
        self.storage.remove_empty_folders(&below.0).await
    }

    /// Deletes one file. A missing file is not an error.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn delete(&self, path: &FilePath) -> io::Result<()> {
        self.storage.delete(&path.0).await
    }

    /// Returns the files below a path that were stored before a given time.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn stored_before(&self, below: &FilePath, before: SystemTime) -> io::Result<Vec<FilePath>> {
        let (mut stored, mut found) = (Vec::new(), self.storage.list(&below.0));
        while let Some(found) = found.next().await {
            let found = found?;
            if SystemTime::from(found.last_modified) < before {
                stored.push(FilePath(found.location));
            }
        }
        Ok(stored)
    }

    /// Returns when the newest file below a path was stored; `None` if there is none.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn newest(&self, below: &FilePath) -> io::Result<Option<SystemTime>> {
        let (mut newest, mut found) = (None, self.storage.list(&below.0));
        while let Some(found) = found.next().await {
            newest = newest.max(Some(SystemTime::from(found?.last_modified)));
        }
        Ok(newest)
    }

    /// Returns the names of all folders.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn names(&self) -> io::Result<Vec<String>> {
        self.storage.folders().await
    }

    /// Deletes incomplete uploads that a killed server left behind.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn clear_incoming(&self) -> io::Result<()> {
        super::clear(&self.incoming).await
    }
}

fn must_be(found: &str, sha256: &str) -> io::Result<()> {
    if found == sha256 {
        return Ok(());
    }
    let message = format!("the file that is stored as {sha256} has the SHA-256 {found}");
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}
