//! Picks up sessions that another process ended: `colloquy admin` works on the same database as a running server.

use std::time::Duration;

use super::sessions::store;
use crate::accounts::state::Accounts;

/// Interval of the queries, so that sockets close and tokens are refused within a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(400);
/// Overlap with the previous query: a transaction becomes visible later than the time that it records.
const OVERLAP: Duration = Duration::from_secs(10);

/// Adds ended sessions to the revoked ones until the server stops.
pub async fn follow(state: Accounts) {
    let stopping = state.tasks.stopping();
    let mut answered_at = state.now();
    loop {
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = stopping.cancelled() => return,
        }
        // Counts from the last successful query, however long ago that was: this process or the database may have been
        // suspended.
        let (now, since) = (state.now(), answered_at - OVERLAP);
        match state.db.read(move |conn| Box::pin(store::ended_since(conn, since))).await {
            Ok(ended) => {
                for session_id in ended.into_iter().filter(|id| !state.gate.revoked.contains(*id)) {
                    state.gate.revoked.add(session_id, now);
                }
                answered_at = now;
            }
            Err(error) => tracing::debug!(%error, "ended sessions could not be queried"),
        }
    }
}
