//! The reserve of free space: uploads are refused while there is still room for everything else.

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::model::UploadPurpose;
use crate::config::Storage;
use crate::disk::free_of;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// How old a look at the disk may be.
const MAX_AGE: Duration = Duration::from_secs(1);
const MIB: u64 = 1024 * 1024;

/// The free space of the file systems that are written to.
pub struct FreeSpace {
    folders: Vec<PathBuf>,
    reserve: u64,
    live_reserve: u64,
    looked: Mutex<Option<DiskLook>>,
}

/// What a look at the disk found.
struct DiskLook {
    at: Instant,
    /// In bytes.
    free: u64,
    /// How many bytes uploads were granted since: they are on their way to the disk.
    granted: u64,
}

impl FreeSpace {
    #[must_use]
    pub fn new(folders: Vec<PathBuf>, settings: &Storage) -> Self {
        Self {
            folders,
            reserve: settings.reserve_mib.saturating_mul(MIB),
            live_reserve: settings.live_reserve_mib.saturating_mul(MIB),
            looked: Mutex::default(),
        }
    }

    /// How much is kept free, in bytes.
    #[must_use]
    pub const fn reserve(&self) -> u64 {
        self.reserve
    }

    /// How much is free on the fullest of the file systems, in bytes; at most a second old. `None`: it can't be told.
    pub async fn free(&self) -> Option<u64> {
        let mut looked = self.looked.lock().await;
        self.measured(&mut looked).await.map(|look| look.free)
    }

    /// Refuses an upload of so many bytes that would use up the reserve, and grants nothing: what is only announced leaves the
    /// room to everyone.
    ///
    /// # Errors
    /// 507 `StorageFull`.
    pub(super) async fn check(&self, purpose: UploadPurpose, bytes: u64) -> Result<(), ApiError> {
        self.ask(purpose, bytes, 0).await
    }

    /// Grants so many bytes, which are about to be written, unless they would use up the reserve.
    ///
    /// # Errors
    /// 507 `StorageFull`.
    pub(super) async fn grant(&self, purpose: UploadPurpose, bytes: u64) -> Result<(), ApiError> {
        self.ask(purpose, bytes, bytes).await
    }

    async fn ask(&self, purpose: UploadPurpose, bytes: u64, granted: u64) -> Result<(), ApiError> {
        let kept = match purpose {
            UploadPurpose::Usual => self.reserve,
            UploadPurpose::Live => self.live_reserve,
        };
        let mut looked = self.looked.lock().await;
        // Where it can't be told, writing shows it.
        let Some(look) = self.measured(&mut looked).await else { return Ok(()) };
        let free = look.free.saturating_sub(look.granted);
        if free >= kept.saturating_add(bytes) {
            look.granted = look.granted.saturating_add(granted);
            return Ok(());
        }
        drop(looked);
        tracing::warn!(free, kept, bytes, "an upload was refused: the disk is nearly full");
        metrics::counter!("colloquy_storage_refused_total", "why" => "disk").increment(1);
        Err(ApiError::of(Code::STORAGE_FULL))
    }

    /// Returns the last look, or another one if it is too old; `None` if the free space can't be told.
    async fn measured<'a>(&self, looked: &'a mut Option<DiskLook>) -> Option<&'a mut DiskLook> {
        if looked.as_ref().is_none_or(|look| look.at.elapsed() >= MAX_AGE) {
            let folders = self.folders.clone();
            let found = spawn_blocking(move || folders.iter().filter_map(|folder| free_of(folder)).min()).await;
            let free = found.unwrap_or_default()?;
            *looked = Some(DiskLook { at: Instant::now(), free, granted: 0 });
        }
        looked.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{FreeSpace, MIB};
    use crate::config::Storage;
    use crate::quotas::model::UploadPurpose;

    fn with_reserves(reserve_mib: u64, live_reserve_mib: u64) -> FreeSpace {
        FreeSpace::new(vec![std::env::temp_dir()], &Storage { reserve_mib, live_reserve_mib })
    }

    #[tokio::test]
    async fn below_the_reserve_uploads_are_refused_and_live_recordings_go_on_to_their_own() {
        let all = u64::MAX / MIB;
        let short = with_reserves(all, 0);
        assert_eq!(short.grant(UploadPurpose::Usual, 1).await.unwrap_err().code.name, "StorageFull");
        assert!(short.grant(UploadPurpose::Live, 1).await.is_ok());
        let full = with_reserves(all, all);
        assert_eq!(full.grant(UploadPurpose::Live, 1).await.unwrap_err().code.status, 507);
    }

    #[tokio::test]
    async fn what_was_granted_since_the_last_look_counts_as_written() {
        let space = with_reserves(0, 0);
        let free = space.free().await.unwrap();
        // Two that fit alone and not together. What else happens on the disk is far less than a quarter of it.
        let more_than_half = free - free / 4;
        assert!(space.grant(UploadPurpose::Usual, more_than_half).await.is_ok());
        assert!(space.grant(UploadPurpose::Usual, more_than_half).await.is_err());
    }

    #[tokio::test]
    async fn what_was_only_checked_takes_nothing_from_others() {
        let space = with_reserves(0, 0);
        let free = space.free().await.unwrap();
        let more_than_half = free - free / 4;
        for _ in 0..3 {
            assert!(space.check(UploadPurpose::Usual, more_than_half).await.is_ok());
        }
        assert!(space.grant(UploadPurpose::Usual, more_than_half).await.is_ok());
        assert_eq!(space.check(UploadPurpose::Usual, more_than_half).await.unwrap_err().code.name, "StorageFull");
    }

    #[tokio::test]
    async fn where_the_free_space_can_not_be_told_nothing_is_refused() {
        let nowhere =
            FreeSpace::new(vec![PathBuf::from("/nowhere/at/all")], &Storage { reserve_mib: 1, live_reserve_mib: 1 });
        assert!(nowhere.free().await.is_none() && nowhere.grant(UploadPurpose::Usual, 1).await.is_ok());
    }
}
