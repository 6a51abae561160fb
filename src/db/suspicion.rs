//! Tracks which idle connections of PostgreSQL may be dead: each is fine, to be checked before use, or dead.
//!
//! ```text
//!   fine --a job timed out on another one--> to be checked at its next checkout --answer--> fine
//!     `-----another one was found dead-----> dead: never checked out     <--no answer--'
//! ```
//! A timeout alone says little: the job may have waited for a row lock. The other connections of its pool stay usable,
//! and are checked once before their next use. Connections that an outage killed are dropped together, as soon as the
//! first one is found dead.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel_async::SimpleAsyncConnection;
use tokio::time::timeout;

use super::conn::PgConn;

/// How long a connection may take to answer the check: a fraction of what a caller waits for a connection.
const ANSWER: Duration = Duration::from_millis(400);

/// The state of one pool.
#[derive(Default)]
pub(super) struct Suspicion(Mutex<SuspectSince>);

#[derive(Default, Clone, Copy)]
struct SuspectSince {
    /// Connections last checked out before this must be checked.
    late: Option<Instant>,
    /// Connections last checked out before this are dead.
    dead: Option<Instant>,
}

impl Suspicion {
    /// Records that a job timed out.
    pub fn late(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).late = Some(Instant::now());
    }

    /// Records that a connection is dead.
    pub fn dead(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).dead = Some(Instant::now());
    }

    /// Returns whether a connection that was last checked out at `taken_at` can be used again.
    pub async fn clears(&self, conn: &mut PgConn, taken_at: Instant) -> bool {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if since.dead.is_some_and(|dead| taken_at <= dead) {
            return false;
        }
        if since.late.is_none_or(|late| taken_at > late) {
            return true;
        }
        let answers = matches!(timeout(ANSWER, conn.batch_execute("SELECT 1")).await, Ok(Ok(())));
        if !answers {
            self.dead();
        }
        answers
    }
}
