//! A hold on the deletion of stored files while a backup is taken, across processes: an exclusive lock on a file beside
//! the incoming folder. Each deletion holds the same lock, shared, and fails while a backup has it; its job is retried,
//! or the next sweep makes up for it. The operating system unlocks the file when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "deletions.lock";

/// The lock of one store's deletions.
#[derive(Debug, Clone)]
pub(super) struct DeletionLock {
    path: PathBuf,
}

/// While it lives, nothing is deleted from the store.
#[derive(Debug)]
pub struct DeletionHold {
    _locked: File,
}

impl DeletionLock {
    /// `home` is the folder of this machine that belongs to the store.
    pub(super) fn within(home: &Path) -> Self {
        Self { path: home.join(NAME) }
    }

    /// Locks deletions of this process out of a backup.
    ///
    /// # Errors
    /// Returns `ResourceBusy` while a backup is taken.
    pub(super) fn deletion(&self) -> io::Result<DeletionHold> {
        let file = match OpenOptions::new().read(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.open()?,
            opened => opened?,
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(DeletionHold { _locked: file }),
            Err(TryLockError::WouldBlock) => {
                let why = "no file is deleted while a backup is taken";
                Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Locks deletions out for a backup: waits for those that have begun, and makes later ones fail.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(super) fn lock_out_deletions(&self) -> io::Result<DeletionHold> {
        let file = self.open()?;
        file.lock()?;
        Ok(DeletionHold { _locked: file })
    }

    fn open(&self) -> io::Result<File> {
        if let Some(home) = self.path.parent() {
            std::fs::create_dir_all(home)?;
        }
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::DeletionLock;

    #[test]
    fn a_backup_holds_deletions_and_deletions_do_not_hold_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let lock = DeletionLock::within(&folder.path().join("files"));
        let deletions = (lock.deletion().unwrap(), lock.deletion().unwrap());
        drop(deletions);
        let hold = lock.lock_out_deletions().unwrap();
        let refused = lock.deletion().unwrap_err();
        assert_eq!(refused.to_string(), "no file is deleted while a backup is taken");
        drop(hold);
        lock.deletion().unwrap();
    }
}
