//! Tracks which runs are being worked on: a limited number at once, with permits granted to projects in turn. Runs that ask
//! a language model mostly wait for it, so they have permits of their own and hold up nobody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actors::ids::{self, Id};
use actors::run;
use pipeline::fair::FairSemaphore;
use pipeline::process::Analyser;
use pipeline::{CancelToken, EngineKind};

use super::backend::AnalysisBackend;
use crate::clients::pipeline::PipelineService;

/// The runs in progress, and the permits for working on them.
#[derive(Clone)]
pub struct RunSupervisor {
    in_progress: Arc<Mutex<HashMap<Id<run::Run>, RunningAttempt>>>,
    permits: FairSemaphore<Id<ids::Project>>,
    model_permits: FairSemaphore<Id<ids::Project>>,
    analyser: Analyser,
    service: Option<Arc<PipelineService>>,
    results_lock: Arc<tokio::sync::Mutex<()>>,
}

struct RunningAttempt {
    token: CancelToken,
    /// The run was requested again in the meantime, perhaps for an attempt after the one in progress.
    again: bool,
}

impl RunSupervisor {
    /// Creates a supervisor that works on at most `at_once` runs concurrently, and besides on `asking_model` that ask a
    /// language model.
    #[must_use]
    pub fn new(analyser: Analyser, service: Option<Arc<PipelineService>>, at_once: usize, asking_model: usize) -> Self {
        let (permits, model_permits) = (FairSemaphore::new(at_once), FairSemaphore::new(asking_model));
        Self { in_progress: Arc::default(), permits, model_permits, analyser, service, results_lock: Arc::default() }
    }

    /// Returns the pipeline service that analyses runs, where one is configured.
    #[must_use]
    pub fn service(&self) -> Option<&Arc<PipelineService>> {
        self.service.as_ref()
    }

    /// Returns what analyses runs of an engine. Those that ask a language model stay on this server, which has its key.
    pub(super) fn backend_of(&self, engine: &str) -> AnalysisBackend {
        let asks_model = engine.parse().is_ok_and(EngineKind::asks_model);
        match &self.service {
            Some(service) if !asks_model => AnalysisBackend::Remote(Arc::clone(service)),
            _ => AnalysisBackend::Local(self.analyser.clone()),
        }
    }

    /// Returns the permits for runs of an engine.
    pub(super) fn permits_of(&self, engine: &str) -> &FairSemaphore<Id<ids::Project>> {
        let asks_model = engine.parse().is_ok_and(EngineKind::asks_model);
        if asks_model { &self.model_permits } else { &self.permits }
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
