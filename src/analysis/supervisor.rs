//! Tracks which runs are being worked on: a limited number at once, with permits granted to projects in turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::ids::{self, Id};
use actors::run;
use pipeline::CancelToken;
use pipeline::fair::FairSemaphore;

use super::backend::AnalysisBackend;

/// The runs in progress, and the permits for working on them.
#[derive(Clone)]
pub struct RunSupervisor {
    in_progress: Arc<Mutex<HashMap<Id<run::Run>, RunningAttempt>>>,
    pub(super) permits: FairSemaphore<Id<ids::Project>>,
    pub(super) backend: AnalysisBackend,
    results_lock: Arc<tokio::sync::Mutex<()>>,
}

struct RunningAttempt {
    token: CancelToken,
    /// The run was requested again in the meantime, perhaps for an attempt after the one in progress.
    again: bool,
}

impl RunSupervisor {
    /// Creates a supervisor that works on at most `at_once` runs concurrently.
    #[must_use]
    pub fn new(backend: AnalysisBackend, at_once: usize) -> Self {
        let permits = FairSemaphore::new(at_once);
        Self { in_progress: Arc::default(), permits, backend, results_lock: Arc::default() }
    }

    /// Asks the task that is working on a run to re-read it when it has finished. Returns whether there is such a task.
    pub(super) fn again(&self, id: Id<run::Run>) -> bool {
        self.in_progress().get_mut(&id).map(|in_progress| in_progress.again = true).is_some()
    }

    /// Registers a run as in progress; `None` if a task is already working on it.
    pub(super) fn take_up(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut in_progress = self.in_progress();
        if in_progress.contains_key(&id) {
            return None;
        }
        let token = CancelToken::new();
        in_progress.insert(id, RunningAttempt { token: token.clone(), again: false });
        Some(token)
    }

    /// The token for another pass over a run. Returns `None`, and removes the run, if no other pass was requested.
    pub(super) fn next(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut all = self.in_progress();
        let in_progress = all.get_mut(&id)?;
        if !in_progress.again {
            all.remove(&id);
            return None;
        }
        *in_progress = RunningAttempt { token: CancelToken::new(), again: false };
        Some(in_progress.token.clone())
    }

    /// Stops the work on a run. Whether it is started again is decided by the run's state.
    pub fn cancel(&self, id: Id<run::Run>) {
        if let Some(in_progress) = self.in_progress().get(&id) {
            in_progress.token.cancel();
        }
    }

    /// Locks the storing of results: they are stored one after the other, so that the same statement found by two runs
    /// becomes one item.
    pub(super) async fn results_lock(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.results_lock.lock().await
    }

    fn in_progress(&self) -> MutexGuard<'_, HashMap<Id<run::Run>, RunningAttempt>> {
        self.in_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
