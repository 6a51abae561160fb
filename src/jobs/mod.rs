//! LATER: work that outlasts its request, as rows with leases and retries.
//!
//! A job is inserted in the transaction of what causes it, so neither is ever without the other. It may run twice (a
//! worker that was killed after its work), so every handler is safe to repeat. A lease is 30 s and renewed while the
//! work goes on; five attempts with growing, jittered pauses; what failed for good stays, with its error.

pub mod mail;
mod store;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use tokio::sync::Notify;

pub use store::{enqueue, failed_count, forget_failed};
pub use worker::{Handlers, work};

pub const LEASE: Duration = Duration::from_secs(30);
pub const HEARTBEAT: Duration = Duration::from_secs(10);
pub const ATTEMPTS: i64 = 5;

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
}

impl Job {
    #[must_use]
    pub const fn is_last_attempt(&self) -> bool {
        self.attempt >= ATTEMPTS
    }
}

/// Does the jobs of one kind.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    fn kind(&self) -> &'static str;
    /// # Errors
    /// Why it is to be tried again, for the log and the row.
    async fn run(&self, job: &Job) -> Result<(), String>;
}

/// Wakes the worker, which otherwise looks for work every second.
#[derive(Clone, Default)]
pub struct Jobs {
    woken: Arc<Notify>,
}

impl Jobs {
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    pub(crate) async fn woken(&self, now: Time, next: Option<Time>) {
        const LONGEST: Duration = Duration::from_secs(1);
        let pause = next.map_or(LONGEST, |next| next.since(now).min(LONGEST));
        // Whichever comes first.
        let _ = tokio::time::timeout(pause, self.woken.notified()).await;
    }
}
