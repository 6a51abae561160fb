//! What ends every socket and stream, whatever it listens to.

use actors::hub::Heard;
use actors::ids::{Id, Session};
use actors::live::{Topic, TopicKind};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Duration, sleep};

use super::audience::CHANGES_OF_STANDING;
use crate::access::caller::{Guest, Visitor};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::live::state::RealTime;

/// How often it is asked whether a guest's time is over; and again while the store is away.
const LOOK: Duration = Duration::from_secs(30);
const AGAIN: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The session was logged out or revoked, or the guest has no place in the meeting any longer.
    Revoked,
    /// The server stops.
    Stopping,
}

/// Resolves when it is time to end. A socket lives as long as its session, or as its guest's place, not as the token it was
/// opened with.
pub async fn ending(state: RealTime, visitor: Visitor) -> Ending {
    let stopping = state.tasks.stopping();
    let revoked = async {
        match visitor {
            Visitor::Account(caller) => revoked(&state, caller.session_id).await,
            Visitor::Guest(guest) => put_out(&state, guest).await,
        }
    };
    tokio::select! {
        () = stopping.cancelled() => Ending::Stopping,
        () = revoked => Ending::Revoked,
    }
}

async fn revoked(state: &RealTime, session_id: Id<Session>) {
    let mut ended = state.revoked.listen();
    // After the listening has begun, so that an end between the two is not missed; and after a lag.
    while !state.revoked.contains(session_id) {
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

/// Resolves once the guest's meeting lets them in no more.
async fn put_out(state: &RealTime, guest: Guest) {
    let topic = Topic { kind: TopicKind::Meeting, id: guest.meeting_id.uuid() };
    loop {
        let mut told = state.hub.subscribe(topic);
        match still_stands(state, Visitor::Guest(guest)).await {
            Ok(()) => {}
            Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => {
                sleep(AGAIN).await;
                continue;
            }
            Err(_) => return,
        }
        let changed = async {
            loop {
                match told.next().await {
                    Heard::Told(told) if !CHANGES_OF_STANDING.contains(&&*told.kind) => {}
                    Heard::Told(_) | Heard::Lagged => return,
                    Heard::Closed => std::future::pending().await,
                }
            }
        };
        tokio::select! {
            () = changed => {}
            () = sleep(LOOK) => {}
        }
    }
}

/// Whether a guest still has their place; accounts say so by their session.
///
/// # Errors
/// 401, 403, 404: they have none. 503.
pub async fn still_stands(state: &RealTime, visitor: Visitor) -> Result<(), Failure> {
    match visitor {
        Visitor::Account(_) => Ok(()),
        Visitor::Guest(guest) => {
            let audience = state.audiences.of(TopicKind::Meeting)?;
            audience.admit(visitor, guest.meeting_id.uuid()).await.map(drop)
        }
    }
}
