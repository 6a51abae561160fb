//! The end of a project: at once for everybody; what was in it goes page by page, however much it was.
//!
//! ```text
//! one transaction: nobody is a member, nobody finds it ── a job ── answer
//!    `── its meetings and runs with all that was told of them, its items, its documents, at last its own row
//! ```
//! Whoever deletes it does that in the request as far as it goes in a moment, and the job what is left. Until a meeting of
//! it has gone, who took part in it may still read it.

pub mod awake;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{RequestId, Told, Topic, TopicKind};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::awake::Awake;
use super::documents::contents;
use super::events::{tell, topic};
use super::model::Project;
use super::store;
use super::store::deletion::{OF_MEETING, OF_PROJECT, OF_RUN};
use crate::db::sweep::{PAGE, Part, in_pages};
use crate::db::{Conn, Db, Failed, events};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::jobs::{self, Fault, Handler, Job, Jobs, Patience};
use crate::projects::state::Projects;

const KIND: &str = "delete-project";
/// How long a request goes on with it, whatever else it deletes.
const AT_ONCE: Duration = Duration::from_secs(2);
/// By then the request has done what it does.
const THEN: Duration = Duration::from_secs(3);
/// How many meetings or runs are looked up at once.
const SOME: i64 = 100;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    project_id: Id<ids::Project>,
}

/// Takes a project out of everybody's sight, and has all that is in it deleted; gives what is to be told.
///
/// # Errors
/// 409 while a meeting is LIVE or a run unfinished.
pub async fn bury(
    conn: &mut Conn,
    jobs: &Jobs,
    project: &Project,
    now: Time,
    request: &RequestId,
) -> Result<Told, Failure> {
    if store::is_busy(conn, project.id).await? {
        let busy = "End its live meetings and its unfinished analysis runs first.";
        return Err(Failure::saying(Code::INVALID_STATE, busy));
    }
    let told = tell(conn, project, "project.deleted", now, request).await?;
    store::deletion::bury(conn, project.id).await?;
    jobs::enqueue_after(conn, jobs, KIND, &Payload { project_id: project.id }, THEN, request).await?;
    Ok(told)
}

/// Until when a request goes on with what it deletes.
pub fn in_a_moment() -> Instant {
    Instant::now() + AT_ONCE
}

/// Deletes what is in a buried project, as far as it goes until then.
///
/// It ends between two pages and nowhere else: what was deleted in the middle would be in memory all the same.
pub async fn begin(state: &Projects, id: Id<ids::Project>, until: Instant, request: &RequestId) {
    let stopping = state.tasks.stopping().child_token();
    // Also where the client goes away.
    let _in_the_end = stopping.clone().drop_guard();
    let emptying = Emptying { db: state.db.clone(), awake: Arc::clone(&state.awake), stopping, id };
    let (now, request) = (state.now(), request.clone());
    let emptied = state.tasks.carry(async move { emptying.all(now, &request).await });
    match tokio::time::timeout_at(until, emptied).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(error))) => tracing::warn!(%error, "a deleted project is not empty yet"),
        Ok(Err(error)) => tracing::error!(%error, "the deletion of a project did not come to its end"),
        Err(_) => tracing::info!("a deleted project is large: the rest goes later"),
    }
    state.jobs.wake();
}

/// LATER: deletes what is left of buried projects. Safe to repeat.
pub struct Deleting {
    pub state: Projects,
}

#[async_trait]
impl Handler for Deleting {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn patience(&self) -> Patience {
        Patience::UNTIL_DONE
    }

    /// One by one, so that they leave the database to others.
    fn at_once(&self) -> usize {
        1
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let Payload { project_id: id } = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        let (db, awake) = (self.state.db.clone(), Arc::clone(&self.state.awake));
        let emptying = Emptying { db, awake, stopping: self.state.tasks.stopping(), id };
        let emptied = emptying.all(self.state.now(), &job.request).await;
        self.state.jobs.wake();
        Ok(emptied.map_err(|error| error.to_string())?)
    }
}

/// The deletion of what is in one project.
struct Emptying {
    db: Db,
    awake: Arc<dyn Awake>,
    stopping: CancellationToken,
    id: Id<ids::Project>,
}

impl Emptying {
    /// # Errors
    /// The database's own; what has gone until then has gone.
    async fn all(&self, now: Time, request: &RequestId) -> Result<(), Failed> {
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
                self.told(Topic { kind: TopicKind::Meeting, id: meeting.uuid() }).await?;
                let deleted = self.db.write(move |conn| Box::pin(store::deletion::delete_meeting(conn, meeting))).await;
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
                self.told(Topic { kind: TopicKind::Run, id: run.uuid() }).await?;
                let deleted = self.db.write(move |conn| Box::pin(store::deletion::delete_run(conn, run))).await;
                self.outcome(&deleted).await;
                self.awake.forget_run(run).await;
                deleted?;
            }
        }
        while self.documents(now, request).await? {}
        self.told(topic(id)).await?;
        self.db.write(move |conn| Box::pin(store::deletion::delete(conn, id))).await
    }

    async fn parts<T: 'static>(&self, parts: &[Part], owner: Id<T>) -> Result<(), Failed> {
        for part in parts.iter().copied() {
            in_pages(&self.db, &self.stopping, move |conn| Box::pin(part.page(conn, owner, PAGE))).await?;
            self.goes_on()?;
        }
        Ok(())
    }

    /// Drops all that was told under a topic.
    async fn told(&self, topic: Topic) -> Result<(), Failed> {
        in_pages(&self.db, &self.stopping, move |conn| Box::pin(events::forget(conn, topic, PAGE))).await?;
        self.goes_on()
    }

    /// Whether there were any. Their contents go by a job, so that no end of this server leaves one that nobody looks for.
    async fn documents(&self, now: Time, request: &RequestId) -> Result<bool, Failed> {
        let (id, request) = (self.id, request.clone());
        let some = self.db.write(move |conn| {
            Box::pin(async move {
                let contents = store::deletion::delete_documents(conn, id).await?;
                let had_some = !contents.is_empty();
                contents::forget(conn, contents, now, &request).await?;
                Ok::<_, Failed>(had_some)
            })
        });
        let had_some = some.await?;
        self.goes_on()?;
        Ok(had_some)
    }

    /// Returns when it is known what became of a write, or when the server stops.
    async fn outcome(&self, written: &Result<(), Failed>) {
        if written.is_err() {
            tokio::select! {
                () = self.db.settle() => {}
                () = self.stopping.cancelled() => {}
            }
        }
    }

    fn goes_on(&self) -> Result<(), Failed> {
        let stops = || Failed::Unavailable("the server stops".to_owned());
        if self.stopping.is_cancelled() { Err(stops()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
