//! What ends every socket and stream, whatever it listens to.

use actors::ids::{Id, Session};
use tokio::sync::broadcast::error::RecvError;

use crate::app::App;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The session was logged out or revoked.
    Revoked,
    /// The server stops.
    Stopping,
}

/// Resolves when it is time to end. A socket lives as long as its session, not as the token it was opened with.
pub async fn ending(app: App, session_id: Id<Session>) -> Ending {
    let stopping = app.tasks.stopping();
    tokio::select! {
        () = stopping.cancelled() => Ending::Stopping,
        () = revoked(&app, session_id) => Ending::Revoked,
    }
}

async fn revoked(app: &App, session_id: Id<Session>) {
    let mut ended = app.revoked.listen();
    // After the listening has begun, so that an end between the two is not missed; and after a lag.
    while !app.revoked.contains(session_id) {
        loop {
            match ended.recv().await {
                Ok(other) if other != session_id => {}
                Ok(_) => return,
                Err(RecvError::Lagged(_)) => break,
                Err(RecvError::Closed) => return,
            }
        }
    }
}
