//! Files by the hash of their content: what is kept twice is kept once, and what was kept can be verified.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tokio::fs;
use tokio::io::AsyncWriteExt;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

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

    /// Hashes come from our own rows; anything else leads nowhere.
    fn path(&self, sha256: &str) -> PathBuf {
        let name: String = sha256.chars().filter(char::is_ascii_hexdigit).collect();
        let start = name.get(..2).unwrap_or("00").to_owned();
        self.folder.join(Path::new(&start)).join(name)
    }
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
