//! LATER: work that outlasts its request, as rows with leases and retries.
//!
//! A job is inserted in the transaction of what causes it, so neither is ever without the other. It may run twice (a
//! worker that was killed after its work), so every handler is safe to repeat. A lease is 30 s and renewed while the
//! work goes on; tries come with growing, jittered pauses; what failed for good stays, with its error. Each kind has its
//! own places to work at and waits by itself where whom it needs is away, so that no kind delays another. Within a kind
//! the jobs are taken in turns, by a key that whoever adds them names, so that no project or account delays another.
//!
//! Nothing here goes by the machine's clock alone, which may be set: see `steady` and `leases`.

mod lane;
mod leases;
pub mod mail;
pub mod operator;
mod steady;
mod store;
mod turns;
mod worker;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::live::{RequestId, Told};
use actors::time::{Clock, Time};
use async_trait::async_trait;
use tokio::sync::Notify;

use crate::db::{Conn, Failed};
use steady::Steady;

pub use store::{OVER, enqueue, enqueue_after, enqueue_in_turn, failed_count, note};
pub use worker::{Desk, Handlers, work};

pub const LEASE: Duration = Duration::from_secs(30);
pub const HEARTBEAT: Duration = Duration::from_secs(10);

/// A job as its handler sees it.
#[derive(Debug, Clone)]
pub struct Job {
    pub id: Id<Job>,
    pub kind: String,
    /// JSON, of the handler's own form.
    pub payload: String,
    pub request: RequestId,
    /// 1 at the first try.
    pub attempt: i64,
    /// How many tries it has.
    pub attempts: i64,
    /// How often it was taken, ever: who holds it says so with this.
    claim: i64,
    /// Whose turn it is.
    fair_key: String,
}

impl Job {
    #[must_use]
    pub const fn is_last_attempt(&self) -> bool {
        self.attempt >= self.attempts
    }

    const fn held(&self) -> store::Held {
        store::Held { id: self.id, claim: self.claim }
    }
}

/// Why a job was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is to be tried again.
    Again(String),
    /// Whom it needs is away: it is to be tried again, and the others of its kind need not be tried before.
    Away(String),
    /// No other try would end otherwise.
    Never(String),
    /// Its time is over; whom it needs was not asked.
    Lapsed(String),
}

impl Fault {
    #[must_use]
    pub fn why(&self) -> &str {
        let (Self::Again(why) | Self::Away(why) | Self::Never(why) | Self::Lapsed(why)) = self;
        why
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Again(why)
    }
}

/// What became of a job in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    Done,
    /// For good, and why.
    Failed(&'a str),
}

/// How long the jobs of a kind are tried.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pub attempts: i64,
    /// Pauses grow up to this.
    pub longest_pause: Duration,
}

impl Patience {
    /// For what is owed, to a person above all: it is not given up.
    pub const UNTIL_DONE: Self = Self { attempts: i64::MAX, longest_pause: Duration::from_secs(15 * 60) };
}

impl Default for Patience {
    fn default() -> Self {
        Self { attempts: 5, longest_pause: Duration::from_secs(64) }
    }
}

/// Does the jobs of one kind.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    fn kind(&self) -> &'static str;
    fn patience(&self) -> Patience {
        Patience::default()
    }
    /// How many of its jobs run at once.
    fn at_once(&self) -> usize {
        4
    }
    /// # Errors
    /// Why it was not done, for the log and the row.
    async fn run(&self, job: &Job) -> Result<(), Fault>;
    /// Keeps what became of a job, in the transaction that ends it; what it answers is told after. An error is logged,
    /// and the job has ended nonetheless: doing its work again and again would be worse.
    ///
    /// # Errors
    /// The database's own.
    async fn ended(
        &self,
        _conn: &mut Conn,
        _job: &Job,
        _outcome: Outcome<'_>,
        _now: Time,
    ) -> Result<Vec<Told>, Failed> {
        Ok(Vec::new())
    }
}

/// Wakes the worker, which otherwise looks for work every second, and knows the time that jobs go by.
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

    /// The machine's time, or later: it is never set back.
    pub(crate) fn now(&self) -> Time {
        self.time.now()
    }

    pub(crate) async fn woken(&self, now: Time, next: Option<Time>) {
        const LONGEST: Duration = Duration::from_secs(1);
        let pause = next.map_or(LONGEST, |next| next.since(now).min(LONGEST));
        // Whichever comes first.
        let _ = tokio::time::timeout(pause, self.woken.notified()).await;
    }
}
