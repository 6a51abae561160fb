//! Starts the work on unfinished runs.
//!
//! The run's actor decides; the loop only reports, together with the number of its attempt (see [`super::attempt`]). A
//! run that no task is working on (because the server was killed, the database was unavailable or the child process
//! died) is found by the sweep and resumes at the node it had reached. A waiting run occupies only its id.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::run;
use pipeline::CancelToken;
use tracing::Instrument;

use super::RunSnapshot;
use super::attempt::Attempt;
use super::state::Analysis;
use super::store;

/// The interval at which the sweep looks for unfinished runs that no task is working on.
const SWEEP: Duration = Duration::from_secs(5);

/// Starts the work on a run. If a task is already working on it, that task re-reads the run when it has finished.
pub fn begin(state: &Analysis, id: Id<run::Run>) {
    if !state.runner.again(id) {
        take_up(state, id);
    }
}

/// Starts the work on a run, unless a task is already working on it.
fn take_up(state: &Analysis, id: Id<run::Run>) {
    let Some(mut token) = state.runner.take_up(id) else { return };
    let state = state.clone();
    let tasks = state.tasks.clone();
    tasks.spawn(async move {
        let stopping = state.tasks.stopping();
        loop {
            tokio::select! {
                () = work(&state, id, &token) => {}
                () = stopping.cancelled() => {}
            }
            match state.runner.next(id) {
                Some(next) if !stopping.is_cancelled() => token = next,
                _ => return,
            }
        }
    });
}

/// Starts the work on all unfinished runs that no task is working on, periodically until the server stops.
pub async fn sweep(state: Analysis) {
    let stopping = state.tasks.stopping();
    loop {
        match state.db.read(|conn| Box::pin(store::all_unfinished(conn))).await {
            Ok(unfinished) => unfinished.into_iter().for_each(|id| take_up(&state, id)),
            Err(error) => tracing::warn!(%error, "unfinished analysis runs could not be queried"),
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn work(state: &Analysis, id: Id<run::Run>, token: &CancelToken) {
    let unfinished = || async { state.registry.snapshot(id).await.ok().flatten().filter(|run| !run.state.is_over()) };
    let Some(waiting) = unfinished().await else { return };
    let permits = state.runner.permits_of(&waiting.state.engine);
    let Some(project) = transcribed(state, Some(waiting), token).await else { return };
    // While waiting for a permit, only the id is held.
    let _permit = tokio::select! {
        biased;
        () = token.cancelled() => return,
        permit = permits.acquire(project) => permit,
    };
    // Re-read, because the wait may have been long.
    let Some(run) = unfinished().await else { return };
    let request = request_of(&run);
    let span = tracing::info_span!("run", request_id = %request);
    let attempt = Attempt::new(state, &run.state, request);
    if let Err(failure) = attempt.work(token).instrument(span).await {
        tracing::warn!(%failure, run = %id, "work on the analysis run was interrupted; the sweep resumes it");
    }
}

fn request_of(run: &RunSnapshot) -> RequestId {
    format!("run-{}-{}", run.state.id, run.state.attempt).into()
}

/// Waits for the transcripts that a run needs, which may take hours: it occupies nobody's place meanwhile. Returns the
/// run's project, or `None` when its work ends here.
async fn transcribed(state: &Analysis, run: Option<RunSnapshot>, token: &CancelToken) -> Option<Id<ids::Project>> {
    let run = run?;
    let attempt = Attempt::new(state, &run.state, request_of(&run));
    match attempt.await_transcripts(token).await {
        Ok(true) => Some(run.state.project_id),
        Ok(false) => None,
        Err(failure) => {
            tracing::warn!(%failure, run = %run.state.id, "waiting for transcripts was interrupted; the sweep resumes it");
            None
        }
    }
}
