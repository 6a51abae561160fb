//! Background jobs: work that outlasts its request, stored as rows with leases and retries.
//!
//! A job is inserted in the transaction of what causes it, so neither exists without the other. A job may run twice
//! (when a worker is killed after the work), so every handler must be idempotent. A lease lasts 30 s and is renewed
//! while the work runs; retries come with growing, jittered pauses; a job that failed for good stays, with its error.
//! Each kind has its own permits, and backs off by itself while the service that it needs is unavailable, so that no
//! kind delays another. Within a kind the jobs are claimed in turns, by a fair key that is set when they are enqueued,
//! so that no project or account delays another; and an attempt has a time limit, so that each turn ends.
//!
//! An attempt is counted when its job is claimed, so that one during which the process dies counts as well: a job that
//! kills the server fails after its attempts. An attempt that a stop of the server cuts short is given back.
//!
//! Nothing here relies on the machine's clock alone, which may be set: see `steady` and `leases`.

mod dispatch;
mod fair_order;
mod lane;
mod leases;
pub mod mail;
pub mod model;
pub mod operator;
mod steady;
mod store;
mod worker;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::live::{EventRecord, RequestId};
use actors::time::{Clock, Time};
use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use steady::Steady;
use tokio::sync::Notify;

use crate::db::{Conn, DbError};

pub use store::{
    RETENTION, enqueue, enqueue_after, enqueue_in_turn, enqueue_in_turn_after, failed_count, save_progress,
};
pub use worker::{Handlers, KindBounds, WorkerContext, work};

pub const LEASE: Duration = Duration::from_secs(30);
pub const HEARTBEAT: Duration = Duration::from_secs(10);

/// A job as its handler sees it.
#[derive(Debug, Clone)]
pub struct Job {
    pub id: Id<Job>,
    pub kind: String,
    /// The [`JobPayload`] of the kind, as JSON.
    payload: String,
    pub request: RequestId,
    /// 1 on the first attempt.
    pub attempt: i64,
    /// The maximum number of attempts.
    pub attempts: i64,
    /// How often it was claimed, ever: it identifies the holder.
    claim: i64,
    /// The key by which the jobs of a kind take turns.
    fair_key: String,
    /// An operator wants it to end without another attempt.
    is_discarded: bool,
}

impl Job {
    /// The key for a job that follows from this one.
    #[must_use]
    pub fn fair_key(&self) -> &str {
        &self.fair_key
    }

    #[must_use]
    pub const fn is_last_attempt(&self) -> bool {
        self.attempt >= self.attempts
    }

    /// Whether it was claimed although no attempt was left: the process died during the last one.
    const fn is_used_up(&self) -> bool {
        self.attempt > self.attempts
    }

    const fn held(&self) -> store::HeldJob {
        store::HeldJob { id: self.id, claim: self.claim }
    }
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobError {
    /// The job is to be retried.
    Again(String),
    /// The service that it needs is unavailable: the job is to be retried, and no other job of its kind need be tried
    /// before.
    Unavailable(String),
    /// No retry would end otherwise.
    Never(String),
    /// The job has expired; the service that it needs was not called.
    Lapsed(String),
    /// It did a part of a long work, and goes on when it is its turn again: no failure, and no attempt.
    NextTurn,
}

impl JobError {
    #[must_use]
    pub fn why(&self) -> &str {
        match self {
            Self::Again(why) | Self::Unavailable(why) | Self::Never(why) | Self::Lapsed(why) => why,
            Self::NextTurn => "it is not finished yet",
        }
    }
}

impl From<String> for JobError {
    fn from(why: String) -> Self {
        Self::Again(why)
    }
}
impl From<DbError> for JobError {
    fn from(failed: DbError) -> Self {
        Self::Again(failed.to_string())
    }
}

/// The final outcome of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOutcome<'a> {
    Done,
    /// For good, with the reason.
    Failed(&'a str),
}

/// How often the jobs of a kind are tried, and with which pauses.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    pub attempts: i64,
    /// Pauses grow up to this.
    pub longest_pause: Duration,
}

impl RetryPolicy {
    /// For jobs that are owed, above all to a person: they are never given up.
    pub const UNTIL_DONE: Self = Self { attempts: i64::MAX, longest_pause: Duration::from_secs(15 * 60) };
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, longest_pause: Duration::from_secs(64) }
    }
}

/// Whose jobs of a kind wait for whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// Each job has the key of what caused it: a project, a meeting or an account. The keys take turns.
    Fair,
    /// They run in the order in which they are due, for this reason.
    InOrder(&'static str),
}

impl Turns {
    const fn is_fair(self) -> bool {
        matches!(self, Self::Fair)
    }
}

/// What the jobs of one kind do, with the data for one of them. Both the kind and the JSON are stored: jobs that were
/// enqueued by an earlier version must stay readable.
pub trait JobPayload: Serialize + DeserializeOwned + Send + Sync + 'static {
    const KIND: &'static str;
    /// A kind with [`Turns::Fair`] can't be enqueued without a key; see `enqueue_in_turn`.
    const TURNS: Turns;
}

/// Runs the jobs of one kind. A job whose payload can't be parsed fails for good without reaching its handler's `run`.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    type Payload: JobPayload;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::default()
    }
    /// How many of its jobs run concurrently.
    fn concurrency(&self) -> usize {
        4
    }
    /// The longest time of one attempt: far more than an honest one takes. Then the attempt is dropped, and counts as
    /// failed. What a handler runs on a blocking thread goes on nevertheless: it must be bounded by itself.
    fn time_limit(&self) -> Duration;
    /// Runs one attempt of a job.
    ///
    /// # Errors
    /// Returns why it failed, for the log and the row.
    async fn run(&self, job: &Job, payload: Self::Payload) -> Result<(), JobError>;
    /// Records the final outcome of a job, in the transaction that ends it; the returned events are published after the
    /// commit. The payload is `None` if it can't be parsed. An error is logged, and the job has ended nonetheless:
    /// repeating its work again and again would be worse.
    ///
    /// # Errors
    /// Returns the database error.
    async fn ended(
        &self,
        _conn: &mut Conn,
        _job: &Job,
        _payload: Option<Self::Payload>,
        _outcome: JobOutcome<'_>,
        _now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        Ok(Vec::new())
    }
}

/// Wakes the worker, which otherwise polls every second, and provides the time that jobs use.
#[derive(Clone)]
pub struct Jobs {
    woken: Arc<Notify>,
    time: Arc<Steady>,
}

impl Jobs {
    #[must_use]
    pub fn by(clock: Arc<dyn Clock>) -> Self {
        Self { woken: Arc::default(), time: Arc::new(Steady::by(clock)) }
    }

    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Returns the machine's time, or a later one: it never goes back.
    pub(crate) fn now(&self) -> Time {
        self.time.now()
    }

    pub(crate) async fn woken(&self, now: Time, next: Option<Time>) {
        const MAX_PAUSE: Duration = Duration::from_secs(1);
        let pause = next.map_or(MAX_PAUSE, |next| next.since(now).min(MAX_PAUSE));
        // Whichever comes first.
        let _ = tokio::time::timeout(pause, self.woken.notified()).await;
    }
}
