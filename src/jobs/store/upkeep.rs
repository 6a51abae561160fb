//! Maintenance beside the queue itself, page by page: abandoned leases, jobs without a handler, times from a clock that
//! was set back, and operator commands.

use std::collections::BTreeMap;

use actors::ids::Id;
use actors::time::Time;
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, OptionalExtension, QueryDsl};
use serde::Serialize;

use super::super::Job;
use super::queue::{HeldJob, failed, leased, waiting};
use crate::db::schema::jobs;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Rows per transaction.
const PAGE: i64 = 500;

/// A job with a lease, current or abandoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leased {
    pub held: HeldJob,
    pub until: Time,
}

/// Returns the jobs that have a lease, of any holder: at most one page.
pub async fn leased(conn: &mut Conn) -> Result<Vec<Leased>, DbError> {
    let found: Vec<(Id<Job>, i64, Option<Time>)> = leased!().limit(PAGE).load(conn).await?;
    let leased =
        |(id, claim, until): (Id<Job>, i64, Option<Time>)| Some(Leased { held: HeldJob { id, claim }, until: until? });
    Ok(found.into_iter().filter_map(leased).collect())
}

/// Frees those of the leases that were not claimed or renewed meanwhile. Returns how many.
pub async fn free(conn: &mut Conn, lapsed: &[Leased]) -> Result<usize, DbError> {
    let mut freed = 0;
    for Leased { held, until } in lapsed {
        let own = jobs::table
            .filter(jobs::id.eq(held.id))
            .filter(jobs::claims.eq(held.claim))
            .filter(jobs::lease_until.eq(Some(*until)));
        freed += diesel::update(own).set(jobs::lease_until.eq(None::<Time>)).execute(conn).await?;
    }
    Ok(freed)
}

/// At startup: frees a page of jobs that a former server held. Returns how many; zero when none is left.
pub async fn free_page(conn: &mut Conn) -> Result<usize, DbError> {
    let held: Vec<Id<Job>> = leased!().select(jobs::id).limit(PAGE).load(conn).await?;
    let freed = diesel::update(jobs::table.filter(jobs::id.eq_any(held))).set(jobs::lease_until.eq(None::<Time>));
    Ok(freed.execute(conn).await?)
}

/// At startup: fails a page of jobs whose kind has no handler. Returns how many; zero when none is left.
pub async fn fail_unknown_kinds(conn: &mut Conn, known: &[&'static str], now: Time) -> Result<usize, DbError> {
    let mut after = String::new();
    loop {
        let kind: Option<String> = jobs::table
            .filter(jobs::kind.gt(&after))
            .filter(jobs::failed_at.is_null())
            .filter(jobs::lease_until.is_null())
            .order(jobs::kind.asc())
            .select(jobs::kind)
            .first(conn)
            .await
            .optional()?;
        let Some(kind) = kind else { return Ok(0) };
        if !known.contains(&kind.as_str()) {
            let unknown: Vec<Id<Job>> = waiting!(&kind).select(jobs::id).limit(PAGE).load(conn).await?;
            let error = Some("no handler exists for this kind of job".to_owned());
            let failed = diesel::update(jobs::table.filter(jobs::id.eq_any(unknown)))
                .set((jobs::failed_at.eq(Some(now)), jobs::last_error.eq(error)));
            return Ok(failed.execute(conn).await?);
        }
        after = kind;
    }
}

/// At startup: reschedules a page of jobs that began to wait in the future, by a clock that was set back since. From
/// now on they wait for their original delay. Returns how many; zero when none is left.
pub async fn reschedule(conn: &mut Conn, kind: &str, now: Time) -> Result<usize, DbError> {
    let ahead: Vec<(Id<Job>, Time, Time)> = waiting!(kind)
        .filter(jobs::run_at.gt(now))
        .filter(jobs::waiting_since.gt(now))
        .order(jobs::run_at.asc())
        .limit(PAGE)
        .select((jobs::id, jobs::run_at, jobs::waiting_since))
        .load(conn)
        .await?;
    let mut by_delay: BTreeMap<_, Vec<Id<Job>>> = BTreeMap::new();
    for (id, run_at, since) in &ahead {
        by_delay.entry(run_at.since(*since)).or_default().push(*id);
    }
    for (delay, ids) in by_delay {
        diesel::update(jobs::table.filter(jobs::id.eq_any(ids)))
            .set((jobs::run_at.eq(now + delay), jobs::waiting_since.eq(now)))
            .execute(conn)
            .await?;
    }
    Ok(ahead.len())
}

/// Returns whether a job exists that was never claimed.
pub async fn is_waiting(conn: &mut Conn, id: Id<Job>) -> Result<bool, DbError> {
    let found: Option<i64> = jobs::table.find(id).select(jobs::claims).first(conn).await.optional()?;
    Ok(found == Some(0))
}

/// Deletes a job that was never claimed. Returns whether it did.
pub async fn withdraw(conn: &mut Conn, id: Id<Job>) -> Result<bool, DbError> {
    let untaken = jobs::table.filter(jobs::id.eq(id)).filter(jobs::claims.eq(0));
    Ok(diesel::delete(untaken).execute(conn).await? == 1)
}

/// A job as `colloquy admin` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedJob {
    pub id: Id<Job>,
    pub kind: String,
    pub attempts: i64,
    pub created_at: Time,
    /// `None`: it waits or runs.
    pub failed_at: Option<Time>,
    pub error: Option<String>,
}

type ListedRow = (Id<Job>, String, i64, Time, Option<Time>, Option<String>);

/// Returns jobs after an id, ordered by id: failed ones, or all.
pub async fn listed(conn: &mut Conn, failed_only: bool, after: Id<Job>, limit: i64) -> Result<Vec<ListedJob>, DbError> {
    macro_rules! rows {
        ($of:expr) => {
            $of.limit(limit)
                .select((jobs::id, jobs::kind, jobs::attempts, jobs::created_at, jobs::failed_at, jobs::last_error))
                .load(conn)
                .await?
        };
    }
    let rows: Vec<ListedRow> = match failed_only {
        true => rows!(failed!(after)),
        false => rows!(jobs::table.filter(jobs::id.gt(after)).order(jobs::id.asc())),
    };
    let listed = |(id, kind, attempts, created_at, failed_at, error): ListedRow| ListedJob {
        id,
        kind,
        attempts,
        created_at,
        failed_at,
        error,
    };
    Ok(rows.into_iter().map(listed).collect())
}

/// A filter for failed jobs; the default matches all.
#[derive(Debug, Clone, Default)]
pub struct Which {
    pub id: Option<Id<Job>>,
    pub kind: Option<String>,
}

/// Returns the ids of a page of failed jobs after an id.
async fn page_of_failed(conn: &mut Conn, which: &Which, after: Id<Job>) -> Result<Vec<Id<Job>>, DbError> {
    let any = |is_any: bool| is_any.into_sql::<diesel::sql_types::Bool>();
    let nobody = Id::from_uuid(uuid::Uuid::nil());
    let page = failed!(after)
        .filter(any(which.id.is_none()).or(jobs::id.eq(which.id.unwrap_or(nobody))))
        .filter(any(which.kind.is_none()).or(jobs::kind.eq(which.kind.clone().unwrap_or_default())))
        .limit(PAGE)
        .select(jobs::id);
    Ok(page.load(conn).await?)
}

/// Requeues a page of failed jobs after an id, with all their attempts. Returns their ids; empty when none is left.
pub async fn requeue(conn: &mut Conn, which: &Which, after: Id<Job>, now: Time) -> Result<Vec<Id<Job>>, DbError> {
    let page = page_of_failed(conn, which, after).await?;
    diesel::update(jobs::table.filter(jobs::id.eq_any(&page)).filter(jobs::failed_at.is_not_null()))
        .set((
            jobs::failed_at.eq(None::<Time>),
            jobs::attempts.eq(0),
            jobs::run_at.eq(now),
            jobs::waiting_since.eq(now),
            jobs::discarded_at.eq(None::<Time>),
        ))
        .execute(conn)
        .await?;
    Ok(page)
}

/// Deletes a page of failed jobs after an id. Returns their ids; empty when none is left.
pub async fn discard_failed(conn: &mut Conn, which: &Which, after: Id<Job>) -> Result<Vec<Id<Job>>, DbError> {
    let page = page_of_failed(conn, which, after).await?;
    let failed = jobs::table.filter(jobs::id.eq_any(&page)).filter(jobs::failed_at.is_not_null());
    diesel::delete(failed).execute(conn).await?;
    Ok(page)
}

/// Marks a job that waits or runs, so that it ends when it is claimed next, with the outcome that its handler records. An
/// attempt that is under way loses it. Returns whether there is such a job.
pub async fn discard_unfinished(conn: &mut Conn, id: Id<Job>, now: Time) -> Result<bool, DbError> {
    let unfinished = jobs::table.filter(jobs::id.eq(id)).filter(jobs::failed_at.is_null());
    let marked = diesel::update(unfinished).set((
        jobs::discarded_at.eq(Some(now)),
        jobs::lease_until.eq(None::<Time>),
        jobs::run_at.eq(now),
        jobs::waiting_since.eq(now),
    ));
    Ok(marked.execute(conn).await? == 1)
}
