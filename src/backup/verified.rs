//! Reads archives: the whole of it is verified first, and each entry again when it is restored.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::archive::{BackupAbout, EntryName, FORMAT, Hashing};
use super::listing::{ListingLine, ListingReader, ListingWriter};

/// Longest text in which an archive may describe itself.
const ABOUT_BYTES: u64 = 16 * 1024 * 1024;

type Unpacked = GzDecoder<BufReader<File>>;

/// An archive of which every entry was found to be what its manifest says.
pub(super) struct VerifiedArchive {
    path: PathBuf,
    pub(super) about: BackupAbout,
    /// The names of the files that were missing already when the backup was taken.
    pub(super) missing: Vec<String>,
    /// The entries as they were verified.
    listing: File,
}

impl VerifiedArchive {
    /// Reads a whole archive. `scratch` is a folder for a temporary file.
    ///
    /// # Errors
    /// Returns a message that says what is wrong with it.
    pub(super) fn read(path: &Path, scratch: &Path) -> Result<Self, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let mut listing = ListingWriter::within(scratch).map_err(|error| wrong(error.to_string()))?;
        let mut archive = open(path).map_err(|error| wrong(error.to_string()))?;
        let mut about = None;
        let mut manifest = None;
        for entry in archive.entries().map_err(|error| wrong(damage(&error)))? {
            let mut entry = entry.map_err(|error| wrong(damage(&error)))?;
            let (name, text) = name_of(&entry).map_err(wrong)?;
            match (&name, about.is_some(), manifest.is_some()) {
                (_, _, true) => return Err(wrong(format!("the entry {text} follows the manifest"))),
                (EntryName::About, false, _) => {
                    let mut content = Hashing::new(&mut entry);
                    about = Some(about_of(&mut content).map_err(wrong)?);
                    listing.add(&content.line(&text)).map_err(|error| wrong(error.to_string()))?;
                }
                (EntryName::About, true, _) | (_, false, _) => {
                    return Err(wrong("this is not a backup of Colloquy".to_owned()));
                }
                (EntryName::Manifest, ..) => {
                    let (_, verified) = listing.take().map_err(|error| wrong(error.to_string()))?;
                    manifest = Some(compare(&mut entry, verified).map_err(wrong)?);
                }
                _ => {
                    let mut content = Hashing::new(&mut entry);
                    io::copy(&mut content, &mut io::sink()).map_err(|error| wrong(damage(&error)))?;
                    listing.add(&content.line(&text)).map_err(|error| wrong(error.to_string()))?;
                }
            }
        }
        let Some(about) = about else { return Err(wrong("this is not a backup of Colloquy".to_owned())) };
        let Some(missing) = manifest else {
            return Err(wrong("the archive is cut off: its manifest is missing".to_owned()));
        };
        must_end(archive.into_inner()).map_err(wrong)?;
        let (_, listing) = listing.take().map_err(|error| wrong(error.to_string()))?;
        Ok(Self { path: path.to_owned(), about, missing, listing })
    }

    /// Reads it again, and hands each entry but the description and the manifest to `each`. An entry is compared with what
    /// was verified after `each` has read it.
    ///
    /// # Errors
    /// Returns a message when an entry is another than was verified, or the message of `each`.
    pub(super) async fn entries(
        &self,
        mut each: impl AsyncFnMut(&EntryName, &mut dyn Read) -> Result<(), String>,
    ) -> Result<(), String> {
        let wrong = |error: io::Error| format!("{}: {}", self.path.display(), damage(&error));
        let mut listing = self.listing.try_clone().map_err(wrong)?;
        io::Seek::rewind(&mut listing).map_err(wrong)?;
        let mut listing = ListingReader::new(listing);
        let mut archive = open(&self.path).map_err(wrong)?;
        for entry in archive.entries().map_err(wrong)? {
            let mut entry = entry.map_err(wrong)?;
            let (name, text) = name_of(&entry)?;
            if name == EntryName::Manifest {
                break;
            }
            let mut content = Hashing::new(&mut entry);
            if name != EntryName::About {
                each(&name, &mut content).await?;
            }
            io::copy(&mut content, &mut io::sink()).map_err(wrong)?;
            if listing.next_line().map_err(wrong)?.as_ref() != Some(&content.line(&text)) {
                return Err(format!("{}: {text} was changed while it was restored", self.path.display()));
            }
        }
        match listing.next_line().map_err(wrong)? {
            None => Ok(()),
            Some(line) => Err(format!("{}: {} went missing while it was restored", self.path.display(), line.name)),
        }
    }
}

fn open(path: &Path) -> io::Result<tar::Archive<Unpacked>> {
    Ok(tar::Archive::new(GzDecoder::new(BufReader::new(File::open(path)?))))
}

/// Says what an error of reading means for an archive.
fn damage(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the archive is cut off".to_owned(),
        _ => {
            // The library quotes what it read, which may be anything.
            let quoted: String = error.to_string().chars().take(80).flat_map(char::escape_debug).collect();
            format!("the archive is damaged, or it is not a backup of Colloquy ({quoted})")
        }
    }
}

fn name_of(entry: &tar::Entry<'_, Unpacked>) -> Result<(EntryName, String), String> {
    let text = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let is_file = entry.header().entry_type() == tar::EntryType::Regular;
    let parsed = EntryName::parse(&text).filter(|_| is_file);
    parsed.map(|name| (name, text.clone())).ok_or_else(|| format!("the entry {text:?} does not belong into a backup"))
}

fn about_of(content: &mut impl Read) -> Result<BackupAbout, String> {
    /// What every form of an archive says.
    #[derive(serde::Deserialize)]
    struct FormatOnly {
        format: u32,
    }
    let mut text = Vec::new();
    content.take(ABOUT_BYTES).read_to_end(&mut text).map_err(|error| damage(&error))?;
    let unreadable = |error: serde_json::Error| format!("its description is not readable ({error})");
    let FormatOnly { format } = serde_json::from_slice(&text).map_err(unreadable)?;
    if format > FORMAT {
        return Err(format!("it was made by a newer version of Colloquy (form {format}; this version reads {FORMAT})"));
    }
    serde_json::from_slice(&text).map_err(unreadable)
}

/// Compares the manifest with the entries that were read; returns the names of the missing files.
fn compare(manifest: &mut impl Read, verified: File) -> Result<Vec<String>, String> {
    let (mut manifest, mut verified) = (ListingReader::new(manifest), ListingReader::new(verified));
    let mut missing = Vec::new();
    loop {
        let line: Option<ListingLine> = manifest.next_line().map_err(|error| damage(&error))?;
        if let Some(line) = line.as_ref().filter(|line| line.is_missing()) {
            missing.push(line.name.clone());
            continue;
        }
        let entry = verified.next_line().map_err(|error| error.to_string())?;
        match (line, entry) {
            (None, None) => return Ok(missing),
            (Some(line), Some(entry)) if line == entry => {}
            (Some(line), _) => return Err(format!("{} is damaged, or missing in the archive", line.name)),
            (None, Some(entry)) => return Err(format!("{} is not in the manifest", entry.name)),
        }
    }
}

/// Reads to the end, which verifies gzip's own checksum. Nothing but zeros may follow the entries.
fn must_end(mut unpacked: Unpacked) -> Result<(), String> {
    let mut piece = [0; 4096];
    loop {
        match unpacked.read(&mut piece).map_err(|error| damage(&error))? {
            0 => break,
            read if piece.iter().take(read).all(|byte| *byte == 0) => {}
            _ => return Err("something follows the end of the archive".to_owned()),
        }
    }
    match unpacked.into_inner().read(&mut piece).map_err(|error| damage(&error))? {
        0 => Ok(()),
        _ => Err("something follows the end of the archive".to_owned()),
    }
}
