//! Looks at the media server for who is still there, for the case that a webhook was lost: else somebody who is gone would
//! be connected for ever.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, MediaSession, Meeting, Seen};
use actors::time::Time;
use futures_util::{StreamExt, stream};

use super::name;
use crate::db::Failed;
use crate::meetings::participants::store;
use crate::meetings::state::Meetings;
use crate::outside::livekit::{Connection, Fault, MediaServer};

/// Meetings that are looked at at once.
const AT_ONCE: usize = 8;
/// Meetings that are found at once; the others are found later.
const MOST: i64 = 20_000;
/// A connection that young may not be listed yet.
const YOUNG: Duration = Duration::from_secs(10);

/// Looks again and again until the server stops.
pub async fn look(state: Meetings) {
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
    let found = state.db.read(|conn| Box::pin(store::with_media(conn, MOST))).await;
    let meetings = match found {
        Ok(meetings) => meetings,
        Err(away) => {
            let away: Failed = away;
            tracing::warn!(%away, "who is at the media server can't be looked for; it is tried again");
            return;
        }
    };
    let looking = stream::iter(meetings).map(|meeting| async move { (meeting, at(state, server, meeting).await) });
    let mut looking = looking.buffer_unordered(AT_ONCE);
    while let Some((meeting, looked)) = looking.next().await {
        match looked {
            Ok(()) => {}
            Err(Trouble::Away(why)) => {
                // It would be the same for each of the others.
                tracing::warn!(why, "the media server can't be asked who is there; it is tried again");
                return;
            }
            Err(Trouble::Own(why)) => {
                tracing::warn!(%meeting, why, "a meeting doesn't learn who is still there; it is tried again");
            }
        }
    }
}

/// Why a look came to nothing.
enum Trouble {
    /// The media server can't be spoken to.
    Away(String),
    /// Of this meeting alone.
    Own(String),
}

/// Tells a meeting which of the connections that it knows are gone.
async fn at(state: &Meetings, server: &dyn MediaServer, id: Id<Meeting>) -> Result<(), Trouble> {
    // What it knows comes first: who comes in after that is not missed in the list.
    let Some(found) = state.registry.snapshot(id).await.map_err(|away| Trouble::Own(away.0))? else {
        return Ok(());
    };
    let request = RequestId::from("lookout");
    let there = server.connections(&name(id), &request).await;
    let there = there.map_err(|fault| match fault {
        Fault::Away(why) => Trouble::Away(why),
        Fault::Refused(why) => Trouble::Own(why),
    })?;
    let seen = gone(&found.state, &there, state.now());
    if seen.is_empty() {
        return Ok(());
    }
    match state.registry.ask(id, Command::See { seen }, request).await {
        Ok(_) | Err(actors::shell::Failure::Missing) => Ok(()),
        Err(failure) => Err(Trouble::Own(format!("{failure:?}"))),
    }
}

fn gone(meeting: &Meeting, there: &[Connection], now: Time) -> Vec<Seen> {
    let is_there = |participant: Id<ids::Participant>, session: &MediaSession| {
        there.iter().any(|one| one.name == session.name && one.identity == participant.to_string())
    };
    let known = meeting.participants.joined().filter_map(|one| Some((one.id, one.media.as_ref()?)));
    let gone = known.filter(|(participant, session)| {
        session.is_open && session.began_at + YOUNG <= now && !is_there(*participant, session)
    });
    let gone = gone.map(|(participant, session)| Seen::Media {
        participant,
        session: MediaSession { is_open: false, ..session.clone() },
    });
    gone.collect()
}
