//! Applies time limits to recordings: those that wait for late chunks, were given up, last too long, or have expired.
//! Which ones are due is read from the store every second, and the meeting itself decides: safe to repeat.

use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Command, Meeting, RecordingWait};
use futures_util::{StreamExt, stream};

use crate::db::DbError;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as store;

const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Meetings that are swept concurrently.
const AT_ONCE: usize = 8;
/// Meetings that each query returns; the rest follows a second later.
const PAGE: i64 = 1000;

const ALL: [RecordingWait; 6] = [
    RecordingWait::Longest,
    RecordingWait::Abandoned,
    RecordingWait::Quiet,
    RecordingWait::Late,
    RecordingWait::Repair,
    RecordingWait::Expiry,
];

/// Sweeps every second until the server stops.
pub async fn sweep(state: Meetings) {
    let stopping = state.tasks.stopping();
    loop {
        tokio::select! {
            () = once(&state) => {}
            () = stopping.cancelled() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn once(state: &Meetings) {
    let due = match due(state).await {
        Ok(due) => due,
        Err(away) => {
            tracing::warn!(%away, "due recordings could not be queried; retrying later");
            return;
        }
    };
    let sweeping = stream::iter(due).for_each_concurrent(AT_ONCE, |meeting| async move {
        let command = Command::SweepRecordings { limits: state.recording_limits() };
        let swept = state.registry.ask(meeting, command, RequestId::from("sweep")).await;
        if let Err(failure) = swept {
            tracing::warn!(%meeting, ?failure, "the time limits of recordings could not be applied; retrying later");
        }
    });
    sweeping.await;
}

async fn due(state: &Meetings) -> Result<Vec<Id<Meeting>>, DbError> {
    let (now, limits) = (state.now(), state.recording_limits());
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let mut due = Vec::new();
            for wait in ALL {
                due.extend(store::waiting_since(conn, wait, now - limits.of(wait), PAGE).await?);
            }
            Ok::<_, DbError>(due)
        })
    });
    let mut due = read.await?;
    due.sort_unstable();
    due.dedup();
    Ok(due)
}
