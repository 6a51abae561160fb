//! Permits to store: whoever writes a file that stays needs one for its bytes, and whoever inserts a row of a limited kind one
//! for the row. Drop a permit when the row that says it is committed, or the attempt was given up.

use uuid::Uuid;

use super::Quotas;
use super::model::{CountedKind, Payer, QuotaKey, UploadPurpose};
use super::tally::{HeldQuota, WantedQuota};
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;

/// How much is held at once of an upload that does not say its size: the rest of it is nobody else's meanwhile.
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
    /// Of each quota that counts.
    held: Vec<HeldQuota>,
}

/// A permit for rows of a limited kind.
#[must_use = "once it is dropped, others may be granted the same room"]
pub struct CountPermit {
    _held: Option<HeldQuota>,
}

impl Quotas {
    /// Begins to store a file, whose size the client may have announced. Refuses what can't fit before anything of it is read.
    ///
    /// # Errors
    /// 507 `QuotaExceeded` or `StorageFull`; otherwise the database error.
    pub async fn begin(
        &self,
        payer: Payer,
        purpose: UploadPurpose,
        announced: Option<u64>,
    ) -> Result<QuotaPermit, ApiError> {
        let mut permit = QuotaPermit { quotas: self.clone(), payer, purpose, announced, covered: 0, held: Vec::new() };
        let least = announced.map_or(1, |bytes| bytes.saturating_sub(AROUND_A_FILE).max(1));
        permit.grow(least, least).await?;
        Ok(permit)
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
        let held = self.tallies.hold(&self.db, QuotaKey::Count(kind, owner), Some(limit), wanted).await?;
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
    async fn grow(&mut self, least: u64, most: u64) -> Result<(), ApiError> {
        let quotas = &self.quotas;
        let grace = match self.purpose {
            UploadPurpose::Usual => 0,
            UploadPurpose::Live => quotas.settings.live_grace_bytes,
        };
        quotas.free_space.grant(self.purpose, least).await?;
        let mut wanted = WantedQuota { least, most, grace };
        let mut held = Vec::new();
        for (key, limit) in self.keys() {
            let more = quotas.tallies.hold(&quotas.db, key, limit, wanted).await?;
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

    /// The quotas that count, each with the limit of the settings.
    fn keys(&self) -> Vec<(QuotaKey, Option<u64>)> {
        let settings = &self.quotas.settings;
        let Payer::Project { id, owner_id } = self.payer else { return Vec::new() };
        let mut keys = vec![
            (QuotaKey::ProjectBytes(id), limited(settings.project_bytes)),
            (QuotaKey::AccountBytes(owner_id), limited(settings.account_bytes)),
        ];
        // Its sum is over everything, and is taken only if it matters.
        let installation = limited(settings.installation_bytes);
        keys.extend(installation.map(|limit| (QuotaKey::InstallationBytes, Some(limit))));
        keys
    }
}

impl StoragePermit for QuotaPermit {
    async fn cover(&mut self, size: u64) -> Result<(), ApiError> {
        match size.checked_sub(self.covered) {
            None | Some(0) => Ok(()),
            Some(least) => {
                let most = self.announced.map_or(STEP, |announced| announced.saturating_sub(self.covered));
                self.grow(least, most).await
            }
        }
    }

    fn settle(&mut self, size: u64) {
        self.covered = self.covered.min(size);
        self.held.iter_mut().for_each(|held| held.shrink_to(size));
    }
}
