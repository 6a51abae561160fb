//! Compares the connections that meetings have recorded with those at the media server. Without this, a participant
//! whose disconnection webhook was lost would count as connected forever.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{MediaSession, Meeting};
use actors::time::Time;
use futures_util::{StreamExt, stream};

use super::name;
use crate::clients::livekit::{MediaConnection, MediaServer, MediaServerError};
use crate::db::DbError;
use crate::meetings::state::Meetings;
use crate::meetings::store::participants as store;

/// Meetings that are compared concurrently.
const AT_ONCE: usize = 8;
/// Meetings that the query returns; the others follow later.
const PAGE: i64 = 20_000;
/// A connection younger than this may not be listed by the media server yet.
const YOUNG: Duration = Duration::from_secs(10);

/// Compares periodically until the server stops.
pub async fn run(state: Meetings) {
    let Some(server) = state.rooms.server() else { return };
    let stopping = state.tasks.stopping();
    let pause = Duration::from_secs(state.config.livekit.look_seconds);
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stopping.cancelled() => return,
        }
        tokio::select! {
            () = once(&state, server) => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn once(state: &Meetings, server: &dyn MediaServer) {
    let found = state.db.read(|conn| Box::pin(store::with_media(conn, PAGE))).await;
    let meetings = match found {
        Ok(meetings) => meetings,
        Err(away) => {
            let away: DbError = away;
            tracing::warn!(%away, "live meetings could not be queried for the media server check; retrying later");
            return;
        }
    };
    let looking = stream::iter(meetings).map(|meeting| async move { (meeting, at(state, server, meeting).await) });
    let mut looking = looking.buffer_unordered(AT_ONCE);
    while let Some((meeting, looked)) = looking.next().await {
        match looked {
            Ok(()) => {}
            Err(ReconcileError::Unavailable(why)) => {
                // Every other meeting would fail in the same way.
                tracing::warn!(why, "the media server could not be asked for its participants; retrying later");
                return;
            }
            Err(ReconcileError::Own(why)) => {
                tracing::warn!(
                    %meeting,
                    why,
                    "the meeting could not be updated with the media server's participants; retrying later"
                );
            }
        }
    }
}

/// Why a comparison failed.
enum ReconcileError {
    /// The media server can't be reached.
    Unavailable(String),
    /// Concerns only this meeting.
    Own(String),
}

/// Reports to a meeting which of its recorded connections are gone.
async fn at(state: &Meetings, server: &dyn MediaServer, id: Id<Meeting>) -> Result<(), ReconcileError> {
    // The snapshot is read before the list: a participant who connects in between is not in the snapshot, and so is not
    // reported as gone.
    let Some(found) = state.registry.snapshot(id).await.map_err(|away| ReconcileError::Own(away.0))? else {
        return Ok(());
    };
    let request = RequestId::from("lookout");
    let there = server.connections(&name(id), &request).await;
    let there = there.map_err(|fault| match fault {
        MediaServerError::Unavailable(why) => ReconcileError::Unavailable(why),
        MediaServerError::Refused(why) => ReconcileError::Own(why),
    })?;
    for (participant, session) in disconnected(&found.state, &there, state.now()) {
        state.attendance.note_media(id, participant, &session);
    }
    Ok(())
}

fn disconnected(meeting: &Meeting, there: &[MediaConnection], now: Time) -> Vec<(Id<ids::Participant>, MediaSession)> {
    let is_there = |participant: Id<ids::Participant>, session: &MediaSession| {
        there.iter().any(|one| one.name == session.name && one.identity == participant.to_string())
    };
    let known = meeting.participants.joined().filter_map(|one| Some((one.id, one.media.as_ref()?)));
    let disconnected = known.filter(|(participant, session)| {
        session.is_open && session.began_at + YOUNG <= now && !is_there(*participant, session)
    });
    disconnected
        .map(|(participant, session)| (participant, MediaSession { is_open: false, ..session.clone() }))
        .collect()
}
