//! Restores a backup: everything is verified before anything is touched, and the database comes last.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use super::archive::{BackupAbout, EntryName};
use super::verified::VerifiedArchive;
use super::{BackupPlaces, BackupStore, marker};
use crate::db::InstanceLease;
use crate::db::snapshot::{Restoring, SnapshotKind, is_known};

/// How much of an entry is copied at once.
const PIECE_BYTES: usize = 256 * 1024;

/// What was restored.
#[derive(Debug)]
pub struct RestoredBackup {
    pub about: BackupAbout,
    pub files: u64,
    /// The names of the files that were missing already when the backup was taken.
    pub missing: Vec<String>,
}

/// Restores the archive `from`. With `overwrite` what is there is replaced.
///
/// # Errors
/// Returns a message. Before the first change nothing was touched; after it no server starts until a restore is complete.
pub async fn restore(places: &BackupPlaces, from: &Path, overwrite: bool) -> Result<RestoredBackup, String> {
    let data_fault = |error: io::Error| format!("{} can't be used: {error}", places.data.display());
    DirBuilder::new().recursive(true).mode(0o700).create(&places.data).map_err(data_fault)?;
    let archive = VerifiedArchive::read(from, &places.data)?;
    let about = &archive.about;
    must_fit(about, &places.database)?;
    let _lease = InstanceLease::of_file(&places.database).map_err(|held| held.to_string())?;
    let goes_on = marker::is_there(&places.data);
    if !overwrite && !goes_on {
        must_be_empty(places).await?;
    }
    // PostgreSQL is asked before anything is written, and again when its turn comes: files may take long.
    let refused = |error: crate::db::OpenError| format!("{error}{}", if overwrite { "" } else { OVERWRITE });
    drop(Restoring::begin(&places.database, &about.database, overwrite).await.map_err(refused)?);

    marker::put(&places.data).map_err(data_fault)?;
    let files = restore_files(&archive, places).await?;
    let mut database = Restoring::begin(&places.database, &about.database, overwrite).await.map_err(refused)?;
    archive
        .entries(async |name, content| {
            let EntryName::Database(name) = name else { return Ok(()) };
            let part = about.database.parts.iter().find(|part| part.name == *name);
            let part = part.ok_or_else(|| format!("the archive does not describe its part {name}"))?;
            database.load(part, content).await.map_err(|error| error.0)
        })
        .await?;
    database.commit().await.map_err(|error| error.0)?;
    marker::remove(&places.data).map_err(data_fault)?;
    Ok(RestoredBackup { about: archive.about, files, missing: archive.missing })
}

const OVERWRITE: &str = "; --overwrite replaces what is there";

/// Checks that the archive is of this kind of database, and of no newer version.
fn must_fit(about: &BackupAbout, url: &str) -> Result<(), String> {
    let kind = about.database.kind;
    match SnapshotKind::of(url) {
        Some(here) if here == kind => {}
        Some(here) => return Err(format!("the archive has the database of {kind}, and the settings name {here}")),
        None => return Err("the database's URL must begin with sqlite:// or postgres://".to_owned()),
    }
    match about.database.migrations.iter().find(|version| !is_known(kind, version)) {
        None => Ok(()),
        Some(newer) => Err(format!(
            "the archive was made by the newer version {} of Colloquy (migration {newer}): restore it with that version",
            about.program_version
        )),
    }
}

async fn must_be_empty(places: &BackupPlaces) -> Result<(), String> {
    let has_keys = key_files(&places.keys).map_err(|error| format!("{}: {error}", places.keys.display()))?;
    if !has_keys.is_empty() {
        return Err(format!("there are keys in {}{OVERWRITE}", places.keys.display()));
    }
    for store in &places.stores {
        let is_empty = store.files.is_empty().await.map_err(|error| format!("{}: {error}", store.name))?;
        if !is_empty {
            return Err(format!("there are stored {} already{OVERWRITE}", store.name));
        }
    }
    Ok(())
}

fn key_files(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => {
            let files: io::Result<Vec<_>> = entries?.map(|entry| Ok(entry?.path())).collect();
            Ok(files?.into_iter().filter(|file| file.extension().is_some_and(|extension| extension == "key")).collect())
        }
    }
}

/// Restores keys and stored files; returns the number of the files.
async fn restore_files(archive: &VerifiedArchive, places: &BackupPlaces) -> Result<u64, String> {
    let keys_fault = |error: io::Error| format!("the keys in {} can't be written: {error}", places.keys.display());
    DirBuilder::new().recursive(true).mode(0o700).create(&places.keys).map_err(keys_fault)?;
    // Former keys would stay in use beside the restored ones.
    for file in key_files(&places.keys).map_err(keys_fault)? {
        fs::remove_file(file).map_err(keys_fault)?;
    }
    let mut files = 0;
    archive
        .entries(async |name, content| match name {
            EntryName::Key(name) => restore_key(&places.keys.join(name), content).map_err(keys_fault),
            EntryName::File { store, key } => {
                let found = places.stores.iter().find(|place| place.name == store);
                let store = found.ok_or_else(|| format!("there is no store {store}"))?;
                files += 1;
                restore_file(store, key, content).await.map_err(|error| format!("{}/{key}: {error}", store.name))
            }
            _ => Ok(()),
        })
        .await?;
    fs::File::open(&places.keys).and_then(|folder| folder.sync_all()).map_err(keys_fault)?;
    Ok(files)
}

fn restore_key(file: &Path, content: &mut dyn Read) -> io::Result<()> {
    let mut key = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    io::copy(content, &mut key)?;
    key.flush()?;
    key.sync_all()
}

async fn restore_file(store: &BackupStore, key: &str, content: &mut dyn Read) -> io::Result<()> {
    let mut incoming = store.files.receive().await?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match content.read(&mut piece)? {
            0 => break,
            read => incoming.write(piece.get(..read).unwrap_or_default()).await?,
        }
    }
    store.files.put(key, incoming.end().await?).await
}
