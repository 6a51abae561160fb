//! Files by the hash of their content: what is kept twice is kept once, and what was kept can be verified.

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

/// Whatever was kept for longer is named by then, or never will be.
pub const SETTLED: Duration = Duration::from_secs(24 * 60 * 60);
/// How many hashes are asked about at once.
const PAGE: usize = 500;
/// Signs of a SHA-256, hexadecimal.
const HASH: usize = 64;

/// A folder of files, each under its SHA-256. Clones are the same one.
#[derive(Clone)]
pub struct Files {
    folder: PathBuf,
    /// Keeping and forgetting take turns: between the file and the row that names it nothing may be forgotten.
    turn: Arc<RwLock<()>>,
}

/// A file that was kept and that no row may name yet. Let go of it once the row is committed.
#[must_use = "until the row that names the file is committed, this keeps it from being forgotten"]
pub struct Kept {
    _turn: OwnedRwLockReadGuard<()>,
}

/// The time in which files may be forgotten: nothing is kept meanwhile.
pub struct Forgetting {
    files: Files,
    _turn: OwnedRwLockWriteGuard<()>,
}

/// A file that is being received; gone unless it is kept.
pub struct Incoming {
    file: fs::File,
    path: tempfile::TempPath,
    digest: Sha256,
    size: u64,
}

/// A file that has arrived whole.
pub struct Received {
    path: tempfile::TempPath,
    /// Hexadecimal.
    pub sha256: String,
    pub size: u64,
}

impl Files {
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, turn: Arc::default() }
    }

    /// Begins to receive a file.
    ///
    /// # Errors
    /// The folder can't be written to.
    pub async fn receive(&self) -> io::Result<Incoming> {
        let folder = self.folder.join("incoming");
        fs::create_dir_all(&folder).await?;
        let (file, path) = tempfile::Builder::new().prefix("upload-").tempfile_in(&folder)?.into_parts();
        Ok(Incoming { file: fs::File::from_std(file), path, digest: Sha256::new(), size: 0 })
    }

    /// Keeps what was received, durably. What stands there already under that hash is the same content.
    ///
    /// # Errors
    /// The disk's own.
    pub async fn keep(&self, received: Received) -> io::Result<Kept> {
        let turn = Arc::clone(&self.turn).read_owned().await;
        let path = self.path(&received.sha256);
        let folder = path.parent().unwrap_or(&self.folder).to_owned();
        fs::create_dir_all(&folder).await?;
        let kept = received.path.persist(&path).map_err(|error| error.error);
        kept?;
        fs::File::open(&folder).await?.sync_all().await?;
        // The folder itself may be new.
        fs::File::open(&self.folder).await?.sync_all().await?;
        Ok(Kept { _turn: turn })
    }

    /// A file, to be read piece by piece.
    ///
    /// # Errors
    /// `NotFound`: nothing is kept under that hash. Else the disk's own.
    pub async fn open(&self, sha256: &str) -> io::Result<fs::File> {
        fs::File::open(self.path(sha256)).await
    }

    /// Waits until every file that was kept has its row. Look only then which files no row names.
    pub async fn forgetting(&self) -> Forgetting {
        let turn = Arc::clone(&self.turn).write_owned().await;
        Forgetting { files: self.clone(), _turn: turn }
    }

    /// Clears what was being received when a server was killed.
    ///
    /// # Errors
    /// The disk's own.
    pub async fn clear_incoming(&self) -> io::Result<()> {
        match fs::remove_dir_all(self.folder.join("incoming")).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes what nothing names, of what was kept before a time; gives how much. `named` tells which of some hashes are
    /// named. What else lies in the folder is not ours, and stays.
    ///
    /// # Errors
    /// Why some stay, in words.
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
                // Most are named: uploads wait only while those are removed that are not.
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

    /// The hashes in one folder under which something was kept before a time.
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
                // Young, or gone meanwhile.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(kept)
    }

    /// Hashes come from our own rows; anything else leads nowhere.
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

impl Forgetting {
    /// Forgets a file; one that is not there is no error.
    ///
    /// # Errors
    /// The disk's own.
    pub async fn forget(&self, sha256: &str) -> io::Result<()> {
        match fs::remove_file(self.files.path(sha256)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Incoming {
    /// # Errors
    /// The disk's own.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.size += bytes.len() as u64;
        self.file.write_all(bytes).await
    }

    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The file is whole, and on the disk.
    ///
    /// # Errors
    /// The disk's own.
    pub async fn end(mut self) -> io::Result<Received> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        Ok(Received { path: self.path, sha256: hex::encode(self.digest.finalize()), size: self.size })
    }
}

impl Received {
    /// To be read piece by piece.
    ///
    /// # Errors
    /// The disk's own.
    pub async fn open(&self) -> io::Result<fs::File> {
        fs::File::open(&self.path).await
    }

    /// # Errors
    /// The disk's own.
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

    use super::{Files, Kept, SETTLED};

    /// Keeps a text that was kept long ago; gives its hash.
    async fn kept_long_ago(files: &Files, text: &str) -> (String, Kept) {
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
        // The row comes once the sweep has seen that there is none.
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
