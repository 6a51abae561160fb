//! Deletion of projects: it takes effect at once for all users; the contents are deleted page by page, whatever their
//! size.
//!
//! ```text
//! one transaction: members removed, project hidden ── a job ── response
//!    `── its meetings and runs with all their events, its items, its documents, and finally its own row
//! ```
//! The request deletes as much as it can within two seconds, and the job deletes the rest. Until a meeting of the
//! project is deleted, its participants can still read it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId, Topic, TopicKind};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::awake::{Awake, MeetingFiles};
use super::documents::contents;
use super::events::{record_event, topic};
use super::model::Project;
use super::store;
use super::store::deletion::{OF_MEETING, OF_PROJECT, OF_RUN};
use crate::db::sweep::{PAGE, Part, in_pages};
use crate::db::{Conn, Db, DbError, events};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::{self, Handler, Job, JobError, JobPayload, Jobs, RetryPolicy, Turns};
use crate::projects::state::Projects;

/// How long a request keeps deleting contents, for all the projects it deletes together.
const AT_ONCE: Duration = Duration::from_secs(2);
/// The delay of the job: by then the request has stopped deleting.
const THEN: Duration = Duration::from_secs(3);
/// How long an attempt of the job keeps deleting; the next one goes on.
const SLICE: Duration = Duration::from_secs(10 * 60);
/// How many meetings or runs are looked up at once.
const SOME: i64 = 100;

/// Deletes the contents of a buried project, as far as its request left any.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteProject {
    project_id: Id<ids::Project>,
}

impl JobPayload for DeleteProject {
    const KIND: &'static str = "delete-project";
    const TURNS: Turns = Turns::InOrder("nobody waits for it: the project is hidden before");
}

/// Marks a project as `BURIED`, which hides it from all users, and enqueues the deletion of its contents. Returns the
/// event to publish.
///
/// # Errors
/// 409 while a meeting is LIVE or a run is unfinished.
pub async fn hide_and_enqueue_deletion(
    conn: &mut Conn,
    jobs: &Jobs,
    project: &Project,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, ApiError> {
    if store::is_busy(conn, project.id).await? {
        let busy = "End its live meetings and its unfinished analysis runs first.";
        return Err(ApiError::with_message(Code::INVALID_STATE, busy));
    }
    let record = record_event(conn, project, EventKind::ProjectDeleted, now, request).await?;
    store::deletion::hide(conn, project.id).await?;
    jobs::enqueue_after(conn, jobs, &DeleteProject { project_id: project.id }, THEN, request).await?;
    Ok(record)
}

/// The deadline until which a request keeps deleting contents.
pub fn in_a_moment() -> Instant {
    Instant::now() + AT_ONCE
}

/// Deletes the contents of a buried project, as far as possible before the deadline.
///
/// It stops only between two pages: if it were interrupted between deleting a row and dropping its actor, the deleted
/// meeting or run would stay in memory.
pub async fn begin(state: &Projects, id: Id<ids::Project>, until: Instant, request: &RequestId) {
    let stopping = state.tasks.stopping().child_token();
    // Cancels the deletion also when the client disconnects.
    let _in_the_end = stopping.clone().drop_guard();
    let emptying = Emptying { stopping, ..Emptying::of(state, id) };
    let (now, request) = (state.now(), request.clone());
    let emptied = state.tasks.carry(async move { emptying.all(now, &request).await });
    match tokio::time::timeout_at(until, emptied).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => tracing::warn!(%error, "data of a deleted project could not be removed completely yet"),
        Ok(Err(error)) => tracing::error!(%error, "the task that removes a deleted project's data failed"),
        Err(_) => tracing::info!("the deleted project is large; the rest of its data is removed later"),
    }
    state.jobs.wake();
}

/// Runs [`DeleteProject`]. Idempotent.
pub struct DeleteProjectHandler {
    pub state: Projects,
}

#[async_trait]
impl Handler for DeleteProjectHandler {
    type Payload = DeleteProject;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// One project at a time, to leave database capacity to others.
    fn concurrency(&self) -> usize {
        1
    }

    /// An attempt ends by itself after [`SLICE`], between two pages; what it deleted stays deleted.
    fn time_limit(&self) -> Duration {
        SLICE * 6
    }

    async fn run(&self, job: &Job, payload: DeleteProject) -> Result<(), JobError> {
        let emptying = Emptying::of(&self.state, payload.project_id);
        let stopping = emptying.stopping.child_token();
        let emptying = Emptying { stopping: stopping.clone(), ..emptying };
        let mut emptied = pin!(emptying.all(self.state.now(), &job.request));
        let emptied = tokio::select! {
            emptied = &mut emptied => emptied,
            () = tokio::time::sleep(SLICE) => {
                stopping.cancel();
                emptied.await
            }
        };
        self.state.jobs.wake();
        Ok(emptied?)
    }
}

/// The deletion of one project's contents.
struct Emptying {
    db: Db,
    awake: Arc<dyn Awake>,
    meeting_files: Arc<dyn MeetingFiles>,
    stopping: CancellationToken,
    id: Id<ids::Project>,
}

impl Emptying {
    fn of(state: &Projects, id: Id<ids::Project>) -> Self {
        Self {
            db: state.db.clone(),
            awake: Arc::clone(&state.awake),
            meeting_files: Arc::clone(&state.meeting_files),
            stopping: state.tasks.stopping(),
            id,
        }
    }

    /// # Errors
    /// A database error; what was deleted before it stays deleted.
    async fn all(&self, now: Time, request: &RequestId) -> Result<(), DbError> {
        let id = self.id;
        if !self.db.read(move |conn| Box::pin(store::deletion::is_buried(conn, id))).await? {
            return Ok(());
        }
        loop {
            let some = self.db.read(move |conn| Box::pin(store::deletion::meetings(conn, id, SOME))).await?;
            if some.is_empty() {
                break;
            }
            for meeting in some {
                self.parts(&OF_MEETING, meeting).await?;
                self.delete_events(Topic { kind: TopicKind::Meeting, id: meeting.uuid() }).await?;
                let (files, request) = (Arc::clone(&self.meeting_files), request.clone());
                let deleted = self.db.write(move |conn| {
                    Box::pin(async move {
                        files.enqueue_deletion(conn, meeting, now, &request).await?;
                        store::deletion::delete_meeting(conn, meeting).await
                    })
                });
                let deleted = deleted.await;
                self.outcome(&deleted).await;
                self.awake.forget_meeting(meeting).await;
                deleted?;
            }
        }
        self.parts(&OF_PROJECT, id).await?;
        loop {
            let some = self.db.read(move |conn| Box::pin(store::deletion::runs(conn, id, SOME))).await?;
            if some.is_empty() {
                break;
            }
            for run in some {
                self.parts(&OF_RUN, run).await?;
                self.delete_events(Topic { kind: TopicKind::Run, id: run.uuid() }).await?;
                let deleted = self.db.write(move |conn| Box::pin(store::deletion::delete_run(conn, run))).await;
                self.outcome(&deleted).await;
                self.awake.forget_run(run).await;
                deleted?;
            }
        }
        while self.documents(now, request).await? {}
        self.delete_events(topic(id)).await?;
        self.db.write(move |conn| Box::pin(store::deletion::delete(conn, id))).await
    }

    async fn parts<T: 'static>(&self, parts: &[Part], owner: Id<T>) -> Result<(), DbError> {
        for part in parts.iter().copied() {
            in_pages(&self.db, &self.stopping, move |conn| Box::pin(part.page(conn, owner, PAGE))).await?;
            self.goes_on()?;
        }
        Ok(())
    }

    /// Deletes all events of a topic.
    async fn delete_events(&self, topic: Topic) -> Result<(), DbError> {
        in_pages(&self.db, &self.stopping, move |conn| Box::pin(events::forget(conn, topic, PAGE))).await?;
        self.goes_on()
    }

    /// Deletes a page of the documents; returns whether there were any. Their stored contents are deleted by a job
    /// enqueued in the same transaction, so that a shutdown leaves none behind unnoticed.
    async fn documents(&self, now: Time, request: &RequestId) -> Result<bool, DbError> {
        let (id, request) = (self.id, request.clone());
        let some = self.db.write(move |conn| {
            Box::pin(async move {
                let contents = store::deletion::delete_documents(conn, id).await?;
                let had_some = !contents.is_empty();
                contents::enqueue_deletion(conn, contents, now, &request).await?;
                Ok::<_, DbError>(had_some)
            })
        });
        let had_some = some.await?;
        self.goes_on()?;
        Ok(had_some)
    }

    /// After a failed write, waits until its outcome is known or the server stops.
    async fn outcome(&self, written: &Result<(), DbError>) {
        if written.is_err() {
            tokio::select! {
                () = self.db.wait_for_outcomes() => {}
                () = self.stopping.cancelled() => {}
            }
        }
    }

    fn goes_on(&self) -> Result<(), DbError> {
        let stops = || DbError::Unavailable("it was interrupted".to_owned());
        if self.stopping.is_cancelled() { Err(stops()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
