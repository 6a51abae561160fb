//! Which jobs are due, taken in turns; and what becomes of one that was taken.
//!
//! A look only reads: it seeks the earliest job of a kind, and where that is due goes from key to key, a seek for the key
//! and one for its earliest jobs, however many wait. Only what is chosen of it is claimed, by id, in a write.
//!
//! Who holds a job says so with the number of its claim. What a former holder says changes nothing.

use actors::ids::Id;
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use super::super::Job;
use super::JobRow;
use crate::db::schema::jobs;
use crate::db::{At, Columns, Conn, Failed, Key, RunQueryDsl};

/// How many keys one look goes through. Those it didn't get to come first the next time.
const KEYS: usize = 64;

// As macros, since the type of a query can't be said in one word; a test asks both databases how they find each of them.

/// What waits, of a kind.
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

/// The keys past one (`gt`) or from one on (`ge`).
macro_rules! keys {
    ($kind:expr, $past:ident, $key:expr) => {
        waiting!($kind).filter(jobs::fair_key.$past($key)).order(jobs::fair_key.asc()).select(jobs::fair_key)
    };
}

macro_rules! due {
    ($kind:expr, $key:expr, $now:expr, $most:expr) => {
        waiting!($kind)
            .filter(jobs::fair_key.eq($key))
            .filter(jobs::run_at.le(At($now)))
            .order((jobs::run_at.asc(), jobs::id.asc()))
            .select(jobs::id)
            .limit($most)
    };
}

/// What somebody holds, or held.
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

/// What failed for good, after an id.
macro_rules! failed {
    ($after:expr) => {
        jobs::table.filter(jobs::failed_at.is_not_null()).filter(jobs::id.gt(Key::<Job>($after))).order(jobs::id.asc())
    };
}
pub(super) use failed;

macro_rules! claimed {
    ($id:expr) => {
        jobs::table.filter(jobs::id.eq($id)).filter(jobs::failed_at.is_null()).filter(jobs::lease_until.is_null())
    };
}

/// What is held under a claim.
macro_rules! held {
    ($held:expr) => {
        jobs::table
            .filter(jobs::id.eq(Key($held.id)))
            .filter(jobs::claims.eq($held.claim))
            .filter(jobs::failed_at.is_null())
    };
}

/// The jobs of a kind that are wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    pub kind: &'static str,
    /// How many may begin.
    pub most: usize,
    /// How many of them are under way: so many keys more are looked at, so that others can be chosen.
    pub under_way: usize,
    /// The key that had the last turn.
    pub after: Option<String>,
}

/// What is due of a key, earliest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfKey {
    pub fair_key: String,
    pub ids: Vec<Id<Job>>,
}

/// What a look found of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub kind: &'static str,
    /// In the order of their turns.
    pub due: Vec<OfKey>,
    /// Where the look ended, if it did before it had been everywhere.
    pub ended_at: Option<String>,
}

/// What is due of what is wanted; and when the next job is of the kinds of which none is.
pub async fn look(conn: &mut Conn, wanted: &[Wanted], now: Time) -> Result<(Vec<Look>, Option<Time>), Failed> {
    let (mut looks, mut next) = (Vec::new(), None);
    for wanted in wanted {
        let earliest: Option<At> = earliest!(wanted.kind).first(conn).await.optional()?;
        match earliest {
            None => {}
            Some(At(at)) if at > now => next = Some(next.map_or(at, |next: Time| next.min(at))),
            Some(_) => looks.push(in_turn(conn, wanted, now).await?),
        }
    }
    Ok((looks, next))
}

/// Once around all keys, from the one after the last turn's on.
async fn in_turn(conn: &mut Conn, wanted: &Wanted, now: Time) -> Result<Look, Failed> {
    let most = i64::try_from(wanted.most).unwrap_or(i64::MAX);
    let enough = wanted.most + wanted.under_way;
    let mut due = Vec::new();
    let (mut at, mut is_around) = (wanted.after.clone(), wanted.after.is_none());
    for _ in 0..KEYS {
        let key: Option<String> = match &at {
            Some(key) => keys!(wanted.kind, gt, key).first(conn).await.optional()?,
            None => keys!(wanted.kind, ge, "").first(conn).await.optional()?,
        };
        // The key of the last turn comes last.
        let is_past = is_around && key.as_ref() > wanted.after.as_ref() && wanted.after.is_some();
        match key {
            Some(key) if !is_past => {
                let ids: Vec<Key<Job>> = due!(wanted.kind, &key, now, most).load(conn).await?;
                if !ids.is_empty() {
                    due.push(OfKey { fair_key: key.clone(), ids: ids.into_iter().map(|id| id.0).collect() });
                }
                at = Some(key);
            }
            None if !is_around => (at, is_around) = (None, true),
            Some(_) | None => return Ok(Look { kind: wanted.kind, due, ended_at: None }),
        }
        if due.len() >= enough {
            break;
        }
    }
    Ok(Look { kind: wanted.kind, due, ended_at: at })
}

/// A job that somebody works at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub id: Id<Job>,
    /// How often it was taken by then.
    pub claim: i64,
}

/// Takes jobs, except for those that somebody took meanwhile. `attempts` of a job is left for the worker to say.
pub async fn claim(conn: &mut Conn, ids: &[Id<Job>], until: Time) -> Result<Vec<Job>, Failed> {
    let mut taken = Vec::with_capacity(ids.len());
    for id in ids {
        let claimed = diesel::update(claimed!(Key(*id))).set((
            jobs::attempts.eq(jobs::attempts + 1),
            jobs::claims.eq(jobs::claims + 1),
            jobs::lease_until.eq(Some(At(until))),
        ));
        let row: Option<JobRow> = claimed.returning(JobRow::columns()).get_result(conn).await.optional()?;
        taken.extend(row.map(|row| Job {
            id: row.id.0,
            kind: row.kind,
            payload: row.payload,
            request: row.request_id.into(),
            attempt: row.attempts,
            attempts: i64::MAX,
            claim: row.claims,
            fair_key: row.fair_key,
        }));
    }
    Ok(taken)
}

/// Goes on holding a job. False: somebody else holds it, or nobody.
pub async fn renew(conn: &mut Conn, held: Held, until: Time) -> Result<bool, Failed> {
    let own = held!(held).filter(jobs::lease_until.is_not_null());
    Ok(diesel::update(own).set(jobs::lease_until.eq(Some(At(until)))).execute(conn).await? == 1)
}

/// Puts another payload in a job's place while it is worked at, so that whoever takes it up next goes on from there. False: it
/// is no longer this holder's.
///
/// # Errors
/// The database's own.
pub async fn note(conn: &mut Conn, job: &Job, payload: &impl serde::Serialize) -> Result<bool, Failed> {
    let payload = serde_json::to_string(payload).map_err(|error| Failed::Broken(error.to_string()))?;
    let own = held!(job.held());
    Ok(diesel::update(own).set(jobs::payload.eq(payload)).execute(conn).await? == 1)
}

/// The job is done: its row goes. False: it was no longer the holder's.
pub async fn done(conn: &mut Conn, held: Held) -> Result<bool, Failed> {
    Ok(diesel::delete(held!(held)).execute(conn).await? == 1)
}

/// The job is to be tried again at a time. False: it was no longer the holder's.
pub async fn again(conn: &mut Conn, held: Held, error: &str, now: Time, at: Time) -> Result<bool, Failed> {
    let waits = diesel::update(held!(held)).set((
        jobs::lease_until.eq(None::<At>),
        jobs::run_at.eq(At(at)),
        jobs::waiting_since.eq(At(now)),
        jobs::last_error.eq(Some(error.to_owned())),
    ));
    Ok(waits.execute(conn).await? == 1)
}

/// The job has failed for good. False: it was no longer the holder's.
pub async fn give_up(conn: &mut Conn, held: Held, error: &str, now: Time) -> Result<bool, Failed> {
    let failed = diesel::update(held!(held)).set((
        jobs::lease_until.eq(None::<At>),
        jobs::last_error.eq(Some(error.to_owned())),
        jobs::failed_at.eq(Some(At(now))),
    ));
    Ok(failed.execute(conn).await? == 1)
}

#[cfg(test)]
mod tests;
