//! Tracks which runs are being worked on: a limited number at once, with permits granted to projects in turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::ids::{self, Id};
use actors::run;

use crate::pipeline::CancelToken;
use crate::pipeline::fair::FairSemaphore;
use crate::pipeline::process::Analyser;

/// The runs in progress, and the permits for working on them.
#[derive(Clone)]
pub struct RunSupervisor {
    under_way: Arc<Mutex<HashMap<Id<run::Run>, RunningAttempt>>>,
    pub(super) places: FairSemaphore<Id<ids::Project>>,
    pub(super) analyser: Analyser,
    keeping: Arc<tokio::sync::Mutex<()>>,
}

struct RunningAttempt {
    token: CancelToken,
    /// The run was requested again in the meantime, perhaps for an attempt after the one in progress.
    again: bool,
}

impl RunSupervisor {
    /// Creates a supervisor that works on at most `at_once` runs concurrently.
    #[must_use]
    pub fn new(analyser: Analyser, at_once: usize) -> Self {
        let places = FairSemaphore::new(at_once);
        Self { under_way: Arc::default(), places, analyser, keeping: Arc::default() }
    }

    /// Asks the task that is working on a run to re-read it when it has finished. Returns whether there is such a task.
    pub(super) fn again(&self, id: Id<run::Run>) -> bool {
        self.under_way().get_mut(&id).map(|under_way| under_way.again = true).is_some()
    }

    /// Registers a run as in progress; `None` if a task is already working on it.
    pub(super) fn take_up(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut under_way = self.under_way();
        if under_way.contains_key(&id) {
            return None;
        }
        let token = CancelToken::new();
        under_way.insert(id, RunningAttempt { token: token.clone(), again: false });
        Some(token)
    }

    /// The token for another pass over a run. Returns `None`, and removes the run, if no other pass was requested.
    pub(super) fn next(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut all = self.under_way();
        let under_way = all.get_mut(&id)?;
        if !under_way.again {
            all.remove(&id);
            return None;
        }
        *under_way = RunningAttempt { token: CancelToken::new(), again: false };
        Some(under_way.token.clone())
    }

    /// Stops the work on a run. Whether it is started again is decided by the run's state.
    pub fn cancel(&self, id: Id<run::Run>) {
        if let Some(under_way) = self.under_way().get(&id) {
            under_way.token.cancel();
        }
    }

    /// Locks the storing of results: they are stored one after the other, so that the same statement found by two runs
    /// becomes one item.
    pub(super) async fn keeping(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.keeping.lock().await
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id<run::Run>, RunningAttempt>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
