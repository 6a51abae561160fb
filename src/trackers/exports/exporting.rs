//! The job of an export. Idempotent: what is read is the rows, so that a job that runs again goes on where the last one was.

use std::time::Duration;

use actors::ids::Id;
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::events::progress_event;
use super::halt::Halt;
use super::model::{TrackerExport, TrackerExportStatus};
use super::page::Exporter;
use super::store::{self, StoredTrackerExport};
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobOutcome, JobPayload, RetryPolicy, Turns};
use crate::trackers::state::Trackers;

/// How many exports are under way at once.
const AT_ONCE: usize = 8;
/// The stories of a page: as many as a tracker creates with one call.
const PAGE: i64 = 50;
/// Waits up to this are spent in the job; longer ones by another job, so that no place is taken meanwhile.
const SHORT: Duration = Duration::from_secs(3);
/// An export that could not end within this time has failed.
const GIVE_UP: Duration = Duration::from_secs(24 * 60 * 60);

/// Exports the stories of an export that are still to be done.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportStories {
    pub export_id: Id<TrackerExport>,
}

impl JobPayload for ExportStories {
    const KIND: &'static str = "export-stories";
    const TURNS: Turns = Turns::Fair;
}

/// Runs [`ExportStories`].
pub struct ExportStoriesHandler {
    pub state: Trackers,
}

#[async_trait]
impl Handler for ExportStoriesHandler {
    type Payload = ExportStories;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy { longest_pause: Duration::from_secs(30), ..RetryPolicy::UNTIL_DONE }
    }

    fn concurrency(&self) -> usize {
        AT_ONCE
    }

    /// What was exported is saved story by story: the next attempt goes on with the others, until [`GIVE_UP`].
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, job: &Job, payload: ExportStories) -> Result<(), JobError> {
        let id = payload.export_id;
        // Another job works on it, and goes on until it has ended or waits.
        let Some(_turn) = self.state.running_exports.take(id.uuid()) else { return Ok(()) };
        loop {
            let found = self.state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
            let found: Option<StoredTrackerExport> = found?;
            let Some(export) = found.filter(|export| export.status.is_active()) else { return Ok(()) };
            let left = export.waiting_until.map_or(Duration::ZERO, |until| until.since(self.state.now()));
            let halted = match left.is_zero() {
                true => self.work(&export, &job.request).await.err(),
                false => Some(Halt::Wait(left, export.waiting_for.clone().unwrap_or_default())),
            };
            match halted {
                None => return self.finish(id, None, &job.request).await,
                Some(Halt::Ended) => return Ok(()),
                Some(Halt::Again(why)) => return Err(JobError::Again(why)),
                Some(Halt::Fail(why)) => return self.finish(id, Some(why), &job.request).await,
                Some(Halt::Wait(_, why)) if self.state.now().since(export.created_at) > GIVE_UP => {
                    return self.finish(id, Some(why), &job.request).await;
                }
                Some(Halt::Wait(pause, why)) => {
                    let is_short = pause <= SHORT;
                    self.wait(id, pause, why, !is_short, job).await?;
                    if !is_short {
                        return Ok(());
                    }
                    let stopping = self.state.tasks.stopping();
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = stopping.cancelled() => return Err(JobError::Again("the server stops".to_owned())),
                    }
                }
            }
        }
    }

    /// Ends the export when its job has ended for good: nothing would go on with it.
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<ExportStories>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let (Some(ExportStories { export_id }), JobOutcome::Failed(_)) = (payload, outcome) else {
            return Ok(Vec::new());
        };
        let why = "The export was stopped for a reason that is not its own. Retry it.";
        let record = finish(conn, export_id, Some(why), now, &job.request).await?;
        Ok(record.into_iter().collect())
    }
}

impl ExportStoriesHandler {
    /// Goes through the stories that are still to be done, once.
    async fn work(&self, export: &StoredTrackerExport, request: &RequestId) -> Result<(), Halt> {
        let (id, now, by) = (export.id, self.state.now(), request.clone());
        let begun = self.state.db.write(move |conn| {
            let request = by.clone();
            Box::pin(async move {
                store::begin(conn, id, now).await?;
                store::set_waiting(conn, id, None).await?;
                let Some(export) = store::find(conn, id).await? else { return Ok::<_, DbError>(None) };
                progress_event(conn, &export, now, &request).await.map(Some)
            })
        });
        let record: Option<EventRecord> = begun.await?;
        self.state.hub.publish(record.into_iter().collect());
        let mut exporter = Exporter::open(&self.state, export, request).await?;
        let stopping = self.state.tasks.stopping();
        let mut after = -1;
        loop {
            if stopping.is_cancelled() {
                return Err(Halt::Again("the server stops".to_owned()));
            }
            let page = self.state.db.read(move |conn| Box::pin(store::pending(conn, id, after, PAGE))).await;
            let page = page.map_err(|error: DbError| Halt::from(error))?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            exporter.page(page.into_iter().map(|(_, story)| story).collect()).await?;
        }
        exporter.deferred.map_or(Ok(()), |(pause, why)| Err(Halt::Wait(pause, why)))
    }

    /// Saves that an export waits; with `by_job`, enqueues the job that goes on.
    async fn wait(
        &self,
        id: Id<TrackerExport>,
        pause: Duration,
        why: String,
        by_job: bool,
        job: &Job,
    ) -> Result<(), JobError> {
        let (now, jobs, request) = (self.state.now(), self.state.jobs.clone(), job.request.clone());
        let project = job.fair_key().to_owned();
        let saved = self.state.db.write(move |conn| {
            let (why, jobs, request, project) = (why.clone(), jobs.clone(), request.clone(), project.clone());
            Box::pin(async move {
                store::set_waiting(conn, id, Some((now + pause, why))).await?;
                if by_job {
                    let next = ExportStories { export_id: id };
                    jobs::enqueue_in_turn_after(conn, &jobs, &project, &next, pause, &request).await?;
                }
                let Some(export) = store::find(conn, id).await? else { return Ok::<_, DbError>(None) };
                if !export.status.is_active() {
                    return Ok(None);
                }
                progress_event(conn, &export, now, &request).await.map(Some)
            })
        });
        let record: Option<EventRecord> = saved.await.map_err(|error| error.to_string())?;
        self.state.hub.publish(record.into_iter().collect());
        Ok(())
    }

    /// Ends an export; with `error`, the stories that are still to be done have failed because of it.
    async fn finish(&self, id: Id<TrackerExport>, error: Option<String>, request: &RequestId) -> Result<(), JobError> {
        let (now, request) = (self.state.now(), request.clone());
        let ended = self.state.db.write(move |conn| {
            let (error, request) = (error.clone(), request.clone());
            Box::pin(async move { finish(conn, id, error.as_deref(), now, &request).await })
        });
        let record: Option<EventRecord> = ended.await?;
        self.state.hub.publish(record.into_iter().collect());
        Ok(())
    }
}

async fn finish(
    conn: &mut Conn,
    id: Id<TrackerExport>,
    error: Option<&str>,
    now: Time,
    request: &RequestId,
) -> Result<Option<EventRecord>, DbError> {
    // It may have been cancelled meanwhile: then its stories stay as they are.
    if !store::hold_running(conn, id).await? {
        return Ok(None);
    }
    if let Some(why) = error {
        store::fail_pending(conn, id, "ExportStopped", why).await?;
    }
    let Some(export) = store::counted(conn, id).await? else { return Ok(None) };
    let status = match export.tally.failed {
        0 => TrackerExportStatus::Completed,
        failed if failed == export.total => TrackerExportStatus::Failed,
        _ => TrackerExportStatus::Partial,
    };
    if !store::end(conn, id, status, error, now).await? {
        return Ok(None);
    }
    let Some(export) = store::find(conn, id).await? else { return Ok(None) };
    progress_event(conn, &export, now, request).await.map(Some)
}
