//! Takes up unfinished runs.
//!
//! The run's actor decides what counts; the loop only reports, with the attempt it works at (see [`super::attempt`]). A run that
//! nobody works at (the server was killed, the database was away, its process ended) is found by the sweep and goes on at the node it
//! was in. A run that waits holds its id and nothing more.

use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::run;
use tracing::Instrument;

use super::attempt::Attempt;
use super::state::Analysis;
use super::store;
use crate::pipeline::CancelToken;

/// How often runs that nobody works at are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Begins to work at a run. Where somebody does, they look at it again when they have come to an end.
pub fn begin(state: &Analysis, id: Id<run::Run>) {
    if !state.runner.again(id) {
        take_up(state, id);
    }
}

/// Begins to work at a run, unless somebody does.
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

/// Begins what nobody works at, again and again until the server stops.
pub async fn sweep(state: Analysis) {
    let stopping = state.tasks.stopping();
    loop {
        match state.db.read(|conn| Box::pin(store::all_unfinished(conn))).await {
            Ok(unfinished) => unfinished.into_iter().for_each(|id| take_up(&state, id)),
            Err(error) => tracing::warn!(%error, "unfinished runs could not be looked for"),
        }
        tokio::select! {
            () = tokio::time::sleep(SWEEP) => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn work(state: &Analysis, id: Id<run::Run>, token: &CancelToken) {
    let unfinished = || async { state.registry.snapshot(id).await.ok().flatten().filter(|run| !run.state.is_over()) };
    // While it waits, its id is held and nothing more.
    let Some(project) = unfinished().await.map(|run| run.state.project_id) else { return };
    let _place = tokio::select! {
        biased;
        () = token.cancelled() => return,
        place = state.runner.places.acquire(project) => place,
    };
    // As it is by now: it may have waited for long.
    let Some(run) = unfinished().await else { return };
    let request: RequestId = format!("run-{id}-{}", run.state.attempt).into();
    let span = tracing::info_span!("run", request_id = %request);
    let attempt = Attempt::new(state, &run.state, request);
    if let Err(failure) = attempt.work(token).instrument(span).await {
        tracing::warn!(%failure, run = %id, "work at a run broke off; the sweep takes it up again");
    }
}
