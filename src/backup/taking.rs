//! Takes a backup while servers go on.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use actors::time::Time;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::archive::{ABOUT, ArchiveWriter, BackupAbout, EntryName, FORMAT};
use super::{BackupPlaces, BackupStore};
use crate::clients::files::{Collection, DeletionHold};
use crate::db::snapshot::DatabaseCopy;

/// What was backed up.
#[derive(Debug, Default)]
pub struct TakenBackup {
    pub files: u64,
    /// Size of the archive.
    pub bytes: u64,
    /// Files that a row refers to and that are missing or have another content than was stored, with what is wrong.
    pub faults: Vec<String>,
}

/// The archive while it is incomplete, and a folder for temporary files. Both are removed on drop.
struct Unfinished {
    archive: PathBuf,
    scratch: PathBuf,
}

impl Unfinished {
    fn beside(to: &Path) -> io::Result<Self> {
        let beside = |suffix: &str| {
            let mut name = to.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let unfinished = Self { archive: beside(".partial"), scratch: beside(".scratch") };
        // What a killed backup left behind.
        unfinished.remove();
        DirBuilder::new().mode(0o700).create(&unfinished.scratch)?;
        Ok(unfinished)
    }

    fn remove(&self) {
        // What can't be removed is reported when it is created anew.
        let _ = fs::remove_file(&self.archive);
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Writes a backup to a new file.
///
/// # Errors
/// Returns a message; then there is no such file.
pub async fn take(places: &BackupPlaces, to: &Path, now: Time) -> Result<TakenBackup, String> {
    let unusable = |error: io::Error| format!("{} can't be written: {error}", to.display());
    // Held until the last file is read. Before all else: another backup to the same file must not tidy up meanwhile.
    let _holds = hold_deletions(&places.stores)?;
    if to.exists() {
        return Err(format!("{} exists already", to.display()));
    }
    let unfinished = Unfinished::beside(to).map_err(unusable)?;
    let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished.archive);
    let mut snapshot = DatabaseCopy::take(&places.database, &unfinished.scratch).await.map_err(|error| error.0)?;
    let seconds = u64::try_from(now.utc().timestamp()).unwrap_or_default();
    let mut archive = ArchiveWriter::begin(new.map_err(unusable)?, &unfinished.scratch, seconds).map_err(unusable)?;
    let about = BackupAbout {
        format: FORMAT,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        taken_at: now.utc().to_rfc3339(),
        database: snapshot.about.clone(),
    };
    let text = serde_json::to_vec_pretty(&about).map_err(|error| error.to_string())?;
    archive.append(ABOUT, text.len() as u64, text.as_slice()).map_err(unusable)?;
    append_keys(&mut archive, &places.keys)?;
    for part in &about.database.parts {
        let file = snapshot.open(part).await.map_err(|error| error.0)?;
        append_file(&mut archive, &format!("database/{}", part.name), file).map_err(unusable)?;
    }
    let mut list = tempfile::tempfile_in(&unfinished.scratch).map_err(unusable)?;
    let mut lines = BufWriter::new(&mut list);
    snapshot.list_files(&mut lines).await.map_err(|error| error.0)?;
    lines.flush().map_err(unusable)?;
    drop(lines);
    drop(snapshot);
    list.rewind().map_err(unusable)?;
    let mut taken = append_stored(&mut archive, &places.stores, list).await?;
    archive.finish().map_err(unusable)?;
    taken.bytes = fs::metadata(&unfinished.archive).map_err(unusable)?.len();
    renameat_with(CWD, &unfinished.archive, CWD, to, RenameFlags::NOREPLACE).map_err(|error| unusable(error.into()))?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(unusable)?;
    Ok(taken)
}

fn hold_deletions(stores: &[BackupStore]) -> Result<Vec<DeletionHold>, String> {
    let hold = |store: &BackupStore| {
        Collection::hold_deletions(&store.home).map_err(|error| format!("{}: {error}", store.home.display()))
    };
    stores.iter().map(hold).collect()
}

fn append_keys(archive: &mut ArchiveWriter, folder: &Path) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("the keys in {} can't be read: {error}", folder.display());
    let entries: Vec<fs::DirEntry> = fs::read_dir(folder).and_then(|entries| entries.collect()).map_err(unreadable)?;
    let mut names: Vec<String> = entries
        .into_iter()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".key") && !name.starts_with('.'))
        .collect();
    names.sort();
    for name in names {
        let file = File::open(folder.join(&name)).map_err(unreadable)?;
        append_file(archive, &format!("keys/{name}"), file).map_err(unreadable)?;
    }
    Ok(())
}

fn append_file(archive: &mut ArchiveWriter, name: &str, file: File) -> io::Result<String> {
    archive.append(name, file.metadata()?.len(), file)
}

/// Appends the files of a list, each line of which is the name of a store, a tabulator and a key.
async fn append_stored(archive: &mut ArchiveWriter, stores: &[BackupStore], list: File) -> Result<TakenBackup, String> {
    let mut taken = TakenBackup::default();
    for line in BufReader::new(list).lines() {
        let line = line.map_err(|error| error.to_string())?;
        let place = line.split_once('\t');
        let found = place.and_then(|(name, key)| Some((stores.iter().find(|store| store.name == name)?, key)));
        let (store, key) = found.ok_or_else(|| format!("{line}: there is no such store"))?;
        let name = EntryName::file(store.name, key);
        let unreadable = |error: io::Error| format!("{name} can't be copied: {error}");
        let file = match store.files.open(key).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                archive.note_missing(&name).map_err(unreadable)?;
                taken.faults.push(format!("{name} is missing"));
                continue;
            }
            Err(error) => return Err(unreadable(error)),
        };
        let sha256 = append_file(archive, &name, file).map_err(unreadable)?;
        taken.files += 1;
        // The name of each stored file ends in its hash.
        if !name.ends_with(&sha256) {
            taken.faults.push(format!("{name} was changed after it was stored"));
        }
    }
    Ok(taken)
}
