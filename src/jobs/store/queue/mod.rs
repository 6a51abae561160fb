//! Finds due jobs in turns, claims them, and records how a claimed job ended.
//!
//! A poll only reads: it seeks the earliest job of a kind, and if that is due it goes from key to key, with one seek
//! for the key and one for its earliest jobs, however many wait. Only the jobs that are chosen from it are claimed, by
//! id, in a write.
//!
//! The number of its claim identifies the holder of a job. What a former holder writes changes nothing.

use actors::ids::Id;
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use super::super::{Job, JobPayload};
use super::JobRow;
use crate::db::schema::jobs;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, kept};

/// How many keys one poll visits. Those that it didn't reach come first in the next poll.
const KEYS: usize = 64;

// They are macros, since the type of such a query can't be named; a test checks the plan of each on both databases.

/// The waiting jobs of a kind.
macro_rules! waiting {
    ($kind:expr) => {
        jobs::table.filter(jobs::kind.eq($kind)).filter(jobs::failed_at.is_null()).filter(jobs::lease_until.is_null())
    };
}
pub(super) use waiting;

macro_rules! earliest {
    ($kind:expr) => {
        waiting!($kind).order(jobs::run_at.asc()).select(jobs::run_at)
    };
}

/// The keys after one (`gt`) or from one on (`ge`).
macro_rules! keys {
    ($kind:expr, $past:ident, $key:expr) => {
        waiting!($kind).filter(jobs::fair_key.$past($key)).order(jobs::fair_key.asc()).select(jobs::fair_key)
    };
}

macro_rules! due {
    ($kind:expr, $key:expr, $now:expr, $most:expr) => {
        waiting!($kind)
            .filter(jobs::fair_key.eq($key))
            .filter(jobs::run_at.le($now))
            .order((jobs::run_at.asc(), jobs::id.asc()))
            .select(jobs::id)
            .limit($most)
    };
}

/// Jobs with a lease, current or abandoned.
macro_rules! leased {
    () => {
        jobs::table.filter(jobs::lease_until.is_not_null()).order(jobs::id.asc()).select((
            jobs::id,
            jobs::claims,
            jobs::lease_until,
        ))
    };
}
pub(super) use leased;

/// Jobs that failed for good, after an id.
macro_rules! failed {
    ($after:expr) => {
        jobs::table.filter(jobs::failed_at.is_not_null()).filter(jobs::id.gt($after)).order(jobs::id.asc())
    };
}
pub(super) use failed;

macro_rules! claimed {
    ($id:expr) => {
        jobs::table.filter(jobs::id.eq($id)).filter(jobs::failed_at.is_null()).filter(jobs::lease_until.is_null())
    };
}

/// The job that is held under a claim.
macro_rules! held {
    ($held:expr) => {
        jobs::table.filter(jobs::id.eq($held.id)).filter(jobs::claims.eq($held.claim)).filter(jobs::failed_at.is_null())
    };
}

/// A query for due jobs of a kind.
#[derive(Debug, Clone)]
pub struct DueQuery {
    pub kind: &'static str,
    /// How many may start.
    pub most: usize,
    /// How many of the kind run: the poll visits as many keys more, so that keys without running jobs can be chosen.
    pub running: usize,
    /// The key that was served last.
    pub after: Option<String>,
}

/// The due jobs of a key, earliest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfKey {
    pub fair_key: String,
    pub ids: Vec<Id<Job>>,
}

/// The result of a poll for a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueJobs {
    pub kind: &'static str,
    /// In the order of their turns.
    pub due: Vec<OfKey>,
    /// The last key visited, if the poll ended before it had visited all of them.
    pub ended_at: Option<String>,
}

/// Returns the due jobs for each query; and the earliest due time among the kinds that have none due.
pub async fn find_due(
    conn: &mut Conn,
    wanted: &[DueQuery],
    now: Time,
) -> Result<(Vec<DueJobs>, Option<Time>), DbError> {
    let (mut found, mut next) = (Vec::new(), None);
    for wanted in wanted {
        let earliest: Option<Time> = earliest!(wanted.kind).first(conn).await.optional()?;
        match earliest {
            None => {}
            Some(at) if at > now => next = Some(next.map_or(at, |next: Time| next.min(at))),
            Some(_) => found.push(in_turn(conn, wanted, now).await?),
        }
    }
    Ok((found, next))
}

/// Visits all keys once, starting after the one that was served last.
async fn in_turn(conn: &mut Conn, wanted: &DueQuery, now: Time) -> Result<DueJobs, DbError> {
    let most = i64::try_from(wanted.most).unwrap_or(i64::MAX);
    let enough = wanted.most + wanted.running;
    let mut due = Vec::new();
    let (mut at, mut has_wrapped) = (wanted.after.clone(), wanted.after.is_none());
    for _ in 0..KEYS {
        let key: Option<String> = match &at {
            Some(key) => keys!(wanted.kind, gt, key).first(conn).await.optional()?,
            None => keys!(wanted.kind, ge, "").first(conn).await.optional()?,
        };
        // The key that was served last comes last.
        let is_past = has_wrapped && key.as_ref() > wanted.after.as_ref() && wanted.after.is_some();
        match key {
            Some(key) if !is_past => {
                let ids: Vec<Id<Job>> = due!(wanted.kind, &key, now, most).load(conn).await?;
                if !ids.is_empty() {
                    due.push(OfKey { fair_key: key.clone(), ids });
                }
                at = Some(key);
            }
            None if !has_wrapped => (at, has_wrapped) = (None, true),
            Some(_) | None => return Ok(DueJobs { kind: wanted.kind, due, ended_at: None }),
        }
        if due.len() >= enough {
            break;
        }
    }
    Ok(DueJobs { kind: wanted.kind, due, ended_at: at })
}

/// A job that a worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldJob {
    pub id: Id<Job>,
    /// The number of claims at that time, including this one.
    pub claim: i64,
}

/// Claims jobs, except those that were claimed meanwhile. The worker must set `attempts` of each job.
pub async fn claim(conn: &mut Conn, ids: &[Id<Job>], until: Time) -> Result<Vec<Job>, DbError> {
    let mut taken = Vec::with_capacity(ids.len());
    for id in ids {
        let claimed = diesel::update(claimed!(*id)).set((
            jobs::attempts.eq(jobs::attempts + 1),
            jobs::claims.eq(jobs::claims + 1),
            jobs::lease_until.eq(Some(until)),
        ));
        let claimed = kept(claimed.returning(JobRow::columns()));
        let row: Option<JobRow> = claimed.get_result(conn).await.optional()?;
        taken.extend(row.map(|row| Job {
            id: row.id,
            kind: row.kind,
            payload: row.payload,
            request: row.request_id.into(),
            attempt: row.attempts,
            attempts: i64::MAX,
            claim: row.claims,
            fair_key: row.fair_key,
            is_discarded: row.discarded_at.is_some(),
        }));
    }
    Ok(taken)
}

/// Renews the lease of a job. Returns false when the claim no longer holds it.
pub async fn renew(conn: &mut Conn, held: HeldJob, until: Time) -> Result<bool, DbError> {
    let own = held!(held).filter(jobs::lease_until.is_not_null());
    let renewed = diesel::update(own).set(jobs::lease_until.eq(Some(until)));
    Ok(kept(renewed).execute(conn).await? == 1)
}

/// Replaces the payload of a running job, so that its next attempt continues from there. Returns false when the claim
/// no longer holds the job.
///
/// # Errors
/// Returns the database error.
pub async fn save_progress(conn: &mut Conn, job: &Job, payload: &impl JobPayload) -> Result<bool, DbError> {
    let payload = serde_json::to_string(payload).map_err(|error| DbError::Broken(error.to_string()))?;
    let own = held!(job.held());
    Ok(diesel::update(own).set(jobs::payload.eq(payload)).execute(conn).await? == 1)
}

/// Deletes the row of a job that is done. Returns false when the claim no longer held it.
pub async fn done(conn: &mut Conn, held: HeldJob) -> Result<bool, DbError> {
    Ok(diesel::delete(held!(held)).execute(conn).await? == 1)
}

/// Schedules the next attempt for `at`. Returns false when the claim no longer held the job, also because an operator
/// discarded it meanwhile.
pub async fn again(conn: &mut Conn, held: HeldJob, error: &str, now: Time, at: Time) -> Result<bool, DbError> {
    let waits = diesel::update(held!(held).filter(jobs::lease_until.is_not_null())).set((
        jobs::lease_until.eq(None::<Time>),
        jobs::run_at.eq(at),
        jobs::waiting_since.eq(now),
        jobs::last_error.eq(Some(error.to_owned())),
    ));
    Ok(waits.execute(conn).await? == 1)
}

/// Frees the job behind those of its key that are due, and takes back that it was attempted. Returns false when the claim
/// no longer held it.
pub async fn give_back(conn: &mut Conn, held: HeldJob, now: Time) -> Result<bool, DbError> {
    let given_back = diesel::update(held!(held).filter(jobs::lease_until.is_not_null())).set((
        jobs::lease_until.eq(None::<Time>),
        jobs::attempts.eq(jobs::attempts - 1),
        jobs::run_at.eq(now),
        jobs::waiting_since.eq(now),
    ));
    Ok(given_back.execute(conn).await? == 1)
}

/// Marks the job as failed for good after so many attempts. Returns false when the claim no longer held it, also because an
/// operator discarded it meanwhile.
pub async fn give_up(conn: &mut Conn, held: HeldJob, attempts: i64, error: &str, now: Time) -> Result<bool, DbError> {
    let failed = diesel::update(held!(held).filter(jobs::lease_until.is_not_null())).set((
        jobs::attempts.eq(attempts),
        jobs::lease_until.eq(None::<Time>),
        jobs::last_error.eq(Some(error.to_owned())),
        jobs::failed_at.eq(Some(now)),
    ));
    Ok(failed.execute(conn).await? == 1)
}

#[cfg(test)]
mod tests;
