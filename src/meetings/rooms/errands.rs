//! LATER: what has to be done at the media server, or asked there, after something happened in a meeting. Sent in the
//! transaction of what causes it; while the media server is away errands wait, and nothing else does.
//!
//! Safe to repeat: each looks first at how things stand in the meeting now.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{Change, RequestId};
use actors::meeting::{Command, Event, Meeting};
use actors::shell::Failure;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::model::{is_joined, is_last_room, is_over, may_otherwise, may_publish};
use super::name;
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job, Patience};
use crate::meetings::state::Meetings;
use crate::outside::livekit::{self, MediaServer};

const KIND: &str = "media";
/// After that nobody is in a room any longer who was let in before.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "errand", rename_all = "camelCase")]
pub enum Errand {
    /// Somebody is no longer in the meeting, so they are not to be in its room.
    Remove { participant: Id<ids::Participant> },
    /// Somebody in the meeting has another role, and may do more or less.
    Permit { participant: Id<ids::Participant> },
    /// The meeting is over.
    Close,
    /// A room of the meeting was finished, by that time: unless there is another one now, the meeting has ended.
    Finish { instance: String, at: Time },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    meeting_id: Id<Meeting>,
    until: Time,
    #[serde(flatten)]
    errand: Errand,
}

/// Has it done once the transaction stands.
///
/// # Errors
/// The database's own.
pub async fn send(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    errand: Errand,
    now: Time,
    request: &RequestId,
) -> Result<(), Failed> {
    let payload = Payload { meeting_id, until: now + LONGEST, errand };
    jobs::enqueue(conn, KIND, &payload, now, request).await.map(|_| ())
}

/// Has done what follows from a change of a meeting; whether that is anything.
///
/// # Errors
/// The database's own.
pub async fn after(
    conn: &mut Conn,
    before: &Meeting,
    change: &Change<Meeting>,
    now: Time,
    request: &RequestId,
) -> Result<bool, Failed> {
    let meeting = &change.next;
    let mut is_any = false;
    for event in &change.events {
        let errand = match event {
            Event::Ended { .. } | Event::Cancelled { .. } => Errand::Close,
            // With the room, everybody is out.
            _ if is_over(meeting) => continue,
            Event::Left { participant }
            | Event::Removed { participant }
            | Event::Forgotten { participant, left: true } => Errand::Remove { participant: *participant },
            Event::Changed { participant } if may_otherwise(before, meeting, *participant) => {
                Errand::Permit { participant: *participant }
            }
            Event::Updated
            | Event::Started { .. }
            | Event::Joined { .. }
            | Event::Changed { .. }
            | Event::Consented { .. }
            | Event::Forgotten { left: false, .. } => continue,
        };
        send(conn, meeting.id, errand, now, request).await?;
        is_any = true;
    }
    Ok(is_any)
}

/// Goes to the media server.
pub struct Errands {
    pub state: Meetings,
}

#[async_trait]
impl Handler for Errands {
    fn kind(&self) -> &'static str {
        KIND
    }

    /// An errand's own time is its bound.
    fn patience(&self) -> Patience {
        Patience { attempts: i64::MAX, longest_pause: Duration::from_secs(60) }
    }

    fn at_once(&self) -> usize {
        8
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| Fault::Never(error.to_string()))?;
        if self.state.now() >= payload.until {
            return Err(Fault::Lapsed("it is too late for this errand".to_owned()));
        }
        let server = self.state.rooms.server();
        let server = server.ok_or_else(|| Fault::Lapsed("there is no media server any more".to_owned()))?;
        let room = name(payload.meeting_id);
        match payload.errand {
            Errand::Close => Ok(server.delete_room(&room, &job.request).await?),
            Errand::Remove { participant } => self.remove(server, payload.meeting_id, participant, job).await,
            Errand::Permit { participant } => self.permit(server, payload.meeting_id, participant, job).await,
            Errand::Finish { instance, at } => self.finish(server, payload.meeting_id, &instance, at, job).await,
        }
    }
}

impl Errands {
    async fn remove(
        &self,
        server: &dyn MediaServer,
        id: Id<Meeting>,
        who: Id<ids::Participant>,
        job: &Job,
    ) -> Result<(), Fault> {
        let found = self.state.registry.snapshot(id).await.map_err(|away| away.0)?;
        let meeting = found.as_ref().map(|found| &found.state);
        // They came back meanwhile.
        if meeting.is_some_and(|meeting| is_joined(meeting, who)) {
            return Ok(());
        }
        let left_at = meeting.and_then(|meeting| meeting.participants.get(&who)?.presence.left_at());
        let since = left_at.unwrap_or_else(|| self.state.now());
        Ok(server.remove(&name(id), &who.to_string(), since, &job.request).await?)
    }

    async fn permit(
        &self,
        server: &dyn MediaServer,
        id: Id<Meeting>,
        who: Id<ids::Participant>,
        job: &Job,
    ) -> Result<(), Fault> {
        let found = self.state.registry.snapshot(id).await.map_err(|away| away.0)?;
        let own = found.as_ref().and_then(|found| found.state.participants.get(&who)).filter(|own| own.is_joined());
        // Who is not there has no permission to change.
        let Some(own) = own else { return Ok(()) };
        Ok(server.permit(&name(id), &who.to_string(), may_publish(own.role), &job.request).await?)
    }

    async fn finish(
        &self,
        server: &dyn MediaServer,
        id: Id<Meeting>,
        instance: &str,
        at: Time,
        job: &Job,
    ) -> Result<(), Fault> {
        let found = self.state.registry.snapshot(id).await.map_err(|away| away.0)?;
        if !found.is_some_and(|found| is_last_room(&found.state, at)) {
            return Ok(());
        }
        let now = server.instance(&name(id), &job.request).await?;
        // While it closes, it may still be listed itself.
        if now.is_some_and(|now| now != instance) {
            return Ok(());
        }
        match self.state.registry.ask(id, Command::RoomFinished, job.request.clone()).await {
            Ok(_) | Err(Failure::Missing) => Ok(()),
            Err(failure) => Err(Fault::Again(format!("{failure:?}"))),
        }
    }
}

impl From<livekit::Fault> for Fault {
    fn from(fault: livekit::Fault) -> Self {
        match fault {
            livekit::Fault::Away(why) => Self::Away(why),
            livekit::Fault::Refused(why) => Self::Never(why),
        }
    }
}
