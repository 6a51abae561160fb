//! How much is used of each quota: the sum of the rows, and what was granted since it was taken.
//!
//! A permit is given back only after its row was committed, and what is held is read before a sum is taken. So each byte that is
//! stored or under way is in the one or the other, and those that are in both make a tally too high until the next sum. Nothing
//! is granted that does not fit a tally that is right or too high: uploads at once can't exceed a limit together. What does not fit
//! only because of others' permits waits for a moment and looks again, since a tally may be too high by all of them. So does
//! what does not fit a sum from before it was asked for, which knows nothing of later deletions: that of the installation may be.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::model::{QuotaKey, QuotaRefusal};
use super::store;
use crate::db::{Db, DbError};
use crate::http::error::ApiError;

/// After this time another sum is taken, since some things change without a permit: who owns a project, and the limits that an
/// operator sets.
const MAX_AGE: Duration = Duration::from_secs(10);
/// The sum of the whole installation is taken no more often, even if something does not fit.
const PAUSE: Duration = Duration::from_secs(1);
/// How long what fits but for others' permits waits until another sum is taken: most permits are held for one transaction.
const PATIENCE: [Duration; 3] = [Duration::from_millis(20), Duration::from_millis(100), Duration::from_millis(500)];
/// The same for the installation: another sum is taken before the end of it.
const PATIENCE_BEYOND_PAUSE: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(100), PAUSE.saturating_add(Duration::from_millis(100))];
/// How many tallies are remembered.
const MAX_TALLIES: usize = 10_000;

#[derive(Default)]
pub struct Tallies(Mutex<HashMap<QuotaKey, Arc<QuotaTally>>>);

#[derive(Default)]
struct QuotaTally {
    /// Of all permits that were not given back yet.
    held: AtomicU64,
    sum: tokio::sync::Mutex<Option<Sum>>,
}

/// What was found when the sum was taken, and what was granted since.
#[derive(Debug, Clone, Copy)]
struct Sum {
    used: u64,
    limit: Option<u64>,
    granted: u64,
    at: Instant,
}

impl Sum {
    /// How much more may be granted.
    fn room(&self, grace: u64) -> u64 {
        self.stored_room(grace).saturating_sub(self.granted)
    }

    /// How much more there would be room for if nothing were under way.
    fn stored_room(&self, grace: u64) -> u64 {
        let limit = self.limit.map_or(u64::MAX, |limit| limit.saturating_add(grace));
        limit.saturating_sub(self.used)
    }
}

/// How much is wanted: there is room for `least` or nothing is held, and up to `most` is. A `most` of 0 only compares.
#[derive(Debug, Clone, Copy)]
pub struct WantedQuota {
    pub least: u64,
    pub most: u64,
    /// How far it may go beyond the limit.
    pub grace: u64,
}

impl Tallies {
    /// Holds a part of a quota. `limit` is that of the settings.
    ///
    /// # Errors
    /// [`QuotaRefusal`] as an `ApiError` where it does not fit; otherwise the database error.
    pub async fn reserve(
        &self,
        db: &Db,
        key: QuotaKey,
        limit: Option<u64>,
        wanted: WantedQuota,
    ) -> Result<HeldQuota, ApiError> {
        let (tally, asked) = (self.tally(key), Instant::now());
        let mut pauses = match key {
            QuotaKey::InstallationBytes => PATIENCE_BEYOND_PAUSE.iter(),
            _ => PATIENCE.iter(),
        };
        loop {
            let sum = match tally.try_hold(db, key, limit, wanted).await? {
                Ok(held) => return Ok(held),
                Err(sum) => sum,
            };
            // What others hold may be stored already and counted twice, or may be given back.
            let others_decide = sum.stored_room(wanted.grace) >= wanted.least;
            let is_outdated = sum.at < asked;
            match pauses.next().filter(|_| others_decide || is_outdated) {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => {
                    let under_way = if others_decide { sum.granted } else { 0 };
                    let limit = sum.limit.unwrap_or_default();
                    return Err(QuotaRefusal { key, used: sum.used, under_way, limit }.into());
                }
            }
        }
    }

    /// As [`Tallies::reserve`], but reserves nothing: `bytes` are compared with what is left.
    ///
    /// # Errors
    /// As [`Tallies::reserve`].
    pub async fn check(
        &self,
        db: &Db,
        key: QuotaKey,
        limit: Option<u64>,
        bytes: u64,
        grace: u64,
    ) -> Result<(), ApiError> {
        self.reserve(db, key, limit, WantedQuota { least: bytes, most: 0, grace }).await.map(drop)
    }

    fn tally(&self, key: QuotaKey) -> Arc<QuotaTally> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_TALLIES && !all.contains_key(&key) {
            // Whatever is held keeps its tally.
            all.retain(|_, tally| Arc::strong_count(tally) > 1);
        }
        Arc::clone(all.entry(key).or_default())
    }
}

impl QuotaTally {
    /// Holds a part of the quota, or returns the sum that it does not fit.
    async fn try_hold(
        self: &Arc<Self>,
        db: &Db,
        key: QuotaKey,
        limit: Option<u64>,
        wanted: WantedQuota,
    ) -> Result<Result<HeldQuota, Sum>, ApiError> {
        let mut sum = self.sum.lock().await;
        let known = sum.filter(|sum| sum.at.elapsed() < MAX_AGE);
        let is_enough = |sum: &Sum| {
            let is_new = key == QuotaKey::InstallationBytes && sum.at.elapsed() < PAUSE;
            is_new || sum.room(wanted.grace) >= wanted.least
        };
        let mut now = match known.filter(is_enough) {
            Some(known) => known,
            None => {
                // Before the sum: what is given back from here on may be in it.
                let (held, at) = (self.held.load(Ordering::SeqCst), Instant::now());
                let found = db.read(move |conn| Box::pin(store::used(conn, key))).await;
                let (used, own) = found.map_err(|failed: DbError| ApiError::from(failed))?;
                // What an operator has set counts, and there 0 is no limit too.
                let limit = own.map_or(limit, |own| Some(own).filter(|own| *own > 0));
                Sum { used, limit, granted: held, at }
            }
        };
        let room = now.room(wanted.grace);
        if room < wanted.least {
            *sum = Some(now);
            return Ok(Err(now));
        }
        let amount = wanted.most.min(room);
        now.granted = now.granted.saturating_add(amount);
        *sum = Some(now);
        self.held.fetch_add(amount, Ordering::SeqCst);
        Ok(Ok(HeldQuota { tally: Arc::clone(self), amount }))
    }
}

/// A part of a quota that is held until it is dropped.
pub struct HeldQuota {
    tally: Arc<QuotaTally>,
    amount: u64,
}

impl HeldQuota {
    #[must_use]
    pub const fn amount(&self) -> u64 {
        self.amount
    }

    /// Takes over what another one holds of the same quota.
    pub fn absorb(&mut self, mut more: Self) {
        self.amount += more.amount;
        more.amount = 0;
    }

    /// Gives back what is beyond `amount`.
    pub fn shrink_to(&mut self, amount: u64) {
        let surplus = self.amount.saturating_sub(amount);
        self.amount -= surplus;
        self.tally.held.fetch_sub(surplus, Ordering::SeqCst);
    }
}

impl Drop for HeldQuota {
    fn drop(&mut self) {
        self.tally.held.fetch_sub(self.amount, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::{Tallies, WantedQuota};
    use crate::db::{Db, DbSettings};
    use crate::quotas::model::QuotaKey;

    const ALL: QuotaKey = QuotaKey::InstallationBytes;
    const LIMIT: Option<u64> = Some(100);
    const MOST_OF_IT: WantedQuota = WantedQuota { least: 80, most: 80, grace: 0 };

    async fn empty() -> (Db, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("test.sqlite").display());
        (Db::open(DbSettings::at(url)).await.unwrap(), folder)
    }

    #[tokio::test]
    async fn what_the_installation_got_back_is_granted_again() {
        let ((db, _folder), tallies) = (empty().await, Tallies::default());
        drop(tallies.reserve(&db, ALL, LIMIT, MOST_OF_IT).await.unwrap());
        let again = tallies.reserve(&db, ALL, LIMIT, MOST_OF_IT).await;
        assert!(again.is_ok(), "the sum is a moment old, and another one is waited for");
        let refused = tallies.reserve(&db, ALL, LIMIT, MOST_OF_IT).await.err().unwrap();
        assert!(refused.message.contains("80 more are being added"), "{refused}");
    }

    #[tokio::test]
    async fn a_check_compares_and_adds_nothing() {
        let ((db, _folder), tallies) = (empty().await, Tallies::default());
        for _ in 0..3 {
            tallies.check(&db, ALL, LIMIT, 80, 0).await.unwrap();
        }
        let granted = tallies.tally(ALL).sum.lock().await.unwrap().granted;
        assert_eq!(granted, 0);
        assert_eq!(tallies.check(&db, ALL, LIMIT, 101, 0).await.unwrap_err().code.name, "QuotaExceeded");
        tallies.check(&db, ALL, LIMIT, 101, 1).await.unwrap();
        let held = tallies.reserve(&db, ALL, LIMIT, MOST_OF_IT).await.unwrap();
        assert_eq!((held.amount(), tallies.check(&db, ALL, LIMIT, 20, 0).await.is_ok()), (80, true));
    }
}
