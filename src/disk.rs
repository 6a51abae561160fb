//! The disk that files are written to.

use std::path::Path;

/// How many bytes may be written to a folder's file system without privileges. `None`: it can't be told.
#[must_use]
pub fn free_of(folder: &Path) -> Option<u64> {
    match rustix::fs::statvfs(folder) {
        Ok(found) => Some(found.f_bavail.saturating_mul(found.f_frsize)),
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "the free space can't be told");
            None
        }
    }
}
