//! The list of an archive's entries with their hashes, in a temporary file: an archive may have millions of entries.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Lines, Seek, Write};
use std::path::Path;

/// What the list says of a file that was missing, in place of its hash.
const MISSING: &str = "missing";

/// One line: an entry, or a file that was missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListingLine {
    pub(super) sha256: String,
    pub(super) size: u64,
    pub(super) name: String,
}

impl ListingLine {
    pub(super) fn missing(name: &str) -> Self {
        Self { sha256: MISSING.to_owned(), size: 0, name: name.to_owned() }
    }

    pub(super) fn is_missing(&self) -> bool {
        self.sha256 == MISSING
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(3, ' ');
        let (sha256, size, name) = (parts.next()?, parts.next()?, parts.next()?);
        // Names are printed.
        if !name.bytes().all(|sign| sign.is_ascii_graphic()) {
            return None;
        }
        Some(Self { sha256: sha256.to_owned(), size: size.parse().ok()?, name: name.to_owned() })
    }
}

/// Writes the list.
pub(super) struct ListingWriter {
    file: BufWriter<File>,
}

impl ListingWriter {
    pub(super) fn within(scratch: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile_in(scratch)?) })
    }

    pub(super) fn add(&mut self, line: &ListingLine) -> io::Result<()> {
        writeln!(self.file, "{} {} {}", line.sha256, line.size, line.name)
    }

    /// Returns the size of the list so far, and the list to be read from its beginning.
    pub(super) fn take(&mut self) -> io::Result<(u64, File)> {
        self.file.flush()?;
        let mut file = self.file.get_ref().try_clone()?;
        let size = file.stream_position()?;
        file.rewind()?;
        Ok((size, file))
    }
}

/// Reads the lines of a list.
pub(super) struct ListingReader<R> {
    lines: Lines<BufReader<R>>,
}

impl<R: io::Read> ListingReader<R> {
    pub(super) fn new(list: R) -> Self {
        Self { lines: BufReader::new(list).lines() }
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    /// Returns `InvalidData` for what is no line of a list, otherwise the I/O error.
    pub(super) fn next_line(&mut self) -> io::Result<Option<ListingLine>> {
        let Some(line) = self.lines.next().transpose()? else { return Ok(None) };
        let parsed = ListingLine::parse(&line);
        parsed.map(Some).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the manifest is not readable"))
    }
}
