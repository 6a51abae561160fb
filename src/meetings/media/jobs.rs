//! Background jobs at the media server, which follow from changes of a meeting or from webhooks. They are enqueued in
//! the transaction of what causes them; while the media server is unavailable these jobs wait, and nothing else does.
//!
//! Safe to repeat: each first checks the current state of the meeting, except for `Close`, which can't become outdated.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{Change, RequestId};
use actors::meeting::{Command, Event, Meeting};
use actors::shell::CommandError;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::model::{is_joined, is_last_room, is_over, may_otherwise, may_publish};
use super::name;
use crate::clients::livekit::{self, MediaServer};
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, RetryPolicy, Turns};
use crate::meetings::state::Meetings;

/// Lifetime of a job: after that, nobody who was admitted before it is still in a room.
const MAX_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// What one job does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "errand", rename_all = "camelCase")]
pub enum MediaAction {
    /// The participant is no longer in the meeting and has to be disconnected from its room.
    Remove { participant: Id<ids::Participant> },
    /// The role of a joined participant has changed, and with it the right to publish.
    Permit { participant: Id<ids::Participant> },
    /// The meeting has ended or was cancelled.
    Close,
    /// A room of the meeting was finished at that time: unless another one has replaced it, the meeting has ended.
    Finish { instance: String, at: Time },
}

/// Brings a meeting and its room at the media server into agreement.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncMediaRoom {
    meeting_id: Id<Meeting>,
    until: Time,
    #[serde(flatten)]
    action: MediaAction,
}

impl JobPayload for SyncMediaRoom {
    const KIND: &'static str = "media";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues a job, which runs after the transaction has been committed. Meetings take turns.
///
/// # Errors
/// Any database error.
pub async fn enqueue(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    action: MediaAction,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let payload = SyncMediaRoom { meeting_id, until: now + MAX_LIFETIME, action };
    jobs::enqueue_in_turn(conn, &meeting_id.to_string(), &payload, now, request).await.map(|_| ())
}

/// Enqueues the jobs that follow from a change of a meeting. Returns whether there were any.
///
/// # Errors
/// Any database error.
pub async fn after(
    conn: &mut Conn,
    before: &Meeting,
    change: &Change<Meeting>,
    now: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    let meeting = &change.next;
    let mut is_any = false;
    for event in &change.events {
        let action = match event {
            Event::Ended { .. } | Event::Cancelled { .. } => MediaAction::Close,
            // Closing the room disconnects all participants.
            _ if is_over(meeting) => continue,
            Event::Left { participant }
            | Event::Removed { participant }
            | Event::Forgotten { participant, left: true } => MediaAction::Remove { participant: *participant },
            Event::Changed { participant } if may_otherwise(before, meeting, *participant) => {
                MediaAction::Permit { participant: *participant }
            }
            Event::Updated
            | Event::Started { .. }
            | Event::Joined { .. }
            | Event::Changed { .. }
            | Event::Consented { .. }
            | Event::Recording { .. }
            | Event::Forgotten { left: false, .. } => continue,
        };
        enqueue(conn, meeting.id, action, now, request).await?;
        is_any = true;
    }
    Ok(is_any)
}

/// Runs [`SyncMediaRoom`].
pub struct SyncMediaRoomHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for SyncMediaRoomHandler {
    type Payload = SyncMediaRoom;

    /// Attempts are unlimited: `SyncMediaRoom::until` bounds the job.
    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy { attempts: i64::MAX, longest_pause: Duration::from_secs(60) }
    }

    fn concurrency(&self) -> usize {
        8
    }

    /// It is a few calls of the media server, each with a limit of its own.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(5 * 60)
    }

    async fn run(&self, job: &Job, payload: SyncMediaRoom) -> Result<(), JobError> {
        if self.state.now() >= payload.until {
            return Err(JobError::Lapsed("the request to the media server has expired".to_owned()));
        }
        let server = self.state.rooms.server();
        let server = server.ok_or_else(|| JobError::Lapsed("no media server is configured any more".to_owned()))?;
        let room = name(payload.meeting_id);
        match payload.action {
            MediaAction::Close => Ok(server.delete_room(&room, &job.request).await?),
            MediaAction::Remove { participant } => self.remove(server, payload.meeting_id, participant, job).await,
            MediaAction::Permit { participant } => self.permit(server, payload.meeting_id, participant, job).await,
            MediaAction::Finish { instance, at } => self.finish(server, payload.meeting_id, &instance, at, job).await,
        }
    }
}

impl SyncMediaRoomHandler {
    async fn remove(
        &self,
        server: &dyn MediaServer,
        id: Id<Meeting>,
        who: Id<ids::Participant>,
        job: &Job,
    ) -> Result<(), JobError> {
        let found = self.state.registry.snapshot(id).await.map_err(|away| away.0)?;
        let meeting = found.as_ref().map(|found| &found.state);
        // The participant has joined again in the meantime.
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
    ) -> Result<(), JobError> {
        let found = self.state.registry.snapshot(id).await.map_err(|away| away.0)?;
        let own = found.as_ref().and_then(|found| found.state.participants.get(&who)).filter(|own| own.is_joined());
        // A participant who is not in the meeting has no permissions to change.
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
    ) -> Result<(), JobError> {
        let found = self.state.registry.snapshot(id).await.map_err(|away| away.0)?;
        if !found.is_some_and(|found| is_last_room(&found.state, at)) {
            return Ok(());
        }
        let now = server.instance(&name(id), &job.request).await?;
        // While the finished room closes, the media server may still list it.
        if now.is_some_and(|now| now != instance) {
            return Ok(());
        }
        match self.state.registry.ask(id, Command::RoomFinished, job.request.clone()).await {
            Ok(_) | Err(CommandError::Missing) => Ok(()),
            Err(failure) => Err(JobError::Again(format!("{failure:?}"))),
        }
    }
}

impl From<livekit::MediaServerError> for JobError {
    fn from(fault: livekit::MediaServerError) -> Self {
        match fault {
            livekit::MediaServerError::Unavailable(why) => Self::Unavailable(why),
            livekit::MediaServerError::Refused(why) => Self::Never(why),
        }
    }
}
