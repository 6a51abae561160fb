//! A content-addressed file store: files are stored under their SHA-256, so equal content is stored once and can be
//! verified.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::AsyncWriteExt;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio_util::sync::CancellationToken;

/// After this time a stored file is referenced by a row, or never will be.
pub const SETTLED: Duration = Duration::from_secs(24 * 60 * 60);
/// How many hashes one query looks up.
const PAGE: usize = 500;
/// Length of a hexadecimal SHA-256, in characters.
const HASH: usize = 64;

/// A folder of files, each stored under its SHA-256. Clones share the same store.
#[derive(Clone)]
pub struct Files {
    folder: PathBuf,
    /// Read-locked while files are stored and write-locked while files are deleted: between storing a file and
    /// committing the row that references it, nothing may be deleted.
    turn: Arc<RwLock<()>>,
}

/// A stored file that no row may reference yet. While this guard lives, no file can be deleted; drop it once the row is
/// committed.
#[must_use = "until the row that names the file is committed, this keeps it from being forgotten"]
pub struct KeptFile {
    _turn: OwnedRwLockReadGuard<()>,
}

/// Exclusive permission to delete files: while it lives, no file can be stored.
pub struct ForgetWindow {
    files: Files,
    _turn: OwnedRwLockWriteGuard<()>,
}

/// A file that is being received; deleted on drop unless it is stored.
pub struct Incoming {
    file: fs::File,
    path: tempfile::TempPath,
    digest: Sha256,
    size: u64,
}

/// A file that was received completely.
pub struct Received {
    path: tempfile::TempPath,
    /// The SHA-256 of the content, hexadecimal.
    pub sha256: String,
    pub size: u64,
}

impl Files {
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, turn: Arc::default() }
    }

    /// Opens a temporary file to receive content.
    ///
    /// # Errors
    /// Returns the I/O error when the folder is not writable.
    pub async fn receive(&self) -> io::Result<Incoming> {
        let folder = self.folder.join("incoming");
        fs::create_dir_all(&folder).await?;
        let (file, path) = tempfile::Builder::new().prefix("upload-").tempfile_in(&folder)?.into_parts();
        Ok(Incoming { file: fs::File::from_std(file), path, digest: Sha256::new(), size: 0 })
    }

    /// Stores a received file durably. A file that exists already under its hash has the same content.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn keep(&self, received: Received) -> io::Result<KeptFile> {
        let turn = Arc::clone(&self.turn).read_owned().await;
        let path = self.path(&received.sha256);
        let folder = path.parent().unwrap_or(&self.folder).to_owned();
        fs::create_dir_all(&folder).await?;
        let kept = received.path.persist(&path).map_err(|error| error.error);
        kept?;
        fs::File::open(&folder).await?.sync_all().await?;
        // The folder itself may be new, so its parent is synced too.
        fs::File::open(&self.folder).await?.sync_all().await?;
        Ok(KeptFile { _turn: turn })
    }

    /// Opens a stored file for streaming.
    ///
    /// # Errors
    /// Returns `NotFound` when nothing is stored under the hash, otherwise the I/O error.
    pub async fn open(&self, sha256: &str) -> io::Result<fs::File> {
        fs::File::open(self.path(sha256)).await
    }

    /// Waits until every stored file has its row, then locks the store for deletion. Determine which files no row
    /// references only after this returns.
    pub async fn forgetting(&self) -> ForgetWindow {
        let turn = Arc::clone(&self.turn).write_owned().await;
        ForgetWindow { files: self.clone(), _turn: turn }
    }

    /// Deletes incomplete uploads that a killed server left behind.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub async fn clear_incoming(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.folder.join("incoming")).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
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
            let mut left = self.kept_before(&hex::encode([first]), before).await.map_err(|error| error.to_string())?;
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

    /// Returns the hashes in one subfolder whose files were stored before a given time.
    async fn kept_before(&self, folder: &str, before: SystemTime) -> io::Result<Vec<String>> {
        let mut kept = Vec::new();
        let mut entries = match fs::read_dir(self.folder.join(folder)).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(kept),
            Err(error) => return Err(error),
        };
        while let Some(entry) = entries.next_entry().await? {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !is_hash(&name) || !name.starts_with(folder) {
                continue;
            }
            match entry.metadata().await {
                Ok(metadata) if metadata.is_file() && metadata.modified()? < before => kept.push(name),
                // Too recent, not a regular file, or deleted meanwhile.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(kept)
    }

    /// Returns the path of a hash. Hashes come from this server's own rows; any character that is not a hexadecimal
    /// digit is dropped, so no path leads outside the folder.
    fn path(&self, sha256: &str) -> PathBuf {
        let name: String = sha256.chars().filter(char::is_ascii_hexdigit).collect();
        let start = name.get(..2).unwrap_or("00").to_owned();
        self.folder.join(Path::new(&start)).join(name)
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
        match fs::remove_file(self.files.path(sha256)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Incoming {
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, SystemTime};

    use futures_util::FutureExt;
    use tokio::sync::oneshot;
    use tokio_util::sync::CancellationToken;

    use super::{Files, KeptFile, SETTLED};

    /// Stores a text and sets its time to long ago; returns its hash.
    async fn kept_long_ago(files: &Files, text: &str) -> (String, KeptFile) {
        let mut incoming = files.receive().await.unwrap();
        incoming.write(text.as_bytes()).await.unwrap();
        let received = incoming.end().await.unwrap();
        let sha256 = received.sha256.clone();
        let kept = files.keep(received).await.unwrap();
        age(files, &sha256, 2 * SETTLED);
        (sha256, kept)
    }

    fn age(files: &Files, sha256: &str, by: Duration) {
        let file = File::options().write(true).open(files.path(sha256)).unwrap();
        file.set_modified(SystemTime::now() - by).unwrap();
    }

    async fn sweep(files: &Files, named: Vec<String>) -> usize {
        let named = move |_| {
            let named = named.clone();
            async move { Ok(named) }.boxed()
        };
        files.sweep(SystemTime::now() - SETTLED, named, &CancellationToken::new()).await.unwrap()
    }

    #[tokio::test]
    async fn what_nothing_names_goes_once_it_is_old_and_what_is_not_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::at(folder.path().to_owned());
        let (orphan, _) = kept_long_ago(&files, "nobody's").await;
        let (named, _) = kept_long_ago(&files, "somebody's").await;
        let (young, _) = kept_long_ago(&files, "somebody's soon").await;
        age(&files, &young, SETTLED / 2);
        let other = files.path(&orphan).with_file_name("README");
        std::fs::write(&other, "").unwrap();
        File::options().write(true).open(&other).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(sweep(&files, vec![named.clone()]).await, 1);
        let left = [&orphan, &named, &young].map(|sha256| files.path(sha256).exists());
        assert_eq!((left, other.exists()), ([false, true, true], true));
    }

    #[tokio::test]
    async fn a_file_that_a_row_is_about_to_name_stays_however_old_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::at(folder.path().to_owned());
        let (sha256, kept) = kept_long_ago(&files, "kept again").await;
        let rows: Arc<Mutex<Vec<String>>> = Arc::default();
        // The row is committed after the sweep has seen that there is none.
        let (looked, look) = oneshot::channel();
        let looked = Arc::new(Mutex::new(Some(looked)));
        let committing = {
            let (rows, sha256) = (Arc::clone(&rows), sha256.clone());
            async move {
                look.await.unwrap();
                rows.lock().unwrap().push(sha256);
                drop(kept);
            }
        };
        let named = move |_| {
            let named = rows.lock().unwrap().clone();
            if let Some(looked) = looked.lock().unwrap().take() {
                looked.send(()).unwrap();
            }
            async move { Ok(named) }.boxed()
        };
        let stopping = CancellationToken::new();
        let (swept, ()) = tokio::join!(files.sweep(SystemTime::now() - SETTLED, named, &stopping), committing);
        assert_eq!(swept, Ok(0));
        assert!(files.path(&sha256).exists());
    }
}
