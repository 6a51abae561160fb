//! Spools: what may be large and is written once, by pieces, to be read later. Little of it is in memory; the rest is in a
//! temporary file without a name, which is gone with the last reader or with the process.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::ETAG;
use bytes::Bytes;
use futures_util::stream;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::budget::{Budget, Share};
use super::ready::JSON;
use crate::db::DbError;
use crate::disk::free_of;

/// So much of a spool is in memory, in bytes; what is larger is in a file. The number of connections bounds those in memory.
const MEMORY_BYTES: usize = 64 * 1024;
/// How many bytes are written and read at once.
const PIECE_BYTES: usize = 256 * 1024;
/// How many bytes all spools may have together on the disk, and those of one owner a quarter of it.
const ROOM_BYTES: usize = 8 * 1024 * 1024 * 1024;
/// A spool looks at the free space whenever it has grown by so much, in bytes.
const CHECK_BYTES: usize = 4 * 1024 * 1024;
/// The longest time for which a response is sent from a spool: who reads so slowly would keep its room from others.
const MAX_SENDING_TIME: Duration = Duration::from_secs(10 * 60);

/// Where spools are made. Clones share the room.
#[derive(Clone)]
pub struct Spools {
    folder: Arc<PathBuf>,
    room: Budget,
    /// So much of the disk stays free, in bytes.
    reserve: u64,
}

impl Spools {
    /// Spools in a folder, on whose disk `reserve_mib` MiB stay free of them.
    #[must_use]
    pub fn at(folder: PathBuf, reserve_mib: u64) -> Self {
        let reserve = reserve_mib.saturating_mul(1024 * 1024);
        Self { folder: Arc::new(folder), room: Budget::of(ROOM_BYTES), reserve }
    }

    /// Begins a spool. The room is that of the `owner`: a client, or a project.
    #[must_use]
    pub fn begin(&self, owner: String) -> SpoolWriter {
        SpoolWriter {
            folder: Arc::clone(&self.folder),
            share: self.room.share(owner),
            pending: Vec::new(),
            file: None,
            length: 0,
            reserve: self.reserve,
            looked_at: None,
        }
    }
}

/// A spool that is being written. Writes block.
pub struct SpoolWriter {
    folder: Arc<PathBuf>,
    share: Share,
    /// What is not in the file yet.
    pending: Vec<u8>,
    file: Option<File>,
    length: usize,
    reserve: u64,
    /// Its length when it last looked at the free space.
    looked_at: Option<usize>,
}

impl SpoolWriter {
    /// How many bytes were written.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Ends the spool.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn finish(mut self) -> io::Result<Spool> {
        if self.file.is_some() {
            self.flush()?;
        }
        let content = match self.file {
            Some(file) => SpoolContent::File(file),
            None => SpoolContent::Memory(self.pending.into()),
        };
        Ok(Spool(Arc::new(SpoolParts { content, length: self.length, _room: self.share })))
    }
}

impl Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        self.length = self.length.saturating_add(bytes.len());
        let most = if self.file.is_some() { PIECE_BYTES } else { MEMORY_BYTES };
        if self.pending.len() > most {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let full = |_| io::Error::new(io::ErrorKind::QuotaExceeded, "too many bytes are on their way from the disk");
        self.share.grow_to(self.length).map_err(full)?;
        if self.looked_at.is_none_or(|looked_at| self.length - looked_at >= CHECK_BYTES) {
            self.looked_at = Some(self.length);
            let wanted = u64::try_from(CHECK_BYTES).unwrap_or(u64::MAX);
            // Where it can't be told, writing shows it.
            if free_of(&self.folder).is_some_and(|free| free < self.reserve.saturating_add(wanted)) {
                return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is nearly full"));
            }
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(self.folder.as_path())?),
        };
        file.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }
}

/// What was written. Clones share it.
#[derive(Clone)]
pub struct Spool(Arc<SpoolParts>);

struct SpoolParts {
    content: SpoolContent,
    length: usize,
    _room: Share,
}

enum SpoolContent {
    Memory(Bytes),
    File(File),
}

impl Spool {
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.length
    }

    /// Reads a part of it; less where it ends before. Blocks.
    ///
    /// # Errors
    /// The file can't be read.
    pub fn read(&self, offset: usize, length: usize) -> io::Result<Bytes> {
        let end = offset.saturating_add(length).min(self.0.length);
        let start = offset.min(end);
        match &self.0.content {
            SpoolContent::Memory(bytes) => Ok(bytes.slice(start..end)),
            SpoolContent::File(file) => {
                let mut bytes = vec![0; end - start];
                file.read_exact_at(&mut bytes, u64::try_from(start).map_err(io::Error::other)?)?;
                Ok(bytes.into())
            }
        }
    }

    /// Sends it as JSON, by pieces.
    #[must_use]
    pub fn response(self, etag: Option<String>) -> HttpResponse {
        self.sent_until(Instant::now() + MAX_SENDING_TIME, etag)
    }

    /// Sends it until a time, when the connection is closed.
    fn sent_until(self, end: Instant, etag: Option<String>) -> HttpResponse {
        let mut response = HttpResponse::build(StatusCode::OK);
        response.content_type(JSON);
        if let Some(etag) = etag {
            response.insert_header((ETAG, etag));
        }
        if let SpoolContent::Memory(bytes) = &self.0.content {
            return response.body(bytes.clone());
        }
        let length = u64::try_from(self.0.length).unwrap_or(u64::MAX);
        let pieces = stream::unfold((self, 0), move |(spool, offset)| async move {
            if offset >= spool.length() {
                return None;
            }
            if Instant::now() >= end {
                return Some((Err(io::ErrorKind::TimedOut.into()), (spool, usize::MAX)));
            }
            let reader = spool.clone();
            let piece =
                spawn_blocking(move || reader.read(offset, PIECE_BYTES)).await.map_err(io::Error::other).flatten();
            let next = offset.saturating_add(piece.as_ref().map_or(usize::MAX, Bytes::len));
            Some((piece, (spool, next)))
        });
        response.body(SizedStream::new(length, Box::pin(pieces)))
    }
}

/// What can't be spooled for now: the disk is full, or too much is on its way.
#[must_use]
pub fn unspooled(error: &io::Error) -> DbError {
    tracing::warn!(%error, "a large read could not be spooled");
    DbError::Busy
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use actix_web::body::{BoxBody, MessageBody};

    use super::*;

    fn spools() -> (Spools, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (Spools::at(folder.path().to_owned(), 0), folder)
    }

    #[test]
    fn what_was_written_is_read_at_any_place_whether_it_is_in_memory_or_in_a_file() {
        let (spools, folder) = spools();
        for length in [0, 1, MEMORY_BYTES, MEMORY_BYTES + 1, 3 * PIECE_BYTES + 7] {
            let written: Vec<u8> = (0..length).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let mut writer = spools.begin("ada".to_owned());
            for piece in written.chunks(1000) {
                writer.write_all(piece).unwrap();
            }
            let spool = writer.finish().unwrap();
            assert_eq!(spool.length(), length);
            assert_eq!(spool.read(0, usize::MAX).unwrap(), written);
            let middle = length / 2;
            assert_eq!(spool.read(middle, 10).unwrap(), written[middle..length.min(middle + 10)]);
            assert_eq!(spool.read(length + 5, 10).unwrap(), Bytes::new());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file has no name");
        assert_eq!(spools.room.held(), 0, "and its room is given back");
    }

    #[test]
    fn one_owner_has_a_quarter_of_the_room() {
        let (spools, _folder) = spools();
        let spools = Spools { room: Budget::of(4 * PIECE_BYTES), ..spools };
        let mut writer = spools.begin("ada".to_owned());
        writer.write_all(&vec![7; PIECE_BYTES]).unwrap();
        assert!(writer.write_all(&vec![7; PIECE_BYTES + 1]).is_err());
        assert!(spools.begin("bob".to_owned()).write_all(&vec![7; PIECE_BYTES]).is_ok());
    }

    #[test]
    fn what_is_kept_free_of_the_disk_stays_free_and_what_is_little_needs_none_of_it() {
        let (spools, _folder) = spools();
        let full = Spools { reserve: u64::MAX / 2, ..spools };
        let refused = full.begin("ada".to_owned()).write_all(&vec![7; PIECE_BYTES]).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        let mut little = full.begin("ada".to_owned());
        little.write_all(&vec![7; MEMORY_BYTES]).unwrap();
        assert_eq!(little.finish().unwrap().length(), MEMORY_BYTES);
    }

    #[tokio::test]
    async fn who_reads_for_too_long_is_cut_off() {
        let (spools, _folder) = spools();
        let mut writer = spools.begin("ada".to_owned());
        writer.write_all(&vec![7; 3 * PIECE_BYTES]).unwrap();
        let spool = writer.finish().unwrap();
        let next = async |body: &mut Pin<Box<BoxBody>>| std::future::poll_fn(|cx| body.as_mut().poll_next(cx)).await;
        let mut in_time = Box::pin(spool.clone().response(None).into_body());
        assert_eq!(next(&mut in_time).await.unwrap().unwrap().len(), PIECE_BYTES);
        let mut late = Box::pin(spool.sent_until(Instant::now(), None).into_body());
        assert!(next(&mut late).await.unwrap().is_err());
        drop((in_time, late));
        assert_eq!(spools.room.held(), 0);
    }
}
