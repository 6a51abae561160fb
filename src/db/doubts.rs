//! Writes with an unknown outcome, and the rule that nothing is read or begun past them.
//!
//! ```text
//!   Waiting --begin--> Begun --answered------------------------> Ended
//!      |                 `--caller gone, no answer to COMMIT--> Doubtful --it has ended, either way--> Ended
//!      `--caller gone--> Forsaken: never begins
//! ```
//! A write whose caller got "unknown", or went away in the middle, may still be committed. A read before that may
//! return data older than the outcome, and it would be served as a fact. So reads wait for such writes, and on
//! PostgreSQL writes do too, since they read (SQLite has one writer, which runs them later anyway). They wait within
//! their own limit; after that they fail with [`DbError::Unavailable`]. The rule covers all stored data, no matter
//! which component wrote it, so that no reader has to consider it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::error::DbError;

/// All writes of one database that are in doubt. Clones share the state.
#[derive(Clone)]
pub(super) struct Doubts(watch::Sender<DoubtState>);

#[derive(Debug, Clone, Copy, Default)]
struct DoubtState {
    open: usize,
    /// Only rises.
    settled: u64,
}

impl Doubts {
    pub fn none() -> Self {
        Self(watch::Sender::new(DoubtState::default()))
    }

    pub fn is_none(&self) -> bool {
        self.0.borrow().open == 0
    }

    /// Waits until nothing is in doubt.
    pub async fn wait_until_none(&self) {
        if self.is_none() {
            return;
        }
        // Fails only when the sender is gone, which `self` holds.
        let _ = self.0.subscribe().wait_for(|state| state.open == 0).await;
    }

    /// Waits until nothing is in doubt, for at most `limit`.
    ///
    /// # Errors
    /// `Unavailable` when a write is still in doubt after the limit.
    pub async fn wait_until_none_within(&self, limit: Duration) -> Result<(), DbError> {
        if self.is_none() {
            return Ok(());
        }
        let settled = timeout(limit, self.wait_until_none()).await;
        settled.map_err(|_late| DbError::Unavailable("the outcome of an earlier write is not known yet".to_owned()))
    }

    /// Returns a subscription that changes whenever a doubt is settled.
    pub fn settled(&self) -> Settled {
        Settled { state: self.0.subscribe(), seen: self.0.borrow().settled }
    }

    fn rise(&self) {
        self.0.send_modify(|state| state.open += 1);
    }

    fn fall(&self) {
        self.0.send_modify(|state| {
            state.open = state.open.saturating_sub(1);
            state.settled += 1;
        });
    }
}

/// A subscription to the end of writes that were in doubt.
pub struct Settled {
    state: watch::Receiver<DoubtState>,
    seen: u64,
}

impl Settled {
    /// Waits until a doubt is settled since the last call; returns `false` when the database is closed.
    pub async fn next(&mut self) -> bool {
        let seen = self.seen;
        let Ok(state) = self.state.wait_for(|state| state.settled != seen).await.map(|now| *now) else {
            return false;
        };
        self.seen = state.settled;
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

/// The caller's side of a write: dropped before the answer arrives, it leaves a doubt behind.
pub(super) struct CallerSide(Arc<Write>);

/// The executing side of a write. Dropping it means that the write has ended.
pub(super) struct Course(Arc<Write>);

impl Doubts {
    /// Creates both sides of a write that waits to be started.
    pub fn write(&self) -> (CallerSide, Course) {
        let write = Arc::new(Write { phase: Mutex::new(Phase::Waiting), doubts: self.clone() });
        (CallerSide(Arc::clone(&write)), Course(write))
    }
}

impl CallerSide {
    /// Records that the answer has arrived.
    pub fn answered(self) {
        let mut phase = self.0.phase();
        // A write that continues after its answer was marked doubtful by its course.
        if *phase == Phase::Begun {
            *phase = Phase::Ended;
        }
    }
}

impl Drop for CallerSide {
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
    /// Returns whether to start the write: its caller still waits.
    pub fn begin(&self) -> bool {
        let mut phase = self.0.phase();
        if *phase == Phase::Waiting {
            *phase = Phase::Begun;
        }
        *phase == Phase::Begun
    }

    /// Marks the outcome as unknown until this is dropped.
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
