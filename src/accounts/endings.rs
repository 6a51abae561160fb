//! Sessions that ended in the store without this server: an operator's program works on the same database beside it.

use std::time::Duration;

use super::sessions::store;
use crate::accounts::state::Accounts;

/// How often the store is asked, so that sockets close and tokens are refused within a second.
const PAUSE: Duration = Duration::from_millis(400);
/// How much further back than the last answer is asked: a transaction is seen later than the time that it notes.
const BACK: Duration = Duration::from_secs(10);

/// Takes over what ended, until the server stops.
pub async fn follow(state: Accounts) {
    let stopping = state.tasks.stopping();
    let mut answered_at = state.now();
    loop {
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = stopping.cancelled() => return,
        }
        // From the last answer on, however long ago that was: this process, or the database, may have stood still.
        let (now, since) = (state.now(), answered_at - BACK);
        match state.db.read(move |conn| Box::pin(store::ended_since(conn, since))).await {
            Ok(ended) => {
                for session_id in ended.into_iter().filter(|id| !state.revoked.contains(*id)) {
                    state.revoked.add(session_id, now);
                }
                answered_at = now;
            }
            Err(error) => tracing::debug!(%error, "ended sessions could not be asked for"),
        }
    }
}
