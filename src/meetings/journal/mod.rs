//! The journal of meetings: saves what changed in a meeting, its participants and its consent ledger, together with the
//! events that record it, in one transaction.
//!
//! For changes that are saved together, each row is written once, in the state after all of them: that of the meeting,
//! and one for each participant who changed. The events and ledger entries of each change are written one by one, in
//! their order.

mod recordings;
mod store;

use actors::event_kind::EventKind;
use actors::ids::Id;
use actors::live::{Batch, Decided, EventRecord, Live, RequestId, Topic};
use actors::meeting::{Event, Meeting, RecordingEvent};
use actors::time::Time;
use async_trait::async_trait;

use super::store::{self as rows, find, find_all, live, topic};
use super::{consents, exclusion, model, participants};
use crate::db::journal::{DbJournal, NotSaved, Tables};
use crate::db::{AtOnce, Conn, DbError};
use crate::jobs::Jobs;
use crate::meetings::invitations::projection::{self, HasInvitations};
use crate::meetings::media::jobs;
use crate::meetings::recordings::model::{DeletedRecording, RecordingView};
use crate::meetings::transcripts::grounding;
use crate::meetings::transcripts::model::ChangedTranscript;

/// Loads and saves meetings for their actors.
pub type MeetingJournal = DbJournal<MeetingTables>;

#[derive(Clone)]
pub struct MeetingTables {
    /// Base of the links in event payloads.
    pub app_url: String,
    pub jobs: Jobs,
    /// Whether a media server is configured, for which changes enqueue jobs.
    pub has_rooms: bool,
}

#[async_trait]
impl Tables for MeetingTables {
    type Entity = Meeting;
    type Related = HasInvitations;

    async fn find(conn: &mut Conn, key: Id<Meeting>) -> Result<Option<Meeting>, DbError> {
        find(conn, key).await
    }

    async fn find_all(conn: &mut Conn, keys: Vec<Id<Meeting>>) -> Result<Vec<Meeting>, DbError> {
        find_all(conn, keys).await
    }

    async fn awake(conn: &mut Conn) -> Result<Vec<Id<Meeting>>, DbError> {
        live(conn).await
    }

    /// Changes of details, and starts and ends: they write rows of the meeting alone, and jobs. Not one that moves the meeting,
    /// which writes its invitations, nor one that ends with recordings.
    fn may_share(batch: &Batch<Meeting>) -> bool {
        let is_own = |event: &Event| matches!(event, Event::Updated | Event::Started { .. } | Event::Ended { .. });
        batch.steps().all(|(was, step)| {
            was.scheduled_at == step.change.next.scheduled_at && step.change.events.iter().all(is_own)
        })
    }

    async fn update(conn: AtOnce<'_>, batch: &Batch<Meeting>) -> Result<Option<HasInvitations>, DbError> {
        let asks = batch.steps().any(|(was, step)| projection::is_shown(was, &step.change));
        store::update(conn, batch.after(), batch.before.revision, asks).await
    }

    async fn follow(&self, conn: &mut Conn, batch: &Batch<Meeting>, invited: HasInvitations) -> Result<bool, DbError> {
        let (before, after) = (&batch.before, batch.after());
        rows::participants::save(conn, after.id, after.participants.changed_since(&before.participants)).await?;
        rows::recordings::save(conn, after.id, after.recordings.changed_since(&before.recordings)).await?;
        let (mut offset, mut has_jobs) = (before.revision(), false);
        for (was, Decided { change, request, at }) in batch.steps() {
            let meeting = &change.next;
            for event in &change.events {
                offset += 1;
                has_jobs |= save_related(conn, meeting, event, offset, *at, request).await?;
                has_jobs |= projection::follow(conn, (was, meeting), event, invited, *at, request).await?;
            }
            has_jobs |= self.has_rooms && jobs::after(conn, was, change, *at, request).await?;
        }
        Ok(has_jobs)
    }

    fn topic(meeting: &Meeting) -> Topic {
        topic(meeting.id)
    }

    /// The payload is the whole changed resource: a participant, a recording, or the meeting. Of a transcript it only names
    /// the recording.
    fn event(&self, meeting: &Meeting, event: &Event) -> Result<(EventKind, String), DbError> {
        if let Event::Recording { recording, what: RecordingEvent::TranscriptChanged } = event {
            let data = ChangedTranscript { recording_id: *recording, meeting_id: meeting.id };
            return Ok((
                event.kind(),
                serde_json::to_string(&data).map_err(|error| DbError::Broken(error.to_string()))?,
            ));
        }
        let participant = event.participant().and_then(|id| meeting.participants.get(&id));
        let recording = event.recording().map(|id| (id, meeting.recordings.get(&id)));
        let data = match (participant, recording) {
            (Some(participant), _) => {
                serde_json::to_string(&participants::model::ParticipantView::of(meeting.id, participant))
            }
            (None, Some((_, Some(recording)))) => serde_json::to_string(&RecordingView::of(meeting.id, recording)),
            (None, Some((id, None))) => serde_json::to_string(&DeletedRecording { id, meeting_id: meeting.id }),
            (None, None) => serde_json::to_string(&model::MeetingView::of(meeting, &self.app_url)),
        };
        Ok((event.kind(), data.map_err(|error| DbError::Broken(error.to_string()))?))
    }

    async fn announce(
        conn: &mut Conn,
        batch: &Batch<Meeting>,
        _: &[EventRecord],
    ) -> Result<Vec<EventRecord>, NotSaved> {
        let mut records = Vec::new();
        for (was, Decided { change, request, at }) in batch.steps() {
            let admitted = projection::admitted(conn, was, &change.next, *at, request).await?;
            records.extend(admitted.map_err(|projection::NotTheirs| NotSaved::Conflict)?);
        }
        Ok(records)
    }

    fn wake_jobs(&self) {
        self.jobs.wake();
    }
}

/// Writes what an event with that offset changes beside the rows of the meeting and its participants. Returns whether a
/// job was enqueued.
async fn save_related(
    conn: &mut Conn,
    meeting: &Meeting,
    event: &Event,
    offset: u64,
    at: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    match event {
        Event::Consented { entry, user_agent, text } => {
            consents::store::append(conn, entry, user_agent, text.as_deref()).await?;
            grounding::enqueue_withheld(conn, meeting, at, request).await
        }
        Event::Forgotten { participant, .. } => {
            consents::store::forget(conn, meeting.id, *participant).await?;
            let Some(forgotten) = meeting.participants.get(participant) else { return Ok(false) };
            // Subscribers who resume receive earlier events again, so the name is erased from those as well. There may
            // be too many of them for one save, hence the job.
            participants::erase_names::enqueue(conn, meeting, forgotten, offset, at, request).await?;
            Ok(true)
        }
        Event::Recording { recording, what } => recordings::follow(conn, meeting, *recording, *what, at, request).await,
        Event::Joined { participant } => {
            exclusion::enqueue_unless_member(conn, meeting, *participant, at, request).await
        }
        Event::Updated
        | Event::Started { .. }
        | Event::Ended { .. }
        | Event::Cancelled { .. }
        | Event::Left { .. }
        | Event::Removed { .. }
        | Event::Changed { .. } => Ok(false),
    }
}
