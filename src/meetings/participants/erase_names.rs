//! Background job: replaces the former name of a forgotten participant in the earlier events of the meeting. Safe to
//! repeat.
//!
//! The meeting itself forgets the participant at once, in its own save, which has to be short: an actor waits for it.
//! Its earlier events may be a hundred thousand. They are processed page by page, each in a transaction of its own that
//! also stores the progress of the job.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{self, Meeting};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::model;
use crate::db::events::{self, EventPosition, Text};
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, RetryPolicy, Turns};
use crate::meetings::state::Meetings;
use crate::meetings::store::topic;

/// Events read at once; all of them may have to be rewritten.
const PAGE: i64 = 250;

/// Replaces a participant's former name in the earlier events of a meeting.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EraseNameInEvents {
    meeting_id: Id<Meeting>,
    participant_id: Id<ids::Participant>,
    /// The new name, which does not identify the person.
    name: String,
    /// The offset of the event that recorded the forgetting. It and all later events have the new name.
    until: u64,
    /// The last event that was processed.
    after: EventPosition,
    /// Whether any event was rewritten.
    is_written: bool,
}

impl JobPayload for EraseNameInEvents {
    const KIND: &'static str = "rename-forgotten";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the job that replaces a participant's former name in the meeting's events before offset `until`; it runs
/// after the transaction has been committed. Projects take turns.
///
/// # Errors
/// Any database error.
pub async fn enqueue(
    conn: &mut Conn,
    meeting: &Meeting,
    forgotten: &meeting::Participant,
    until: u64,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let payload = EraseNameInEvents {
        meeting_id: meeting.id,
        participant_id: forgotten.id,
        name: forgotten.display_name.clone(),
        until,
        after: EventPosition { topic: topic(meeting.id).to_string(), position: 0 },
        is_written: false,
    };
    jobs::enqueue_in_turn(conn, &meeting.project_id.to_string(), &payload, now, request).await.map(|_| ())
}

/// Runs [`EraseNameInEvents`].
pub struct EraseNameInEventsHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for EraseNameInEventsHandler {
    type Payload = EraseNameInEvents;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// One at a time, so that other work gets its share of the database.
    fn concurrency(&self) -> usize {
        1
    }

    /// The progress is stored with each page, so that the next attempt goes on from there.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(60 * 60)
    }

    async fn run(&self, job: &Job, mut payload: EraseNameInEvents) -> Result<(), JobError> {
        let stopping = self.state.tasks.stopping();
        loop {
            if stopping.is_cancelled() {
                return Err(JobError::Again("the server is stopping".to_owned()));
            }
            let Some(page) = self.next_page(&payload).await? else { break };
            let next = EraseNameInEvents {
                after: page.reached.clone(),
                is_written: payload.is_written || !page.renamed.is_empty(),
                ..payload.clone()
            };
            // A page without changes does not store the position either: a later attempt of the job reads such pages
            // again.
            if page.renamed.is_empty() || self.write(job, page, &next).await? {
                payload = next;
            }
            // Otherwise another writer changed an event of the page in the meantime, and the page is read again.
        }
        if payload.is_written {
            self.state.db.overwrite_deleted().await?;
        }
        Ok(())
    }
}

/// A page of events, and the new payloads of those that contain the former name.
struct RenamedPage {
    reached: EventPosition,
    renamed: Vec<(Text, String)>,
}

impl EraseNameInEventsHandler {
    /// Reads the next page; `None` when there are no more events.
    async fn next_page(&self, payload: &EraseNameInEvents) -> Result<Option<RenamedPage>, DbError> {
        let after = payload.after.clone();
        let read =
            self.state.db.read(move |conn| Box::pin(async move { events::texts_after(conn, &after, PAGE).await }));
        let mut texts = read.await?;
        // Ordered by topic, and by offset within each topic.
        let is_before = |text: &Text| u64::try_from(text.position).is_ok_and(|position| position < payload.until);
        texts.retain(|text| text.topic == payload.after.topic && is_before(text));
        let Some(last) = texts.last() else { return Ok(None) };
        let reached = EventPosition { topic: last.topic.clone(), position: last.position };
        let renamed = texts.into_iter().filter_map(|text| {
            let data = model::renamed(&text.data, payload.participant_id, &payload.name)?;
            Some((text, data))
        });
        Ok(Some(RenamedPage { reached, renamed: renamed.collect() }))
    }

    /// Rewrites the events of a page and stores the position of the job. Returns false when an event of the page is no
    /// longer what was read.
    async fn write(&self, job: &Job, page: RenamedPage, progress: &EraseNameInEvents) -> Result<bool, DbError> {
        let (job, progress) = (job.clone(), progress.clone());
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                let mut all = true;
                for (event, data) in page.renamed {
                    all &= events::replace(conn, &event, data).await?;
                }
                if all && !jobs::save_progress(conn, &job, &progress).await? {
                    return Err(DbError::Broken("another attempt has claimed the job".to_owned()));
                }
                Ok(all)
            })
        });
        written.await
    }
}
