//! What is thought of PostgreSQL's idle connections: fine, to be asked first, or dead.
//!
//! ```text
//!   fine --a job was late on another one--> to be asked: the next who takes it --an answer--> fine
//!     `-----another one was found dead----> dead: nobody takes it  <--no answer--'
//! ```
//! A job that is late says little: it may have waited for a row. The others of its pool go on, and are asked once before
//! they are taken the next time. Connections that an outage left dead are dropped together, at the first that shows it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use diesel_async::SimpleAsyncConnection;
use tokio::time::timeout;

use super::conn::PgConn;

/// How long a connection may take to say that it is there: a fraction of what a caller waits for one.
const ANSWER: Duration = Duration::from_millis(400);

/// Of one pool.
#[derive(Default)]
pub(super) struct Suspicion(Mutex<Since>);

#[derive(Default, Clone, Copy)]
struct Since {
    /// Connections that were last taken before this are to be asked.
    late: Option<Instant>,
    /// Connections that were last taken before this are dead.
    dead: Option<Instant>,
}

impl Suspicion {
    /// A job was late.
    pub fn late(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).late = Some(Instant::now());
    }

    /// A connection is dead.
    pub fn dead(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).dead = Some(Instant::now());
    }

    /// Whether a connection that was last taken then can be taken again.
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
