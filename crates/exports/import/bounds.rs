//! How large a file that comes back may be, and how it is unpacked within these bounds. What there may be many of is counted while it is
//! read, and refused at the first one too many: a bound that is looked at afterwards has let everything into memory.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::fault::{ImportFault, quoted};

/// Of the file as it is uploaded, in bytes.
pub const MAX_FILE_BYTES: usize = 50 * 1024 * 1024;
/// Of what is unpacked from it, in bytes.
pub(crate) const MAX_UNPACKED_BYTES: u64 = 200 * 1024 * 1024;
/// Of the files in an archive.
pub(crate) const MAX_ARCHIVE_FILES: usize = 1_000;
/// Of the elements in all XML of a file. A requirement has about 60 of them.
pub(crate) const MAX_ELEMENTS: usize = 4_000_000;
/// Of the attributes of one element. Programs write some twenty.
pub(crate) const MAX_ATTRIBUTES: usize = 1_000;
/// Of open elements within each other.
pub(crate) const MAX_DEPTH: usize = 200;
/// Of requirements and user stories together; in a workbook, whose rows they are, with their acceptance criteria.
pub(crate) const MAX_ITEMS: usize = 50_000;
/// Of the pieces in which a workbook holds long texts.
pub(crate) const MAX_TEXT_PIECES: usize = 50_000;
/// Of the texts that the cells of a workbook share. An item has a dozen.
pub(crate) const MAX_SHARED_TEXTS: usize = 1_000_000;
/// Of the parts that a workbook names.
pub(crate) const MAX_PARTS: usize = 10_000;
/// Of what the objects of ReqIF are made of: types, attributes, words.
pub(crate) const MAX_DEFINITIONS: usize = 50_000;
/// Of the values of all objects of ReqIF. An object has a dozen.
pub(crate) const MAX_VALUES: usize = 1_000_000;
/// Of the relations between the objects of ReqIF.
pub(crate) const MAX_RELATIONS: usize = 200_000;
/// Of the items that other items name: what a requirement conflicts with, what a story covers.
pub(crate) const MAX_LINKS: usize = 200_000;
/// Of the acceptance criteria of all stories of ReqIF.
pub(crate) const MAX_CRITERIA: usize = 200_000;
/// Of an id, a code, or the name of a type or an attribute, in bytes. Many items repeat one.
pub(crate) const MAX_NAME_BYTES: usize = 1_000;

/// Counts things up to their bound.
pub(crate) struct UpperBound {
    most: usize,
    seen: usize,
    refusal: &'static str,
}

impl UpperBound {
    /// `refusal` is what is said of too many, with `{}` in place of the bound.
    pub(crate) const fn up_to(most: usize, refusal: &'static str) -> Self {
        Self { most, seen: 0, refusal }
    }

    /// Counts one more.
    pub(crate) fn count(&mut self) -> Result<(), String> {
        self.seen += 1;
        if self.seen > self.most {
            return Err(self.refusal.replace("{}", &self.most.to_string()));
        }
        Ok(())
    }
}

/// What the items of a file may have together.
pub(crate) struct ItemBudget {
    links: UpperBound,
    criteria: UpperBound,
    text_bytes_left: u64,
}

impl Default for ItemBudget {
    fn default() -> Self {
        Self {
            links: UpperBound::up_to(MAX_LINKS, "The file has more than {} links between items."),
            criteria: UpperBound::up_to(MAX_CRITERIA, "The file has more than {} acceptance criteria."),
            text_bytes_left: MAX_UNPACKED_BYTES,
        }
    }
}

impl ItemBudget {
    pub(crate) fn links(&mut self, links: impl Iterator<Item = String>) -> Result<Vec<String>, String> {
        links.map(|link| self.links.count().and_then(|()| name(link))).collect()
    }

    pub(crate) fn criterion(&mut self) -> Result<(), String> {
        self.criteria.count()
    }

    /// Many items may share one text: what they take together is bounded as if each had its own.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), String> {
        let taken = u64::try_from(text.len()).unwrap_or(u64::MAX);
        let left = self.text_bytes_left.checked_sub(taken);
        self.text_bytes_left = left.ok_or("The texts of all items together are larger than a file may be.")?;
        Ok(())
    }
}

/// An id, a code or a name that is not longer than one may be.
pub(crate) fn name(name: String) -> Result<String, String> {
    if name.len() > MAX_NAME_BYTES {
        return Err(format!(
            "An id, a code or a name in the file is longer than {MAX_NAME_BYTES} bytes: {}.",
            quoted(&name)
        ));
    }
    Ok(name)
}

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
