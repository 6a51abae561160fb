//! Applies time limits to meetings: a participant who never connected after joining, or whose connections have been lost
//! for the grace period, leaves, and a meeting that stays empty or lasts too long ends.
//!
//! Meetings that are due are read from the store every second, and the meeting itself decides, so that a sweep is safe
//! to repeat and no timers have to be restored after a restart.

use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Command, Meeting, TimeLimits};
use futures_util::{StreamExt, stream};

use crate::db::DbError;
use crate::meetings::state::Meetings;
use crate::meetings::store::{self, participants};

const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Meetings that are swept concurrently.
const AT_ONCE: usize = 32;
/// Meetings that each query returns; the rest follows a second later.
const PAGE: i64 = 20_000;

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
    let settings = &state.config.meetings;
    let limits = TimeLimits {
        connect: Duration::from_secs(settings.connect_seconds),
        grace: Duration::from_secs(settings.grace_seconds),
        empty: Duration::from_secs(settings.empty_seconds),
        live: Duration::from_secs(settings.live_seconds),
    };
    let due = match due(state, limits).await {
        Ok(due) => due,
        Err(away) => {
            tracing::warn!(%away, "due meetings could not be queried; retrying later");
            return;
        }
    };
    let sweeping = stream::iter(due).for_each_concurrent(AT_ONCE, |meeting| async move {
        let command = Command::Sweep { limits };
        let swept = state.registry.ask(meeting, command, RequestId::from("sweep")).await;
        if let Err(failure) = swept {
            tracing::warn!(%meeting, ?failure, "the meeting's timeouts could not be applied; retrying later");
        }
    });
    sweeping.await;
}

async fn due(state: &Meetings, limits: TimeLimits) -> Result<Vec<Id<Meeting>>, DbError> {
    let now = state.now();
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let mut due = participants::lost_before(conn, now - limits.grace, PAGE).await?;
            due.extend(participants::awaited_since(conn, now - limits.connect, PAGE).await?);
            due.extend(store::empty_since(conn, now - limits.empty, PAGE).await?);
            due.extend(store::live_since(conn, now - limits.live, PAGE).await?);
            Ok::<_, DbError>(due)
        })
    });
    let mut due = read.await?;
    due.sort_unstable();
    due.dedup();
    Ok(due)
}
