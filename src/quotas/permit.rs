//! Permits to store: whoever writes a file that stays needs one for its bytes, and whoever inserts a row of a limited kind one
//! for the row. Drop a permit when the row that says it is committed, or the attempt was given up.

use uuid::Uuid;

use super::Quotas;
use super::model::{CountedKind, Payer, QuotaKey, UploadPurpose};
use super::tally::{HeldQuota, WantedQuota};
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;

/// How many bytes are held at once of the quotas of an upload that does not say its size, and are granted of the disk at once to
/// any upload: the rest of them is nobody else's meanwhile.
const STEP: u64 = 64 * 1024;
/// A form has at most so much around its file, or it is measured as it arrives.
const AROUND_A_FILE: u64 = 64 * 1024;

/// A permit for the bytes of one file.
#[must_use = "once it is dropped, others may be granted the same room"]
pub struct QuotaPermit {
    quotas: Quotas,
    payer: Payer,
    purpose: UploadPurpose,
    /// The size that the client announced, with what is around the file.
    announced: Option<u64>,
    /// How many bytes it covers.
    covered: u64,
    /// How many of its bytes are on the disk, or are granted to go there.
    on_disk: u64,
    /// Of each quota that counts.
    held: Vec<HeldQuota>,
}

/// A permit for rows of a limited kind.
#[must_use = "once it is dropped, others may be granted the same room"]
pub struct CountPermit {
    _held: Option<HeldQuota>,
}

impl Quotas {
    /// Begins to store a file, whose size in bytes the client may have announced. Refuses what can't fit before anything of it is
    /// read. Room on the disk is only looked for: [`StoragePermit::cover`] takes it, as the bytes arrive.
    ///
    /// # Errors
    /// 507 `QuotaExceeded` or `StorageFull`; otherwise the database error.
    pub async fn begin(
        &self,
        payer: Payer,
        purpose: UploadPurpose,
        announced: Option<u64>,
    ) -> Result<QuotaPermit, ApiError> {
        let (quotas, held) = (self.clone(), Vec::new());
        let mut permit = QuotaPermit { quotas, payer, purpose, announced, covered: 0, on_disk: 0, held };
        let least = announced.map_or(1, |bytes| bytes.saturating_sub(AROUND_A_FILE).max(1));
        self.free_space.check(purpose, least).await?;
        permit.reserve(least, least).await?;
        Ok(permit)
    }

    /// Refuses what has no room for so many bytes now, and holds nothing for them.
    ///
    /// # Errors
    /// 507 `QuotaExceeded` or `StorageFull`; otherwise the database error.
    pub async fn check(&self, payer: Payer, purpose: UploadPurpose, bytes: u64) -> Result<(), ApiError> {
        self.free_space.check(purpose, bytes).await?;
        let grace = self.grace(purpose);
        for (key, limit) in self.keys(payer) {
            self.tallies.check(&self.db, key, limit, bytes, grace).await?;
        }
        Ok(())
    }

    /// Returns how many bytes an upload may go beyond each limit.
    fn grace(&self, purpose: UploadPurpose) -> u64 {
        match purpose {
            UploadPurpose::Usual => 0,
            UploadPurpose::Live => self.settings.live_grace_bytes,
        }
    }

    /// The quotas that count, each with the limit of the settings, in bytes.
    fn keys(&self, payer: Payer) -> Vec<(QuotaKey, Option<u64>)> {
        let settings = &self.settings;
        let Payer::Project { id, owner_id } = payer else { return Vec::new() };
        let mut keys = vec![
            (QuotaKey::ProjectBytes(id), limited(settings.project_bytes)),
            (QuotaKey::AccountBytes(owner_id), limited(settings.account_bytes)),
        ];
        // Its sum is over everything, and is taken only if it matters.
        let installation = limited(settings.installation_bytes);
        keys.extend(installation.map(|limit| (QuotaKey::InstallationBytes, Some(limit))));
        keys
    }

    /// Holds room for more rows of a kind. `owner` is the project, account or meeting that they belong to.
    ///
    /// # Errors
    /// 409 `LimitReached`; otherwise the database error.
    pub async fn count(&self, kind: CountedKind, owner: Uuid, more: usize) -> Result<CountPermit, ApiError> {
        let settings = &self.settings;
        let most = match kind {
            CountedKind::ProjectsOfAccount => settings.account_projects,
            CountedKind::DocumentsOfProject => settings.project_documents,
            CountedKind::MeetingsOfProject => settings.project_meetings,
            CountedKind::MembersOfProject => settings.project_members,
            CountedKind::InvitationsToProject | CountedKind::InvitationsToReview => settings.project_invitations,
            CountedKind::RunsOfProject => settings.project_runs,
            CountedKind::FeedbackOfProject => settings.project_feedback,
            CountedKind::InvitationsToMeeting => settings.meeting_invitations,
        };
        let Some(limit) = limited(most) else { return Ok(CountPermit { _held: None }) };
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let wanted = WantedQuota { least: more, most: more, grace: 0 };
        let held = self.tallies.reserve(&self.db, QuotaKey::Count(kind, owner), Some(limit), wanted).await?;
        Ok(CountPermit { _held: Some(held) })
    }

    /// Returns what a project may store, where an operator has set nothing else for it.
    #[must_use]
    pub fn project_limit(&self) -> Option<u64> {
        limited(self.settings.project_bytes)
    }

    /// Returns what the installation may store.
    #[must_use]
    pub fn installation_limit(&self) -> Option<u64> {
        limited(self.settings.installation_bytes)
    }
}

/// 0 is no limit.
fn limited(setting: u64) -> Option<u64> {
    Some(setting).filter(|limit| *limit > 0)
}

impl QuotaPermit {
    /// Reserves more of each quota: at least `least` bytes, and up to `most`, which is no less.
    async fn reserve(&mut self, least: u64, most: u64) -> Result<(), ApiError> {
        let quotas = &self.quotas;
        let mut wanted = WantedQuota { least, most, grace: quotas.grace(self.purpose) };
        let mut held = Vec::new();
        for (key, limit) in quotas.keys(self.payer) {
            let more = quotas.tallies.reserve(&quotas.db, key, limit, wanted).await?;
            // The others need no more than the first one has.
            wanted.most = more.amount();
            held.push(more);
        }
        self.covered += held.last().map_or(least, HeldQuota::amount);
        if self.held.is_empty() {
            self.held = held;
        } else {
            self.held.iter_mut().zip(held).for_each(|(all, more)| all.absorb(more));
        }
        Ok(())
    }
}

impl StoragePermit for QuotaPermit {
    async fn cover(&mut self, size: u64) -> Result<(), ApiError> {
        let ahead = |from: u64| self.announced.map_or(STEP, |announced| announced.saturating_sub(from));
        let (least, unwritten) = (size.saturating_sub(self.covered), size.saturating_sub(self.on_disk));
        let (most, at_once) = (ahead(self.covered).max(least), ahead(self.on_disk).min(STEP).max(unwritten));
        if least > 0 {
            self.reserve(least, most).await?;
        }
        if unwritten > 0 {
            self.quotas.free_space.grant(self.purpose, at_once).await?;
            self.on_disk += at_once;
        }
        Ok(())
    }

    fn shrink_to(&mut self, size: u64) {
        self.covered = self.covered.min(size);
        self.held.iter_mut().for_each(|held| held.shrink_to(size));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;
    use tokio::sync::Mutex;

    use super::STEP;
    use crate::config;
    use crate::db::{Db, DbSettings};
    use crate::http::form::StoragePermit;
    use crate::quotas::free_space::FreeSpace;
    use crate::quotas::model::{Payer, UploadPurpose};
    use crate::quotas::tally::Tallies;
    use crate::quotas::{Quotas, QuotasParts};

    /// Quotas without limits and without a reserve, and the folder that they have to themselves.
    async fn unlimited() -> (Quotas, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.sqlite").display());
        let settings = config::Quotas {
            account_bytes: 0,
            project_bytes: 0,
            installation_bytes: 0,
            live_grace_bytes: 0,
            account_projects: 0,
            project_documents: 0,
            project_meetings: 0,
            project_members: 0,
            project_invitations: 0,
            project_runs: 0,
            project_feedback: 0,
            meeting_invitations: 0,
        };
        let storage = config::Storage { reserve_mib: 0, live_reserve_mib: 0 };
        let parts = QuotasParts {
            settings,
            db: Db::open(DbSettings::at(url)).await.unwrap(),
            tallies: Tallies::default(),
            free_space: FreeSpace::new(vec![folder.path().to_owned()], &storage),
            stored_lately: Mutex::default(),
        };
        (Quotas(Arc::new(parts)), folder)
    }

    #[tokio::test]
    async fn what_is_announced_takes_no_room_on_the_disk_and_what_is_written_does() {
        let (quotas, _folder) = unlimited().await;
        let free = quotas.free_space.free().await.unwrap();
        // Two that fit alone and not together. What else happens on the disk is far less than a quarter of it.
        let large = free - free / 4;
        let begin = || quotas.begin(Payer::Installation, UploadPurpose::Usual, Some(large));
        let (mut one, mut other) = (begin().await.unwrap(), begin().await.unwrap());
        one.cover(large).await.unwrap();
        assert_eq!(
            other.cover(large).await.unwrap_err().code.name,
            "StorageFull",
            "it was announced, and there is no room"
        );
    }

    #[tokio::test]
    async fn the_disk_is_asked_in_steps_and_for_no_more_than_was_announced() {
        let (quotas, _folder) = unlimited().await;
        let begin = |announced| quotas.begin(Payer::Installation, UploadPurpose::Usual, announced);
        let mut unknown = begin(None).await.unwrap();
        let mut granted = Vec::new();
        for size in [1, STEP, STEP + 1, 5 * STEP] {
            unknown.cover(size).await.unwrap();
            granted.push(unknown.on_disk);
        }
        assert_eq!(granted, [STEP, STEP, 2 * STEP, 5 * STEP]);
        let mut small = begin(Some(100)).await.unwrap();
        small.cover(10).await.unwrap();
        assert_eq!(small.on_disk, 100);
    }
}
