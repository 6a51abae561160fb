//! Takes up unfinished runs: so many at once as there are places, project by project in turns.
//!
//! The run's actor decides what counts; the runner only reports, with the attempt it works at (see [`super::attempt`]). A run that
//! nobody works at (the server was killed, the database was away, its process ended) is found by the sweep and goes on at the node it
//! was in. A run that waits holds its id and nothing more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::run;
use tracing::Instrument;

use super::attempt::Attempt;
use super::store;
use crate::app::App;
use crate::pipeline::CancelToken;
use crate::pipeline::fair::FairSemaphore;
use crate::pipeline::process::Analyser;

/// How often runs that nobody works at are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Who works at what.
#[derive(Clone)]
pub struct Runner {
    under_way: Arc<Mutex<HashMap<Id<run::Run>, UnderWay>>>,
    places: FairSemaphore<Id<ids::Project>>,
    pub(super) analyser: Analyser,
    keeping: Arc<tokio::sync::Mutex<()>>,
}

struct UnderWay {
    token: CancelToken,
    /// Somebody asked for it meanwhile: perhaps for an attempt that came after the one that is at work.
    again: bool,
}

impl Runner {
    /// Works at `at_once` runs at once.
    #[must_use]
    pub fn new(analyser: Analyser, at_once: usize) -> Self {
        let places = FairSemaphore::new(at_once);
        Self { under_way: Arc::default(), places, analyser, keeping: Arc::default() }
    }

    /// Begins to work at a run. Where somebody does, they look at it again when they have come to an end.
    pub fn begin(&self, app: &App, id: Id<run::Run>) {
        if let Some(under_way) = self.under_way().get_mut(&id) {
            under_way.again = true;
            return;
        }
        self.take_up(app, id);
    }

    /// Begins to work at a run, unless somebody does.
    fn take_up(&self, app: &App, id: Id<run::Run>) {
        let mut token = CancelToken::new();
        {
            let mut under_way = self.under_way();
            if under_way.contains_key(&id) {
                return;
            }
            under_way.insert(id, UnderWay { token: token.clone(), again: false });
        }
        let (runner, app) = (self.clone(), app.clone());
        let tasks = app.tasks.clone();
        tasks.spawn(async move {
            let stopping = app.tasks.stopping();
            loop {
                tokio::select! {
                    () = runner.work(&app, id, &token) => {}
                    () = stopping.cancelled() => {}
                }
                match runner.next(id) {
                    Some(next) if !stopping.is_cancelled() => token = next,
                    _ => return,
                }
            }
        });
    }

    /// The token of another look at a run; `None`: nobody asked for one, and it is no longer under way.
    fn next(&self, id: Id<run::Run>) -> Option<CancelToken> {
        let mut all = self.under_way();
        let under_way = all.get_mut(&id)?;
        if !under_way.again {
            all.remove(&id);
            return None;
        }
        *under_way = UnderWay { token: CancelToken::new(), again: false };
        Some(under_way.token.clone())
    }

    /// Stops the work at a run; whether to begin it again is the run's own affair.
    pub fn cancel(&self, id: Id<run::Run>) {
        if let Some(under_way) = self.under_way().get(&id) {
            under_way.token.cancel();
        }
    }

    /// Begins what nobody works at, again and again until the server stops.
    pub async fn sweep(self, app: App) {
        let stopping = app.tasks.stopping();
        loop {
            match app.db.read(|conn| Box::pin(store::all_unfinished(conn))).await {
                Ok(unfinished) => unfinished.into_iter().for_each(|id| self.take_up(&app, id)),
                Err(error) => tracing::warn!(%error, "unfinished runs could not be looked for"),
            }
            tokio::select! {
                () = tokio::time::sleep(SWEEP) => {}
                () = stopping.cancelled() => return,
            }
        }
    }

    /// Results are kept one after the other, so that the same statement of two runs becomes one item.
    pub(super) async fn keeping(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.keeping.lock().await
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Id<run::Run>, UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn work(&self, app: &App, id: Id<run::Run>, token: &CancelToken) {
        let unfinished = || async { app.runs.snapshot(id).await.ok().flatten().filter(|run| !run.state.is_over()) };
        // While it waits, its id is held and nothing more.
        let Some(project) = unfinished().await.map(|run| run.state.project_id) else { return };
        let _place = tokio::select! {
            biased;
            () = token.cancelled() => return,
            place = self.places.acquire(project) => place,
        };
        // As it is by now: it may have waited for long.
        let Some(run) = unfinished().await else { return };
        let request: RequestId = format!("run-{id}-{}", run.state.attempt).into();
        let span = tracing::info_span!("run", request_id = %request);
        let attempt = Attempt::new(app, &run.state, request);
        if let Err(failure) = attempt.work(token).instrument(span).await {
            tracing::warn!(%failure, run = %id, "work at a run broke off; the sweep takes it up again");
        }
    }
}
