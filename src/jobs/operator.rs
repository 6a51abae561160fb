//! Operator commands for jobs: those of `colloquy admin`, run on the machine beside a running server or without one, and
//! those of the interface. A running server polls for due jobs every second.

use actors::ids::Id;
use actors::time::Time;

use super::mail::{Outbox, without_addresses};
use super::model::{JobQuery, JobQueue, OperatorJob};
use super::store::FullJob;
use super::{Job, store};
use crate::db::{Db, DbError};

pub use store::{ListedJob, Which};

impl OperatorJob {
    fn of(job: FullJob, outbox: &Outbox) -> Self {
        Self {
            email: outbox.summary(job.id, &job.kind, &job.payload),
            id: job.id,
            kind: job.kind,
            state: job.state,
            attempts: job.attempts,
            created_at: job.created_at,
            run_at: job.run_at,
            failed_at: job.failed_at,
            last_error: job.last_error.as_deref().map(without_addresses),
        }
    }
}

/// Returns a page of jobs, newest first and one more than the limit if there are as many, and how many there are on all
/// pages.
///
/// # Errors
/// Returns the database error.
pub async fn list(db: &Db, outbox: &Outbox, query: JobQuery) -> Result<(Vec<OperatorJob>, i64), DbError> {
    let (jobs, total) = db.read(move |conn| Box::pin(async move { store::list(conn, &query).await })).await?;
    Ok((jobs.into_iter().map(|job| OperatorJob::of(job, outbox)).collect(), total))
}

/// Returns a job.
///
/// # Errors
/// Returns the database error.
pub async fn find(db: &Db, outbox: &Outbox, id: Id<Job>) -> Result<Option<OperatorJob>, DbError> {
    let found = db.read(move |conn| Box::pin(store::find(conn, id))).await?;
    Ok(found.map(|job| OperatorJob::of(job, outbox)))
}

/// Counts the jobs of each kind that has any.
///
/// # Errors
/// Returns the database error.
pub async fn queues(db: &Db) -> Result<Vec<JobQueue>, DbError> {
    db.read(|conn| Box::pin(store::queues(conn))).await
}

/// Returns why the jobs of a kind fail at present, with addresses masked; `None` while none of them waits for another
/// attempt.
///
/// # Errors
/// Returns the database error.
pub async fn latest_error(db: &Db, kind: &'static str) -> Result<Option<String>, DbError> {
    let found = db.read(move |conn| Box::pin(store::latest_error(conn, kind))).await?;
    Ok(found.as_deref().map(without_addresses))
}

/// Returns failed jobs after an id, ordered by id; or jobs in any state.
///
/// # Errors
/// Returns the database error.
pub async fn list_for_admin(db: &Db, failed_only: bool, after: Id<Job>, limit: i64) -> Result<Vec<ListedJob>, DbError> {
    db.read(move |conn| Box::pin(store::listed(conn, failed_only, after, limit))).await
}

/// Requeues failed jobs, each once, however often it fails meanwhile. Returns how many.
///
/// # Errors
/// Returns the database error; some jobs may be requeued by then.
pub async fn requeue(db: &Db, which: Which, now: Time) -> Result<usize, DbError> {
    let (mut after, mut requeued) = (Id::from_uuid(uuid::Uuid::nil()), 0);
    loop {
        let which = which.clone();
        let page =
            db.write(move |conn| Box::pin(async move { store::requeue(conn, &which, after, now).await })).await?;
        requeued += page.len();
        match page.last() {
            Some(last) => after = *last,
            None => return Ok(requeued),
        }
    }
}

/// How many jobs were discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscardedJobs {
    /// Failed ones, which are deleted.
    pub failed: usize,
    /// Unfinished ones, which a server ends as soon as it runs, without another attempt.
    pub unfinished: usize,
}

/// Discards failed jobs; a job that is named by its id, also if it waits or runs.
///
/// # Errors
/// Returns the database error; some jobs may be discarded by then.
pub async fn discard(db: &Db, which: Which, now: Time) -> Result<DiscardedJobs, DbError> {
    let mut discarded = DiscardedJobs { failed: 0, unfinished: 0 };
    if let Some(id) = which.id {
        let marked = db.write(move |conn| Box::pin(store::discard_unfinished(conn, id, now))).await?;
        discarded.unfinished = usize::from(marked);
    }
    let mut after = Id::from_uuid(uuid::Uuid::nil());
    loop {
        let which = which.clone();
        let page =
            db.write(move |conn| Box::pin(async move { store::discard_failed(conn, &which, after).await })).await?;
        discarded.failed += page.len();
        match page.last() {
            Some(last) => after = *last,
            None => return Ok(discarded),
        }
    }
}

/// Returns whether a job exists that was never claimed.
///
/// # Errors
/// Returns the database error.
pub async fn is_waiting(db: &Db, id: Id<Job>) -> Result<bool, DbError> {
    db.read(move |conn| Box::pin(store::is_waiting(conn, id))).await
}

/// Deletes a job that was never claimed. Returns whether it did.
///
/// # Errors
/// Returns the database error.
pub async fn withdraw(db: &Db, id: Id<Job>) -> Result<bool, DbError> {
    db.write(move |conn| Box::pin(store::withdraw(conn, id))).await
}
