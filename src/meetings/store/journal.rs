//! The journal of meetings: saves what changed in a meeting, its participants and its consent ledger, together with the
//! events that record it, in one transaction.
//!
//! For changes that are saved together, each row is written once, in the state after all of them: that of the meeting,
//! and one for each participant who changed. The events and ledger entries of each change are written one by one, in
//! their order.

use std::sync::Arc;

use actors::ids::Id;
use actors::live::{Batch, Decided, EventRecord, Journal, Live, RequestId, StoreUnavailable, Unsaved};
use actors::meeting::{Event, Meeting};
use actors::time::Time;
use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};

use super::row::{Row, number};
use super::{find, find_all, live, topic};
use crate::db::schema::meetings;
use crate::db::{Conn, Db, DbError, Key, RunQueryDsl, events};
use crate::jobs::Jobs;
use crate::meetings::media::jobs;
use crate::meetings::{consents, invitations, model, participants};

/// Loads and saves meetings for their actors.
pub struct MeetingJournal {
    pub db: Db,
    /// Base of the links in event payloads.
    pub app_url: String,
    pub jobs: Jobs,
    /// Whether a media server is configured, for which changes enqueue jobs.
    pub has_rooms: bool,
}

#[async_trait]
impl Journal<Meeting> for MeetingJournal {
    async fn load(&self, key: Id<Meeting>) -> Result<Option<Meeting>, StoreUnavailable> {
        Ok(self.db.read(move |conn| Box::pin(find(conn, key))).await?)
    }

    async fn load_all(&self, keys: Vec<Id<Meeting>>) -> Result<Vec<Meeting>, StoreUnavailable> {
        Ok(self.db.read(move |conn| Box::pin(find_all(conn, keys))).await?)
    }

    async fn save(&self, group: Arc<Batch<Meeting>>) -> Result<Vec<EventRecord>, Unsaved> {
        let (app_url, has_rooms) = (self.app_url.clone(), self.has_rooms);
        let saved = self.db.write(move |conn| Box::pin(async move { write(conn, &group, &app_url, has_rooms).await }));
        let (records, has_jobs) = saved.await.map_err(|not: NotSaved| match not {
            NotSaved::Conflict => Unsaved::Conflict,
            NotSaved::Failed(failed) if failed.is_taken() => Unsaved::Conflict,
            NotSaved::Failed(failed) => failed.into(),
        })?;
        if has_jobs {
            self.jobs.wake();
        }
        Ok(records)
    }

    async fn settle(&self, _: Id<Meeting>) -> Result<(), StoreUnavailable> {
        self.db.settle().await;
        Ok(())
    }

    async fn awake(&self) -> Result<Vec<Id<Meeting>>, StoreUnavailable> {
        Ok(self.db.read(|conn| Box::pin(live(conn))).await?)
    }
}

/// Why changes of a meeting were not written.
pub enum NotSaved {
    /// Another writer was first.
    Conflict,
    Failed(DbError),
}

impl From<DbError> for NotSaved {
    fn from(failed: DbError) -> Self {
        Self::Failed(failed)
    }
}

/// Writes a batch of changes if the stored revision is still the one before them. Returns the events to publish, and
/// whether a job was enqueued.
pub async fn write(
    conn: &mut Conn,
    group: &Batch<Meeting>,
    app_url: &str,
    has_rooms: bool,
) -> Result<(Vec<EventRecord>, bool), NotSaved> {
    let (before, after) = (&group.before, group.after());
    if !update(conn, before, after).await? {
        return Err(NotSaved::Conflict);
    }
    let changed = after.participants.changed_since(&before.participants);
    participants::store::save(conn, after.id, changed).await?;
    let (topic, mut said) = (topic(after.id), Vec::new());
    let mut has_jobs = false;
    for (was, Decided { change, request, at }) in group.steps() {
        let meeting = &change.next;
        for event in &change.events {
            let offset = before.revision() + said.len() as u64 + 1;
            has_jobs |= keep_beside(conn, meeting, event, offset, *at, request).await?;
            has_jobs |= invitations::projection::follow(conn, was, meeting, event, *at, request).await?;
            let data = event_payload(meeting, event, app_url)?.into();
            let (kind, at, request) = (event.kind().into(), *at, Arc::clone(request));
            said.push(EventRecord { topic, offset, kind, data, at, request });
        }
        has_jobs |= has_rooms && jobs::after(conn, was, change, *at, request).await?;
    }
    events::put_all(conn, &said).await?;
    events::end_at(conn, topic, after.revision()).await?;
    // Last, because it locks the project's topic, which other transactions write to as well.
    for (was, Decided { change, request, at }) in group.steps() {
        let admitted = invitations::projection::admitted(conn, was, &change.next, *at, request).await?;
        said.extend(admitted.map_err(|invitations::projection::NotTheirs| NotSaved::Conflict)?);
    }
    Ok((said, has_jobs))
}

/// Updates the meeting's row if the stored revision is still that of `before`. Returns whether it was.
async fn update(conn: &mut Conn, before: &Meeting, next: &Meeting) -> Result<bool, DbError> {
    let stored = diesel::update(meetings::table.find(Key(next.id)));
    let stored = stored.filter(meetings::revision.eq(number(before.revision)));
    Ok(stored.set(&Row::from(next)).execute(conn).await? > 0)
}

/// Writes what an event with that offset changes beside the rows of the meeting and its participants. Returns whether a
/// job was enqueued.
async fn keep_beside(
    conn: &mut Conn,
    meeting: &Meeting,
    event: &Event,
    offset: u64,
    at: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    match event {
        Event::Consented { entry, user_agent } => {
            consents::store::append(conn, entry, user_agent).await?;
            Ok(false)
        }
        Event::Forgotten { participant, .. } => {
            consents::store::forget(conn, meeting.id, *participant).await?;
            let Some(forgotten) = meeting.participants.get(participant) else { return Ok(false) };
            // Subscribers who resume receive earlier events again, so the name is erased from those as well. There may
            // be too many of them for one save, hence the job.
            participants::erase_names::enqueue(conn, meeting.id, forgotten, offset, at, request).await?;
            Ok(true)
        }
        Event::Updated
        | Event::Started { .. }
        | Event::Ended { .. }
        | Event::Cancelled { .. }
        | Event::Joined { .. }
        | Event::Left { .. }
        | Event::Removed { .. }
        | Event::Changed { .. } => Ok(false),
    }
}

/// Serialises the whole changed resource: a participant, or the meeting.
fn event_payload(meeting: &Meeting, event: &Event, app_url: &str) -> Result<String, DbError> {
    let participant = event.participant().and_then(|id| meeting.participants.get(&id));
    let data = match participant {
        Some(participant) => serde_json::to_string(&participants::model::Participant::of(meeting.id, participant)),
        None => serde_json::to_string(&model::Meeting::of(meeting, app_url)),
    };
    data.map_err(|error| DbError::Broken(error.to_string()))
}
