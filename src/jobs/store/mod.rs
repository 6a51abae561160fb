//! Jobs as rows: how they are enqueued. Claiming and ending them is in `queue`, maintenance in `upkeep`.
//!
//! ```text
//! waiting ──claim──> leased ──done──> no row
//!    ▲                 │ │                ▲ discard
//!    └──again, free────┘ └──give up──> failed ──requeue──> waiting
//!       give back
//! ```
//! Each of the three states has its own indices, so that many rows in one state slow down nothing in another.

mod listing;
mod queue;
mod upkeep;

use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, QueryDsl, Queryable, Selectable};

use super::{Job, JobPayload, Jobs};
use crate::db::schema::jobs;
use crate::db::sweep::Retention;
use crate::db::{Conn, DbError, RunQueryDsl, many};

pub use listing::{FullJob, find, latest_error, list, queues};
pub use queue::{
    DueJobs, DueQuery, HeldJob, OfKey, again, claim, done, find_due, give_back, give_up, renew, save_progress,
};
pub use upkeep::{
    Leased, ListedJob, Which, discard_failed, discard_unfinished, fail_unknown_kinds, free, free_page, is_waiting,
    leased, listed, requeue, reschedule, withdraw,
};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = jobs)]
struct JobRow {
    id: Id<Job>,
    kind: String,
    payload: String,
    request_id: String,
    run_at: Time,
    attempts: i64,
    lease_until: Option<Time>,
    last_error: Option<String>,
    failed_at: Option<Time>,
    created_at: Time,
    fair_key: String,
    claims: i64,
    waiting_since: Time,
    discarded_at: Option<Time>,
}

/// A new job.
struct NewJob<'a> {
    id: Id<Job>,
    fair_key: &'a str,
    now: Time,
    delay: Duration,
    request: &'a RequestId,
}

impl<'a> NewJob<'a> {
    fn due_now(now: Time, request: &'a RequestId) -> Self {
        Self { id: Id::generate(), fair_key: "", now, delay: Duration::ZERO, request }
    }

    fn row<P: JobPayload>(&self, payload: &P) -> Result<JobRow, DbError> {
        Ok(JobRow {
            id: self.id,
            kind: P::KIND.to_owned(),
            payload: serde_json::to_string(payload).map_err(|error| DbError::Broken(error.to_string()))?,
            request_id: self.request.to_string(),
            run_at: self.now + self.delay,
            attempts: 0,
            lease_until: None,
            last_error: None,
            failed_at: None,
            created_at: self.now,
            fair_key: self.fair_key.to_owned(),
            claims: 0,
            waiting_since: self.now,
            discarded_at: None,
        })
    }

    async fn insert(&self, conn: &mut Conn, payload: &impl JobPayload) -> Result<Id<Job>, DbError> {
        let row = self.row(payload)?;
        diesel::insert_into(jobs::table).values(&row).execute(conn).await?;
        Ok(self.id)
    }
}

/// Adds a job that is due at once. Call `Jobs::wake` after the transaction.
///
/// # Errors
/// Returns the database error.
pub async fn enqueue<P: JobPayload>(
    conn: &mut Conn,
    payload: &P,
    now: Time,
    request: &RequestId,
) -> Result<Id<Job>, DbError> {
    const { assert!(!P::TURNS.is_fair(), "jobs of this kind take turns: use enqueue_in_turn") };
    NewJob::due_now(now, request).insert(conn, payload).await
}

/// [`enqueue`] for a job that waits first. The delay is by the time of [`Jobs`], so that it is neither shorter nor
/// longer when the machine's clock is set back.
///
/// # Errors
/// Returns the database error.
pub async fn enqueue_after<P: JobPayload>(
    conn: &mut Conn,
    jobs: &Jobs,
    payload: &P,
    delay: Duration,
    request: &RequestId,
) -> Result<Id<Job>, DbError> {
    const { assert!(!P::TURNS.is_fair(), "jobs of this kind take turns: use enqueue_in_turn_after") };
    NewJob { delay, ..NewJob::due_now(jobs.now(), request) }.insert(conn, payload).await
}

/// [`enqueue`] for a kind whose jobs are claimed in turns: the jobs of one key, however many, delay those of another
/// key by no more than one.
///
/// # Errors
/// Returns the database error.
pub async fn enqueue_in_turn(
    conn: &mut Conn,
    fair_key: &str,
    payload: &impl JobPayload,
    now: Time,
    request: &RequestId,
) -> Result<Id<Job>, DbError> {
    NewJob { fair_key, ..NewJob::due_now(now, request) }.insert(conn, payload).await
}

/// [`enqueue_in_turn`] for a job that waits first, as [`enqueue_after`].
///
/// # Errors
/// Returns the database error.
pub async fn enqueue_in_turn_after(
    conn: &mut Conn,
    jobs: &Jobs,
    fair_key: &str,
    payload: &impl JobPayload,
    delay: Duration,
    request: &RequestId,
) -> Result<Id<Job>, DbError> {
    NewJob { fair_key, delay, ..NewJob::due_now(jobs.now(), request) }.insert(conn, payload).await
}

/// [`enqueue_in_turn`] for many jobs of a kind, each with its key and with an id that was generated before.
pub async fn enqueue_all<P: JobPayload>(
    conn: &mut Conn,
    jobs: &[KeyedJob<P>],
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let row = |job: &KeyedJob<P>| {
        NewJob { id: job.id, fair_key: &job.fair_key, ..NewJob::due_now(now, request) }.row(&job.payload)
    };
    let rows: Vec<JobRow> = jobs.iter().map(row).collect::<Result<_, _>>()?;
    many!(conn, &rows, |some| diesel::insert_into(jobs::table).values(some));
    Ok(())
}

/// A job to be enqueued, see [`enqueue_all`].
pub struct KeyedJob<P> {
    pub id: Id<Job>,
    pub fair_key: String,
    pub payload: P,
}

/// The number up to which failed jobs are counted.
const COUNTED: i64 = 10_000;

/// Returns how many jobs failed for good, up to 10,000: for metrics.
///
/// # Errors
/// Returns the database error.
pub async fn failed_count(conn: &mut Conn) -> Result<i64, DbError> {
    let failed = jobs::table.filter(jobs::failed_at.is_not_null()).select(jobs::id).limit(COUNTED);
    let failed: Vec<Id<Job>> = failed.load(conn).await?;
    Ok(i64::try_from(failed.len()).unwrap_or(COUNTED))
}

/// Jobs that failed for good are stored for this long.
pub const RETENTION: Retention =
    Retention { table: "jobs", key: "id", at: "failed_at", period: Duration::from_secs(30 * 24 * 60 * 60) };
