//! The conditions that end every socket and event stream, whatever its topics are.

use actors::hub::HubItem;
use actors::ids::{Id, Session};
use actors::live::{Topic, TopicKind};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Duration, sleep};

use super::audience::ACCESS_CHANGE_EVENTS;
use crate::access::principal::{Guest, Principal};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::live::state::RealTime;

/// How often a guest's access is checked for expiry, and how soon the check is repeated while the store is unavailable.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndCondition {
    /// The session was logged out or revoked, or the guest lost access to the meeting.
    Revoked,
    /// The server is shutting down.
    Stopping,
}

/// Resolves when the connection has to end. A socket lives as long as its session, or as its guest's access to the
/// meeting, and not as long as the token it was opened with.
pub async fn ending(state: RealTime, principal: Principal) -> EndCondition {
    let stopping = state.tasks.stopping();
    let revoked = async {
        match principal {
            Principal::Account(caller) => revoked(&state, caller.session_id).await,
            Principal::Guest(guest) => access_lost(&state, guest).await,
        }
    };
    tokio::select! {
        () = stopping.cancelled() => EndCondition::Stopping,
        () = revoked => EndCondition::Revoked,
    }
}

async fn revoked(state: &RealTime, session_id: Id<Session>) {
    let mut ended = state.gate.revoked.listen();
    // Checked after subscribing, so that a revocation in between is not missed, and again after a lag.
    while !state.gate.revoked.contains(session_id) {
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

/// Resolves once the guest may no longer join the meeting.
async fn access_lost(state: &RealTime, guest: Guest) {
    let topic = Topic { kind: TopicKind::Meeting, id: guest.meeting_id.uuid() };
    loop {
        let mut subscription = state.hub.subscribe(topic);
        match check_access(state, Principal::Guest(guest)).await {
            Ok(()) => {}
            Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => {
                sleep(RETRY_INTERVAL).await;
                continue;
            }
            Err(_) => return,
        }
        let changed = async {
            loop {
                match subscription.next().await {
                    HubItem::Event(record) if !ACCESS_CHANGE_EVENTS.contains(&record.kind) => {}
                    HubItem::Event(_) | HubItem::Lagged => return,
                    HubItem::Closed => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = changed => {}
            () = sleep(CHECK_INTERVAL) => {}
        }
    }
}

/// Checks that a guest still has access to the meeting. Accounts always pass: their session is checked separately.
///
/// # Errors
/// 401, 403 or 404 when the guest has no access; 503 when the store is unavailable.
pub async fn check_access(state: &RealTime, principal: Principal) -> Result<(), ApiError> {
    match principal {
        Principal::Account(_) => Ok(()),
        Principal::Guest(guest) => {
            let audience = state.audiences.of(TopicKind::Meeting)?;
            audience.admit(principal, guest.meeting_id.uuid()).await.map(drop)
        }
    }
}
