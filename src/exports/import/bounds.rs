//! How large a file that comes back may be, and how it is unpacked within these bounds.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::ImportFault;

/// Of the file as it is uploaded, in bytes.
pub const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;
/// Of what is unpacked from it, in bytes.
pub(crate) const MAX_UNPACKED_BYTES: u64 = 200 * 1024 * 1024;
/// Of the files in an archive.
pub(crate) const MAX_ARCHIVE_FILES: usize = 1_000;
/// Of the elements in all XML of a file. A requirement has about 60 of them.
pub(crate) const MAX_ELEMENTS: usize = 4_000_000;
/// Of open elements within each other.
pub(crate) const MAX_DEPTH: usize = 200;
/// Of requirements and user stories together.
pub(crate) const MAX_ITEMS: usize = 50_000;

/// An archive whose parts are read within one common bound.
pub(crate) struct BoundedArchive<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    bytes_left: u64,
}

impl<'a> BoundedArchive<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, ImportFault> {
        check_file_size(bytes)?;
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|_| ImportFault::new("The file is damaged: its list of contents cannot be read."))?;
        if archive.len() > MAX_ARCHIVE_FILES {
            return Err(ImportFault::new(format!("The file has more than {MAX_ARCHIVE_FILES} parts.")));
        }
        Ok(Self { archive, bytes_left: MAX_UNPACKED_BYTES })
    }

    /// The names of its files, in alphabetical order; names that are not text are left out.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.archive.file_names().flatten().filter(|name| !name.ends_with('/'));
        let mut names: Vec<String> = names.map(Cow::into_owned).collect();
        names.sort();
        names
    }

    /// `None` where there is no such file in it.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, ImportFault> {
        let damaged = || ImportFault::at(name, "This part of the file is damaged or encrypted.");
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(_) => return Err(damaged()),
        };
        let mut unpacked = Vec::new();
        // The size that the archive states is not believed: reading stops one byte above the bound.
        let read = part.take(self.bytes_left.saturating_add(1)).read_to_end(&mut unpacked).map_err(|_| damaged())?;
        let read = u64::try_from(read).unwrap_or(u64::MAX);
        self.bytes_left = self.bytes_left.checked_sub(read).ok_or_else(|| {
            let bound = MAX_UNPACKED_BYTES / (1024 * 1024);
            ImportFault::at(name, format!("The file unpacks to more than {bound} MiB."))
        })?;
        Ok(Some(unpacked))
    }
}

pub(crate) fn check_file_size(bytes: &[u8]) -> Result<(), ImportFault> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ImportFault::new(format!("The file is larger than {} MiB.", MAX_FILE_BYTES / (1024 * 1024))));
    }
    Ok(())
}
