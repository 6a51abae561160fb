//! Backup and restore: the database at one moment, the stored files that it refers to, and the keys, in one archive.
//!
//! ```text
//! colloquy admin backup FILE                              colloquy admin restore FILE
//!   deletions of stored files wait                          the archive is verified, whole
//!   the database is copied at one moment                    the target must be empty (or --overwrite)
//!   keys, database, files are written and hashed            the marker is written: no server starts
//!   the manifest with all hashes is written last            files, keys, database, in this order
//!   FILE.partial becomes FILE                               the marker is removed
//! ```
//! Servers go on reading and writing while a backup is taken. Stored files never change and no file is deleted meanwhile, so
//! that those which the copy of the database refers to are all there. An archive is a tar file in gzip: what is in it, and
//! nothing else, is described by [`archive`]. Deliberately absent: e-mails in the outbox of a server without a mail server,
//! speech models, settings, and the lease of the server that uses the database.

pub mod archive;
mod listing;
pub mod marker;
mod restoring;
mod taking;
mod verified;

use std::path::PathBuf;

pub use self::restoring::{RestoredBackup, restore};
pub use self::taking::{TakenBackup, take};
use crate::clients::files::Collection;

/// Where a server keeps its things.
pub struct BackupPlaces {
    /// The data folder.
    pub data: PathBuf,
    pub keys: PathBuf,
    /// The URL of the database.
    pub database: String,
    pub stores: Vec<BackupStore>,
}

/// A store of files.
pub struct BackupStore {
    pub name: &'static str,
    /// The store's folder of this machine, for a bucket too.
    pub home: PathBuf,
    pub files: Collection,
}
