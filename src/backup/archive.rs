//! The form of an archive, and its writer.
//!
//! ```text
//! backup.json                 what it is: see [`BackupAbout`]
//! keys/NAME.key               each key file
//! database/PART               the file of SQLite, or the rows of each table of PostgreSQL in the text form of COPY
//! files/STORE/KEY             each stored file: its store (documents, recordings …) and its key in there
//! manifest.txt                a line for each entry before it: SHA-256, size and name; and for each file that was missing
//! ```

use std::fs::File;
use std::io::{self, BufWriter, Read};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::listing::{ListingLine, ListingWriter};
use crate::db::snapshot::SnapshotAbout;

pub(super) const ABOUT: &str = "backup.json";
pub(super) const MANIFEST: &str = "manifest.txt";
/// The version of this form. A change that an older program would misread raises it.
pub(super) const FORMAT: u32 = 1;

/// What an archive says about itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupAbout {
    pub format: u32,
    /// The version of the program that made it.
    pub program_version: String,
    /// RFC 3339, in UTC. Everything that was confirmed before is in the archive.
    pub taken_at: String,
    pub database: SnapshotAbout,
}

/// The name of an entry, parsed: no other names are read, so that none leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntryName {
    About,
    Key(String),
    Database(String),
    File { store: String, key: String },
    Manifest,
}

impl EntryName {
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            ABOUT => return Some(Self::About),
            MANIFEST => return Some(Self::Manifest),
            _ => {}
        }
        let (kind, rest) = name.split_once('/')?;
        match kind {
            "keys" => (is_plain(rest) && rest.ends_with(".key")).then(|| Self::Key(rest.to_owned())),
            "database" => is_plain(rest).then(|| Self::Database(rest.to_owned())),
            "files" => {
                let (store, key) = rest.split_once('/')?;
                let is_fine = is_plain(store) && key.split('/').count() <= 4 && key.split('/').all(is_plain);
                is_fine.then(|| Self::File { store: store.to_owned(), key: key.to_owned() })
            }
            _ => None,
        }
    }

    pub(super) fn file(store: &str, key: &str) -> String {
        format!("files/{store}/{key}")
    }
}

/// A part of a path that can't lead anywhere else.
fn is_plain(part: &str) -> bool {
    let allowed = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_' | b'.');
    (1..=200).contains(&part.len()) && part.bytes().all(allowed) && !part.starts_with('.')
}

/// Counts and hashes what is read through it.
pub(super) struct Hashing<R> {
    inner: R,
    digest: Sha256,
    size: u64,
}

impl<R: Read> Hashing<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, digest: Sha256::new(), size: 0 }
    }

    pub(super) fn line(self, name: &str) -> ListingLine {
        ListingLine { sha256: hex::encode(self.digest.finalize()), size: self.size, name: name.to_owned() }
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(to)?;
        self.digest.update(to.get(..read).unwrap_or_default());
        self.size += read as u64;
        Ok(read)
    }
}

/// Writes an archive. Its memory does not grow with it.
pub(super) struct ArchiveWriter {
    tar: tar::Builder<GzEncoder<BufWriter<File>>>,
    listing: ListingWriter,
    /// Seconds since 1970.
    moment: u64,
}

impl ArchiveWriter {
    /// `scratch` is a folder for temporary files.
    pub(super) fn begin(file: File, scratch: &Path, moment: u64) -> io::Result<Self> {
        let tar = tar::Builder::new(GzEncoder::new(BufWriter::new(file), Compression::fast()));
        Ok(Self { tar, listing: ListingWriter::within(scratch)?, moment })
    }

    /// Appends an entry of `size` bytes; returns its SHA-256.
    ///
    /// # Errors
    /// Returns `InvalidData` when the content is shorter, otherwise the I/O error.
    pub(super) fn append(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<String> {
        let mut content = Hashing::new(content.take(size));
        self.write(name, size, &mut content)?;
        let line = content.line(name);
        if line.size != size {
            let why = format!("{name} became shorter while it was read");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        self.listing.add(&line)?;
        Ok(line.sha256)
    }

    /// Notes in the manifest that a file is missing.
    pub(super) fn note_missing(&mut self, name: &str) -> io::Result<()> {
        self.listing.add(&ListingLine::missing(name))
    }

    /// Appends the manifest, and syncs the archive to disk.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let (size, manifest) = self.listing.take()?;
        self.write(MANIFEST, size, manifest)?;
        let file = self.tar.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()
    }

    fn write(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        if EntryName::parse(name).is_none() {
            let why =
                format!("{name:?} could not be restored: a name has ASCII letters, digits, '-', '_' and '.' only");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.moment);
        self.tar.append_data(&mut header, name, content)
    }
}

#[cfg(test)]
mod tests {
    use super::EntryName;

    #[test]
    fn names_that_lead_elsewhere_are_no_names_of_entries() {
        for name in [
            "../etc/passwd",
            "/etc/passwd",
            "keys/../../x.key",
            "keys/.hidden.key",
            "keys/access-1",
            "keys//a.key",
            "files/documents/../../keys/a.key",
            "files/documents/",
            "files/documents",
            "files/documents/a/b/c/d/e",
            "database/a/b",
            "database/..",
            "database\\x",
            "other/x",
            "files/documents/ab/a\0b",
            "",
        ] {
            assert_eq!(EntryName::parse(name), None, "{name:?}");
        }
        let file = |store: &str, key: &str| Some(EntryName::File { store: store.to_owned(), key: key.to_owned() });
        assert_eq!(EntryName::parse("files/recordings/a-1/chunks/b-2"), file("recordings", "a-1/chunks/b-2"));
        assert_eq!(EntryName::parse("keys/access-1.key"), Some(EntryName::Key("access-1.key".to_owned())));
    }
}
