//! Writes that nobody knows the outcome of, and the rule that nothing is read or begun past them.
//!
//! ```text
//!   Waiting --begin--> Begun --answered------------------------> Ended
//!      |                 `--caller gone, no answer to COMMIT--> Doubtful --it has ended, either way--> Ended
//!      `--caller gone--> Forsaken: never begins
//! ```
//! A write whose caller was told "unknown", or went away in the middle, may still come to be. What is read before it does
//! may be older than its outcome, and would be served as a fact. So reads wait for it, and on PostgreSQL writes too, since
//! they read (SQLite has one writer, which comes to them after it). They wait within their own limit: then it is
//! [`Failed::Unavailable`]. That is for everything that is kept, whoever wrote it, so that no reader has to think of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::failed::Failed;

/// All writes of one database that are in doubt. Clones are the same.
#[derive(Clone)]
pub(super) struct Doubts(watch::Sender<Standing>);

#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    open: usize,
    /// Only rises.
    settled: u64,
}

impl Doubts {
    pub fn none() -> Self {
        Self(watch::Sender::new(Standing::default()))
    }

    /// Returns when nothing is in doubt.
    pub async fn settle(&self) {
        if self.0.borrow().open == 0 {
            return;
        }
        // An error means that the sender is gone, which is this one's.
        let _ = self.0.subscribe().wait_for(|standing| standing.open == 0).await;
    }

    /// # Errors
    /// `Unavailable`: something is still in doubt after the limit.
    pub async fn settle_within(&self, limit: Duration) -> Result<(), Failed> {
        if self.0.borrow().open == 0 {
            return Ok(());
        }
        let settled = timeout(limit, self.settle()).await;
        settled.map_err(|_late| Failed::Unavailable("it is not known yet what became of an earlier write".to_owned()))
    }

    /// Changes whenever a doubt was settled.
    pub fn settled(&self) -> Settled {
        Settled { standing: self.0.subscribe(), seen: self.0.borrow().settled }
    }

    fn rise(&self) {
        self.0.send_modify(|standing| standing.open += 1);
    }

    fn fall(&self) {
        self.0.send_modify(|standing| {
            standing.open = standing.open.saturating_sub(1);
            standing.settled += 1;
        });
    }
}

/// Hears when writes that were in doubt have come to their end.
pub struct Settled {
    standing: watch::Receiver<Standing>,
    seen: u64,
}

impl Settled {
    /// Returns when some doubt was settled since the last time; `false`: the database is closed.
    pub async fn next(&mut self) -> bool {
        let seen = self.seen;
        let Ok(standing) = self.standing.wait_for(|standing| standing.settled != seen).await.map(|now| *now) else {
            return false;
        };
        self.seen = standing.settled;
        true
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Forsaken,
    Begun,
    Doubtful,
    Ended,
}

struct Write {
    phase: Mutex<Phase>,
    doubts: Doubts,
}

impl Write {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn doubt(&self) {
        let mut phase = self.phase();
        if *phase == Phase::Begun {
            *phase = Phase::Doubtful;
            self.doubts.rise();
        }
    }
}

/// The caller's side of a write: dropped before it heard an answer, it leaves a doubt behind.
pub(super) struct Caller(Arc<Write>);

/// The side of whoever carries a write out. Dropping it says that the write has come to its end.
pub(super) struct Course(Arc<Write>);

impl Doubts {
    /// A write that waits to be begun.
    pub fn write(&self) -> (Caller, Course) {
        let write = Arc::new(Write { phase: Mutex::new(Phase::Waiting), doubts: self.clone() });
        (Caller(Arc::clone(&write)), Course(write))
    }
}

impl Caller {
    /// The answer came.
    pub fn heard(self) {
        let mut phase = self.0.phase();
        // An answer after which the course goes on has said so itself.
        if *phase == Phase::Begun {
            *phase = Phase::Ended;
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut phase = self.0.phase();
        if *phase == Phase::Waiting {
            *phase = Phase::Forsaken;
        }
        drop(phase);
        self.0.doubt();
    }
}

impl Course {
    /// Whether the write is to be begun: somebody waits for it.
    pub fn begin(&self) -> bool {
        let mut phase = self.0.phase();
        if *phase == Phase::Waiting {
            *phase = Phase::Begun;
        }
        *phase == Phase::Begun
    }

    /// Nobody knows what came of it, until this is dropped.
    pub fn doubt(&self) {
        self.0.doubt();
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        let mut phase = self.0.phase();
        if *phase == Phase::Doubtful {
            self.0.doubts.fall();
        }
        *phase = Phase::Ended;
    }
}
