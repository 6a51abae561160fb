//! Keeps meetings for their actors: what changed of the meeting, its people and its ledger, and the events that tell it,
//! in one transaction.
//!
//! Of changes that are saved together, rows are written once, as they are after all of them: the meeting's, and one for each
//! participant who changed. What each of them tells, and adds to the ledger, is written one by one, in their order.

use std::sync::Arc;

use actors::ids::Id;
use actors::live::{Decided, Group, Journal, Live, RequestId, Told, Unavailable, Unsaved};
use actors::meeting::{Event, Meeting};
use actors::time::Time;
use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};

use super::row::{Row, number};
use super::{find, find_all, live, topic};
use crate::db::schema::meetings;
use crate::db::{Conn, Db, Failed, Key, RunQueryDsl, events};
use crate::jobs::Jobs;
use crate::meetings::rooms::errands;
use crate::meetings::{consents, invitations, model, participants};

/// Keeps meetings for their actors.
pub struct MeetingJournal {
    pub db: Db,
    /// Links begin with it.
    pub app_url: String,
    pub jobs: Jobs,
    /// Whether there is a media server, to which changes lead.
    pub has_rooms: bool,
}

#[async_trait]
impl Journal<Meeting> for MeetingJournal {
    async fn load(&self, key: Id<Meeting>) -> Result<Option<Meeting>, Unavailable> {
        Ok(self.db.read(move |conn| Box::pin(find(conn, key))).await?)
    }

    async fn load_all(&self, keys: Vec<Id<Meeting>>) -> Result<Vec<Meeting>, Unavailable> {
        Ok(self.db.read(move |conn| Box::pin(find_all(conn, keys))).await?)
    }

    async fn save(&self, group: Arc<Group<Meeting>>) -> Result<Vec<Told>, Unsaved> {
        let (app_url, has_rooms) = (self.app_url.clone(), self.has_rooms);
        let saved = self.db.write(move |conn| Box::pin(async move { write(conn, &group, &app_url, has_rooms).await }));
        let (told, has_jobs) = saved.await.map_err(|not: NotSaved| match not {
            NotSaved::Conflict => Unsaved::Conflict,
            NotSaved::Failed(failed) if failed.is_taken() => Unsaved::Conflict,
            NotSaved::Failed(failed) => failed.into(),
        })?;
        if has_jobs {
            self.jobs.wake();
        }
        Ok(told)
    }

    async fn settle(&self, _: Id<Meeting>) -> Result<(), Unavailable> {
        self.db.settle().await;
        Ok(())
    }

    async fn awake(&self) -> Result<Vec<Id<Meeting>>, Unavailable> {
        Ok(self.db.read(|conn| Box::pin(live(conn))).await?)
    }
}

/// Why changes of a meeting were not written.
pub enum NotSaved {
    /// Somebody else was first.
    Conflict,
    Failed(Failed),
}

impl From<Failed> for NotSaved {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Writes changes of a meeting where it is still as before them; what is told of them, and whether a job was made.
pub async fn write(
    conn: &mut Conn,
    group: &Group<Meeting>,
    app_url: &str,
    has_rooms: bool,
) -> Result<(Vec<Told>, bool), NotSaved> {
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
            has_jobs |= invitations::kept::follow(conn, was, meeting, event, *at, request).await?;
            let data = told(meeting, event, app_url)?.into();
            let (kind, at, request) = (event.kind().into(), *at, Arc::clone(request));
            said.push(Told { topic, offset, kind, data, at, request });
        }
        has_jobs |= has_rooms && errands::after(conn, was, change, *at, request).await?;
    }
    events::put_all(conn, &said).await?;
    events::end_at(conn, topic, after.revision()).await?;
    // Last, since it holds the project's topic, which is others' too.
    for (was, Decided { change, request, at }) in group.steps() {
        let admitted = invitations::kept::admitted(conn, was, &change.next, *at, request).await?;
        said.extend(admitted.map_err(|invitations::kept::NotTheirs| NotSaved::Conflict)?);
    }
    Ok((said, has_jobs))
}

/// Writes a meeting, where the stored revision is still the one before.
async fn update(conn: &mut Conn, before: &Meeting, next: &Meeting) -> Result<bool, Failed> {
    let stored = diesel::update(meetings::table.find(Key(next.id)));
    let stored = stored.filter(meetings::revision.eq(number(before.revision)));
    Ok(stored.set(&Row::from(next)).execute(conn).await? > 0)
}

/// What an event, told with that offset, has to say that is kept beside the meeting and its people; whether a job was made.
async fn keep_beside(
    conn: &mut Conn,
    meeting: &Meeting,
    event: &Event,
    offset: u64,
    at: Time,
    request: &RequestId,
) -> Result<bool, Failed> {
    match event {
        Event::Consented { entry, user_agent } => {
            consents::store::append(conn, entry, user_agent).await?;
            Ok(false)
        }
        Event::Forgotten { participant, .. } => {
            consents::store::forget(conn, meeting.id, *participant).await?;
            let Some(forgotten) = meeting.participants.get(participant) else { return Ok(false) };
            // What was told of them is told again to whoever resumes. It may be a lot: a save could not write all of it anew.
            participants::renaming::enqueue(conn, meeting.id, forgotten, offset, at, request).await?;
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

/// The whole changed resource: a participant, or the meeting.
fn told(meeting: &Meeting, event: &Event, app_url: &str) -> Result<String, Failed> {
    let participant = event.participant().and_then(|id| meeting.participants.get(&id));
    let data = match participant {
        Some(participant) => serde_json::to_string(&participants::model::Participant::of(meeting.id, participant)),
        None => serde_json::to_string(&model::Meeting::of(meeting, app_url)),
    };
    data.map_err(|error| Failed::Broken(error.to_string()))
}
