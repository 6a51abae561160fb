//! A file in the data folder while a restore is under way: no server starts and no command runs beside half of a store.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "restore-unfinished";

fn path(data: &Path) -> PathBuf {
    data.join(NAME)
}

/// Whether a restore into this data folder was begun and not completed.
#[must_use]
pub fn is_there(data: &Path) -> bool {
    path(data).exists()
}

/// # Errors
/// Returns a message when a restore was begun and not completed.
pub fn refuse(data: &Path) -> Result<(), String> {
    if !is_there(data) {
        return Ok(());
    }
    Err(format!(
        "a restore into {} was begun and is not complete: run `colloquy admin restore` again, which goes on (with \
         --overwrite where it says that the database is not empty), or remove the folder",
        data.display()
    ))
}

/// Writes the marker, durably.
pub(super) fn put(data: &Path) -> io::Result<()> {
    let mut file = File::create(path(data))?;
    writeln!(file, "process {}", std::process::id())?;
    file.sync_all()?;
    File::open(data)?.sync_all()
}

/// Removes the marker, durably.
pub(super) fn remove(data: &Path) -> io::Result<()> {
    fs::remove_file(path(data))?;
    File::open(data)?.sync_all()
}
