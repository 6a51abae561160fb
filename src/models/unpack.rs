//! Takes the files of a model out of packages (ZIP archives) into a folder, and hashes them on the way.
//!
//! Names in an archive are compared and never used as paths: only the three files of a model are written. What an
//! archive says about sizes is not relied on: a file that grows past its maximum ends the unpacking.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::error::InstallError;
use super::{FILES, ManifestFile};

/// How much is unpacked at a time, in bytes.
const BLOCK: usize = 256 * 1024;

/// A file that is being unpacked.
pub struct StagedFile {
    name: &'static str,
    path: PathBuf,
    file: File,
    hash: Sha256,
    bytes: u64,
    /// The maximum size.
    most: u64,
}

impl StagedFile {
    /// Creates the file, which must not exist.
    pub fn create(folder: &Path, name: &'static str, most: u64) -> Result<Self, InstallError> {
        let path = folder.join(name);
        let file = File::create_new(&path).map_err(InstallError::at(&path))?;
        Ok(Self { name, path, file, hash: Sha256::new(), bytes: 0, most })
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Appends an entry of the archive at `place`.
    fn append(&mut self, place: &str, mut entry: impl Read) -> Result<(), InstallError> {
        let mut block = vec![0; BLOCK];
        loop {
            let read = match entry.read(&mut block) {
                Ok(read) => block.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(InstallError::Archive { place: place.to_owned(), why: error.to_string() }),
            };
            if read.is_empty() {
                return Ok(());
            }
            self.bytes = self.bytes.saturating_add(read.len() as u64);
            if self.bytes > self.most {
                let place = format!("{} in {place}", self.name);
                return Err(InstallError::TooLarge { place, most: self.most });
            }
            self.hash.update(read);
            self.file.write_all(read).map_err(InstallError::at(&self.path))?;
        }
    }

    /// Waits until the file is on disk and returns what was written.
    pub fn finish(self) -> Result<ManifestFile, InstallError> {
        self.file.sync_all().map_err(InstallError::at(&self.path))?;
        Ok(ManifestFile { name: self.name.to_owned(), bytes: self.bytes, sha256: hex::encode(self.hash.finalize()) })
    }
}

/// An opened package.
pub struct PackageArchive<'a> {
    place: &'a str,
    zip: ZipArchive<File>,
}

impl<'a> PackageArchive<'a> {
    /// Opens a package; `place` names it in errors.
    pub fn open(place: &'a str, file: File) -> Result<Self, InstallError> {
        match ZipArchive::new(file) {
            Ok(zip) => Ok(Self { place, zip }),
            Err(error) => Err(InstallError::Archive { place: place.to_owned(), why: error.to_string() }),
        }
    }

    /// Returns the entry of each of the model's files. They have to be in one folder of the package, and only in one.
    pub fn entries(&self) -> Result<[(String, &'static str); 3], InstallError> {
        // A name that can't be read is not one of the three.
        let names = self.zip.file_names().filter_map(Result::ok);
        let folders = names.filter_map(|name| name.strip_suffix(FILES[0]).map(str::to_owned));
        let folders = folders.filter(|folder| folder.is_empty() || folder.ends_with('/'));
        let is_whole =
            |folder: &String| FILES.iter().all(|file| self.zip.index_for_name(&format!("{folder}{file}")).is_some());
        let folders: Vec<String> = folders.filter(is_whole).collect();
        let refused = |why: &str| InstallError::Archive { place: self.place.to_owned(), why: why.to_owned() };
        match folders.as_slice() {
            [folder] => Ok(FILES.map(|file| (format!("{folder}{file}"), file))),
            [] => Err(refused("no folder in it has model.bin, tokenizer.json and config.json")),
            _ => Err(refused("more than one folder in it has model.bin, tokenizer.json and config.json")),
        }
    }

    /// Appends an entry to a file.
    pub fn unpack(&mut self, entry: &str, into: &mut StagedFile) -> Result<(), InstallError> {
        let opened = self.zip.by_name(entry);
        let opened = opened.map_err(|error| InstallError::Archive {
            place: self.place.to_owned(),
            why: format!("{entry}: {error}"),
        })?;
        into.append(self.place, opened)
    }
}

/// Returns the SHA-256 of a file from its beginning, in lower-case hexadecimal digits.
pub fn sha256_of(mut file: &File) -> io::Result<String> {
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(hex::encode(hash.finalize())),
            Ok(read) => hash.update(block.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
