//! The speed of the disk: records of 4 KiB, each written and made durable (fdatasync) before the next. No server that
//! acknowledges single durable writes is faster, unless it makes several durable at once.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const RECORD: [u8; 4096] = [7; 4096];
/// The file is overwritten in a circle, like a write-ahead log.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Returns the number of durable records a second.
///
/// # Errors
/// Returns a message if the file can't be written.
pub fn syncs_per_second(folder: &Path, time: Duration) -> Result<f64, String> {
    let path = folder.join("fsync.bench");
    let written = write(&path, time);
    // A failure is ignored: the temporary folder is deleted anyway.
    let _ = std::fs::remove_file(&path);
    written.map_err(|error| format!("{} can't be written: {error}", path.display()))
}

fn write(path: &Path, time: Duration) -> std::io::Result<f64> {
    let mut file = File::create(path)?;
    for _ in 0..FILE_BYTES / RECORD.len() as u64 {
        file.write_all(&RECORD)?;
    }
    file.sync_all()?;
    let (began, mut count) = (Instant::now(), 0_u64);
    while began.elapsed() < time {
        file.seek(SeekFrom::Start(count * RECORD.len() as u64 % FILE_BYTES))?;
        file.write_all(&RECORD)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(count as f64 / began.elapsed().as_secs_f64())
}
