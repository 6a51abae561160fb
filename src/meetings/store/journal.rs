//! Keeps meetings for their actors: what changed of the meeting, its people and its ledger, and the events that tell it,
//! in one transaction.

use actors::ids::Id;
use actors::live::{Change, Journal, Live, RequestId, Told, Unavailable, Unsaved};
use actors::meeting::{Event, Meeting};
use actors::time::Time;
use async_trait::async_trait;
use diesel::{ExpressionMethods, QueryDsl};

use super::row::{Row, number};
use super::{find, live, topic};
use crate::db::schema::meetings;
use crate::db::{Conn, Db, Failed, Key, RunQueryDsl, events};
use crate::jobs::Jobs;
use crate::meetings::rooms::errands;
use crate::meetings::{consents, model, participants};

/// Keeps meetings for their actors.
pub struct MeetingJournal {
    pub db: Db,
    /// Links begin with it.
    pub app_url: String,
    /// What does the errands to the media server; `None`: there is none.
    pub errands: Option<Jobs>,
}

#[async_trait]
impl Journal<Meeting> for MeetingJournal {
    async fn load(&self, key: Id<Meeting>) -> Result<Option<Meeting>, Unavailable> {
        Ok(self.db.read(move |conn| Box::pin(find(conn, key))).await?)
    }

    async fn save(
        &self,
        before: &Meeting,
        change: &Change<Meeting>,
        request: &RequestId,
        at: Time,
    ) -> Result<Vec<Told>, Unsaved> {
        let (before, change, request) = (before.clone(), change.clone(), request.clone());
        let (app_url, has_rooms) = (self.app_url.clone(), self.errands.is_some());
        let saved = self.db.write(move |conn| {
            Box::pin(async move {
                if !update(conn, &before, &change.next).await? {
                    return Err(NotSaved::Conflict);
                }
                let meeting = &change.next;
                participants::store::save(conn, meeting.id, meeting.participants.changed_since(&before.participants))
                    .await?;
                let has_errands = has_rooms && errands::after(conn, &before, &change, at, &request).await?;
                let mut said = Vec::with_capacity(change.events.len());
                for event in &change.events {
                    keep_beside(conn, meeting, event).await?;
                    said.push((event.kind(), told(meeting, event, &app_url)?));
                }
                let told =
                    events::append_all(conn, topic(before.id), before.revision() + 1, &said, at, &request).await?;
                Ok((told, has_errands))
            })
        });
        let (told, has_errands) = saved.await.map_err(|not: NotSaved| match not {
            NotSaved::Conflict => Unsaved::Conflict,
            NotSaved::Failed(failed) if failed.is_taken() => Unsaved::Conflict,
            NotSaved::Failed(failed) => failed.into(),
        })?;
        if let Some(jobs) = self.errands.as_ref().filter(|_| has_errands) {
            jobs.wake();
        }
        Ok(told)
    }

    async fn awake(&self) -> Result<Vec<Id<Meeting>>, Unavailable> {
        Ok(self.db.read(|conn| Box::pin(live(conn))).await?)
    }
}

enum NotSaved {
    Conflict,
    Failed(Failed),
}

impl From<Failed> for NotSaved {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// Writes a meeting, where the stored revision is still the one before.
async fn update(conn: &mut Conn, before: &Meeting, next: &Meeting) -> Result<bool, Failed> {
    let stored = diesel::update(meetings::table.find(Key(next.id)));
    let stored = stored.filter(meetings::revision.eq(number(before.revision)));
    Ok(stored.set(&Row::from(next)).execute(conn).await? > 0)
}

/// What an event has to say that is kept beside the meeting and its people.
async fn keep_beside(conn: &mut Conn, meeting: &Meeting, event: &Event) -> Result<(), Failed> {
    match event {
        Event::Consented { entry, user_agent } => consents::store::append(conn, entry, user_agent).await,
        Event::Forgotten { participant, .. } => {
            consents::store::forget(conn, meeting.id, *participant).await?;
            let Some(forgotten) = meeting.participants.get(participant) else { return Ok(()) };
            // What was told of them is told again to whoever resumes: without the name.
            let name = |told: &str| participants::model::renamed(told, *participant, &forgotten.display_name);
            events::rewrite(conn, topic(meeting.id), name).await
        }
        Event::Updated
        | Event::Started { .. }
        | Event::Ended { .. }
        | Event::Cancelled { .. }
        | Event::Joined { .. }
        | Event::Left { .. }
        | Event::Removed { .. }
        | Event::Changed { .. } => Ok(()),
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
