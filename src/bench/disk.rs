//! What the disk can do: a record of 4 KiB written and made durable, one after the other. No server that acknowledges
//! single writes durably is faster than that, unless it makes several durable at once.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const RECORD: [u8; 4096] = [7; 4096];
/// Written over and over, as a write-ahead log is.
const FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Records a second.
///
/// # Errors
/// In words.
pub fn syncs_per_second(folder: &Path, time: Duration) -> Result<f64, String> {
    let path = folder.join("fsync.bench");
    let written = write(&path, time);
    // Its folder goes soon.
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
