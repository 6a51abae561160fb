//! Where stored files are: a folder of this machine, or a bucket of a service that speaks Amazon's S3.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::prefix::PrefixStore;
use object_store::{
    BackoffConfig, ClientOptions, GetResultPayload, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig,
};
use quick_cache::sync::Cache;
use tokio::fs;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

use super::hold::DeletionLock;
use super::incoming::Received;

/// A larger file is sent in parts of this size, each of which is in memory as a whole. S3 takes no smaller parts, and 10,000.
const PART_BYTES: usize = 5 * 1024 * 1024;
/// How many files are sent at once; each holds up to two parts in memory.
static SENDING: Semaphore = Semaphore::const_new(4);
/// How much of a file is read at once while it is sent.
const PIECE_BYTES: usize = 256 * 1024;
/// How long a connection to the bucket may take to be made.
const CONNECT: Duration = Duration::from_secs(5);

/// A bucket and how it is accessed.
#[derive(Debug, Clone)]
pub struct Bucket {
    store: Arc<AmazonS3>,
}

/// What [`Bucket::new`] needs to know.
pub struct BucketParts<'a> {
    /// Empty: Amazon's own for the region.
    pub endpoint: &'a str,
    pub region: &'a str,
    pub name: &'a str,
    pub access_key: &'a str,
    pub secret_key: &'a str,
    /// The longest that one call may take, its repetitions included.
    pub timeout: Duration,
}

impl Bucket {
    /// # Errors
    /// Returns a message when the parts are no valid configuration. Nothing is sent yet.
    pub fn new(parts: &BucketParts<'_>) -> Result<Self, String> {
        let options = ClientOptions::new()
            .with_allow_http(parts.endpoint.starts_with("http://"))
            .with_connect_timeout(CONNECT)
            .with_timeout(parts.timeout);
        let retry = RetryConfig { backoff: BackoffConfig::default(), max_retries: 2, retry_timeout: parts.timeout };
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(parts.name)
            .with_region(parts.region)
            .with_access_key_id(parts.access_key)
            .with_secret_access_key(parts.secret_key)
            .with_client_options(options)
            .with_retry(retry);
        if !parts.endpoint.is_empty() {
            builder = builder.with_endpoint(parts.endpoint.trim_end_matches('/'));
        }
        let store = builder.build().map_err(|error| error.to_string())?;
        Ok(Self { store: Arc::new(store) })
    }
}

/// One collection of files. Clones share it.
#[derive(Clone)]
pub(super) struct Storage {
    objects: Arc<dyn ObjectStore>,
    /// The folder that the objects are in, if they are files of this machine.
    folder: Option<PathBuf>,
    /// The folders whose own entries are known to be on disk.
    synced: Arc<Cache<PathBuf, ()>>,
    deletions: DeletionLock,
}

/// How many folders are remembered as synced.
const SYNCED: usize = 10_000;

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.objects)
    }
}

impl Storage {
    /// Uses a folder, which is created if it is missing.
    pub(super) fn folder(folder: PathBuf) -> io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let objects = Arc::new(LocalFileSystem::new_with_prefix(&folder)?);
        let deletions = DeletionLock::within(&folder);
        Ok(Self { objects, folder: Some(folder), synced: Arc::new(Cache::new(SYNCED)), deletions })
    }

    /// Uses the objects of a bucket whose names begin with `prefix/`; `home` is the store's folder of this machine.
    pub(super) fn bucket(bucket: &Bucket, prefix: &str, home: &Path) -> Self {
        let objects = Arc::new(PrefixStore::new(Arc::clone(&bucket.store), prefix));
        let deletions = DeletionLock::within(home);
        Self { objects, folder: None, synced: Arc::new(Cache::new(SYNCED)), deletions }
    }

    /// Stores a received file durably under a key, in place of what is there.
    pub(super) async fn put(&self, key: &Key, received: Received) -> io::Result<()> {
        let Some(folder) = &self.folder else { return self.send(key, received).await };
        let path = folder.join(key.as_ref());
        let parent = path.parent().unwrap_or(folder);
        let mut temporary = received.path;
        loop {
            make_folders(folder, parent, &self.synced).await?;
            // Received files are on the same file system, so nothing is copied.
            match temporary.persist(&path) {
                Ok(()) => break,
                // The folder was empty and has been removed since.
                Err(failed) if failed.error.kind() == io::ErrorKind::NotFound && failed.path.exists() => {
                    self.synced.remove(parent);
                    temporary = failed.path;
                }
                Err(failed) => return Err(failed.error),
            }
        }
        fs::File::open(parent).await?.sync_all().await
    }

    async fn send(&self, key: &Key, received: Received) -> io::Result<()> {
        let _permit = SENDING.acquire().await.map_err(io::Error::other)?;
        let mut file = received.open().await?;
        let upload = BufWriter::with_capacity(Arc::clone(&self.objects), key.clone(), PART_BYTES);
        // One part after the other: more at once are in memory at once.
        let mut upload = upload.with_max_concurrency(1);
        let mut piece = vec![0; PIECE_BYTES];
        let written = async {
            loop {
                match file.read(&mut piece).await? {
                    0 => return Ok(()),
                    read => upload.write_all(piece.get(..read).unwrap_or_default()).await?,
                }
            }
        };
        if let Err(error) = written.await {
            // Parts that can't be deleted now are left to the bucket's own rule for incomplete uploads.
            let _ = upload.abort().await;
            return Err(error);
        }
        upload.shutdown().await
    }

    /// Returns what is stored under a key.
    pub(super) async fn get(&self, key: &Key) -> io::Result<GetResultPayload> {
        Ok(self.objects.get(key).await?.payload)
    }

    /// Opens the file that is stored under a key; `None` for a bucket.
    pub(super) async fn file(&self, key: &Key) -> io::Result<Option<File>> {
        match &self.folder {
            Some(folder) => Ok(Some(fs::File::open(folder.join(key.as_ref())).await?.into_std().await)),
            None => Ok(None),
        }
    }

    /// Reads a range of what is stored under a key into memory.
    pub(super) async fn bytes(&self, key: &Key, range: Range<u64>) -> io::Result<Bytes> {
        Ok(self.objects.get_range(key, range).await?)
    }

    pub(super) async fn size(&self, key: &Key) -> io::Result<u64> {
        Ok(self.objects.head(key).await?.size)
    }

    /// Returns a value that changes with what is stored under a key.
    pub(super) async fn etag(&self, key: &Key) -> io::Result<String> {
        let found = self.objects.head(key).await?;
        Ok(found.e_tag.unwrap_or_else(|| format!("{}-{}", found.last_modified, found.size)))
    }

    /// Returns the names of all folders at the top.
    pub(super) async fn folders(&self) -> io::Result<Vec<String>> {
        let found = self.objects.list_with_delimiter(None).await?;
        let name = |folder: Key| folder.parts().next_back().map(|part| part.as_ref().to_owned());
        Ok(found.common_prefixes.into_iter().filter_map(name).collect())
    }

    /// Removes the folders below a key, and the folder itself, as far as they are empty. A bucket has no empty folders.
    pub(super) async fn remove_empty_folders(&self, below: &Key) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut folders = vec![folder.join(below.as_ref())];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            let mut entries = match fs::read_dir(&folder).await {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            while let Some(entry) = entries.next_entry().await? {
                if entry.file_type().await?.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        for folder in folders.into_iter().rev() {
            self.synced.remove(&folder);
            match fs::remove_dir(&folder).await {
                Ok(()) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Deletes what is stored under a key. A missing file is not an error; a backup that is being taken is one.
    pub(super) async fn delete(&self, key: &Key) -> io::Result<()> {
        let _no_backup = self.deletions.deletion()?;
        match self.objects.delete(key).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            deleted => Ok(deleted?),
        }
    }

    /// Returns everything that is stored below a key.
    pub(super) fn list(&self, below: &Key) -> BoxStream<'static, io::Result<ObjectMeta>> {
        self.objects.list(Some(below)).map(|found| Ok(found?)).boxed()
    }

    #[cfg(test)]
    pub(super) fn path(&self, key: &Key) -> PathBuf {
        self.folder.as_ref().unwrap().join(key.as_ref())
    }
}

/// Creates a folder and those that it is in, below `root`, and syncs their entries to disk once.
async fn make_folders(root: &Path, folder: &Path, synced: &Cache<PathBuf, ()>) -> io::Result<()> {
    let mut path = root.to_owned();
    for name in folder.strip_prefix(root).unwrap_or(Path::new("")).components() {
        let parent = path.clone();
        path.push(name);
        let is_new = match fs::create_dir(&path).await {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            // The parent was empty and has been removed since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(&path).await?;
                true
            }
            Err(error) => return Err(error),
        };
        if is_new || synced.get(&path).is_none() {
            fs::File::open(&parent).await?.sync_all().await?;
            synced.insert(path.clone(), ());
        }
    }
    Ok(())
}
