//! The jobs in memory, each as its folder has it, and the bounds on them. A change is saved before it shows.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use actors::ids::{AiJob, Id};
use actors::run::Node;
use actors::time::{Clock, Time};
use pipeline::CancelToken;
use pipeline::remote::{PipelineJob, PipelineProcessingStatus as Status};
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::spawn_blocking;

use super::folder::{IncomingFolder, JobFolder};
use super::model::{JobRecord, MAX_BEGINS};

/// How many expired jobs are deleted at once; others wait meanwhile.
const AT_ONCE: usize = 20;

/// The bounds on all jobs together.
#[derive(Debug, Clone, Copy)]
pub struct TableLimits {
    /// Unfinished jobs.
    pub queue: usize,
    /// Finished jobs, and how long each is kept.
    pub kept: usize,
    pub keep: Duration,
    pub bytes: u64,
}

/// All jobs. Clones share them.
#[derive(Clone)]
pub struct JobTable(Arc<TableParts>);

struct TableParts {
    folder: Arc<JobFolder>,
    limits: TableLimits,
    clock: Arc<dyn Clock>,
    jobs: Mutex<HashMap<Id<AiJob>, Entry>>,
}

struct Entry {
    record: JobRecord,
    bytes: u64,
    token: CancelToken,
}

/// Why a request did not become a job.
#[derive(Debug)]
pub enum NotAccepted {
    /// Another request has this id.
    Conflict,
    /// As many jobs, or bytes of them, as are accepted.
    Full,
    Unsaved(io::Error),
}

/// What a command found.
#[derive(Debug)]
pub enum NotCancelled {
    Missing,
    /// It ended before.
    Over,
    Unsaved(io::Error),
}

/// How many jobs there are.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobCounts {
    pub queued: usize,
    pub processing: usize,
    pub finished: usize,
    pub bytes: u64,
}

impl JobTable {
    /// Loads the jobs of a folder; returns the unfinished ones too, oldest first.
    ///
    /// # Errors
    /// The I/O error.
    pub fn load(folder: JobFolder, limits: TableLimits, clock: Arc<dyn Clock>) -> io::Result<(Self, Vec<Id<AiJob>>)> {
        let found = folder.all()?;
        let mut unfinished: Vec<(Time, Id<AiJob>)> = found
            .iter()
            .filter(|job| !job.record.status.is_over())
            .map(|job| (job.record.created_at, job.id))
            .collect();
        unfinished.sort_unstable();
        let entry = |record, bytes| Entry { record, bytes, token: CancelToken::new() };
        let jobs = found.into_iter().map(|job| (job.id, entry(job.record, job.bytes))).collect();
        let parts = TableParts { folder: Arc::new(folder), limits, clock, jobs: Mutex::new(jobs) };
        Ok((Self(Arc::new(parts)), unfinished.into_iter().map(|(_, id)| id).collect()))
    }

    #[must_use]
    pub fn folder(&self) -> Arc<JobFolder> {
        Arc::clone(&self.0.folder)
    }

    async fn jobs(&self) -> MutexGuard<'_, HashMap<Id<AiJob>, Entry>> {
        self.0.jobs.lock().await
    }

    /// Runs work with the folder on a thread that may block.
    ///
    /// # Errors
    /// The I/O error; a panic is one too.
    pub async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&JobFolder) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let folder = self.folder();
        spawn_blocking(move || work(&folder)).await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Makes a request a job. Returns whether it is a new one.
    ///
    /// # Errors
    /// See [`NotAccepted`]. Nothing changed.
    pub async fn accept(
        &self,
        id: Id<AiJob>,
        digest: String,
        incoming: IncomingFolder,
    ) -> Result<(PipelineJob, bool), NotAccepted> {
        let mut jobs = self.jobs().await;
        if let Some(known) = jobs.get(&id) {
            let is_same = known.record.digest == digest;
            return if is_same { Ok((known.record.shown(id), false)) } else { Err(NotAccepted::Conflict) };
        }
        let unfinished = jobs.values().filter(|entry| !entry.record.status.is_over()).count();
        if unfinished >= self.0.limits.queue {
            return Err(NotAccepted::Full);
        }
        let bytes = incoming.size();
        let needed = jobs.values().filter(|entry| !entry.record.status.is_over()).map(|entry| entry.bytes).sum::<u64>();
        if needed.saturating_add(bytes) > self.0.limits.bytes {
            return Err(NotAccepted::Full);
        }
        self.make_room(&mut jobs, bytes).await;
        if total(&jobs).saturating_add(bytes) > self.0.limits.bytes {
            return Err(NotAccepted::Full);
        }
        let record = JobRecord::new(digest, self.0.clock.now());
        let saved = record.clone();
        self.on_disk(move |folder| folder.accept(id, incoming, &saved)).await.map_err(NotAccepted::Unsaved)?;
        let shown = record.shown(id);
        jobs.insert(id, Entry { record, bytes, token: CancelToken::new() });
        Ok((shown, true))
    }

    pub async fn find(&self, id: Id<AiJob>) -> Option<PipelineJob> {
        self.jobs().await.get(&id).map(|entry| entry.record.shown(id))
    }

    /// Returns the token that is cancelled with a job; `None` if it is over.
    pub async fn token(&self, id: Id<AiJob>) -> Option<CancelToken> {
        let jobs = self.jobs().await;
        jobs.get(&id).filter(|entry| !entry.record.status.is_over()).map(|entry| entry.token.clone())
    }

    /// Counts a begin of a job's work; `None` if there is nothing to do. A job that was begun too often FAILED.
    ///
    /// # Errors
    /// The record could not be saved.
    pub async fn begin(&self, id: Id<AiJob>) -> io::Result<Option<JobRecord>> {
        let mut jobs = self.jobs().await;
        let Some(entry) = jobs.get_mut(&id).filter(|entry| !entry.record.status.is_over()) else { return Ok(None) };
        let mut next = entry.record.clone();
        if next.attempt >= MAX_BEGINS {
            let why = "The analysis was started five times and never finished, so it is not started again.";
            next = next.ended(Status::Failed, Some(why.to_owned()), self.0.clock.now());
        } else {
            next.attempt += 1;
            next.status = Status::Processing;
            next.node = next.node.max(Node::PrepareSources);
            next.progress = next.progress.max(next.node.progress());
        }
        let saved = next.clone();
        self.on_disk(move |folder| folder.save_record(id, &saved)).await?;
        entry.record = next;
        Ok(Some(entry.record.clone()).filter(|record| !record.status.is_over()))
    }

    /// Notes progress, which never falls; false if the job is over.
    pub async fn progressed(&self, id: Id<AiJob>, node: Node, progress: u8) -> bool {
        let mut jobs = self.jobs().await;
        let Some(entry) = jobs.get_mut(&id).filter(|entry| !entry.record.status.is_over()) else { return false };
        entry.record.node = entry.record.node.max(node);
        entry.record.progress = entry.record.progress.max(progress.min(99));
        true
    }

    /// Ends a job, unless it is over. Its result has to be in the folder before.
    ///
    /// # Errors
    /// The record could not be saved; nothing changed.
    pub async fn end(&self, id: Id<AiJob>, status: Status, why: Option<String>) -> io::Result<()> {
        let mut jobs = self.jobs().await;
        if let Some(entry) = jobs.get_mut(&id).filter(|entry| !entry.record.status.is_over()) {
            let next = entry.record.ended(status, why, self.0.clock.now());
            let saved = next.clone();
            self.on_disk(move |folder| folder.save_record(id, &saved)).await?;
            entry.record = next;
        }
        Ok(())
    }

    /// Deletes what a job that is over does not need, then the oldest finished jobs beyond the bounds.
    pub async fn tidy(&self, id: Id<AiJob>) {
        let stripped = self.on_disk(move |folder| folder.strip(id).map(|()| folder.size(id))).await;
        let mut jobs = self.jobs().await;
        match (stripped, jobs.get_mut(&id)) {
            (Ok(bytes), Some(entry)) => entry.bytes = bytes,
            (Err(error), Some(_)) => tracing::warn!(%error, job = %id, "the sources of a job could not be deleted"),
            (_, None) => {}
        }
        self.make_room(&mut jobs, 0).await;
    }

    /// Notes how large a job's folder has become.
    pub async fn measure(&self, id: Id<AiJob>) {
        let Ok(bytes) = self.on_disk(move |folder| Ok(folder.size(id))).await else { return };
        if let Some(entry) = self.jobs().await.get_mut(&id) {
            entry.bytes = bytes;
        }
    }

    /// Cancels a job. One that was cancelled before stays as it is.
    ///
    /// # Errors
    /// See [`NotCancelled`].
    pub async fn cancel(&self, id: Id<AiJob>) -> Result<PipelineJob, NotCancelled> {
        let mut jobs = self.jobs().await;
        let entry = jobs.get_mut(&id).ok_or(NotCancelled::Missing)?;
        if entry.record.status.is_over() {
            let was_cancelled = entry.record.status == Status::Cancelled;
            return if was_cancelled { Ok(entry.record.shown(id)) } else { Err(NotCancelled::Over) };
        }
        let next = entry.record.ended(Status::Cancelled, None, self.0.clock.now());
        let saved = next.clone();
        self.on_disk(move |folder| folder.save_record(id, &saved)).await.map_err(NotCancelled::Unsaved)?;
        entry.record = next;
        entry.token.cancel();
        Ok(entry.record.shown(id))
    }

    /// Deletes finished jobs that were kept for long enough, a few at a time.
    pub async fn expire(&self) {
        let now = self.0.clock.now();
        let mut jobs = self.jobs().await;
        let keep = self.0.limits.keep;
        let is_due = |entry: &Entry| entry.record.ended_at.is_some_and(|ended| now.since(ended) >= keep);
        let due: Vec<Id<AiJob>> =
            jobs.iter().filter(|(_, entry)| is_due(entry)).map(|(id, _)| *id).take(AT_ONCE).collect();
        for id in due {
            self.remove(&mut jobs, id).await;
        }
    }

    pub async fn counts(&self) -> JobCounts {
        let jobs = self.jobs().await;
        let mut counts = JobCounts { bytes: total(&jobs), ..JobCounts::default() };
        for entry in jobs.values() {
            match entry.record.status {
                Status::Queued => counts.queued += 1,
                Status::Processing => counts.processing += 1,
                _ => counts.finished += 1,
            }
        }
        counts
    }

    /// Deletes the oldest finished jobs until their number is within bounds and there is room for so many bytes.
    async fn make_room(&self, jobs: &mut HashMap<Id<AiJob>, Entry>, bytes: u64) {
        let ended = jobs.iter().filter_map(|(id, entry)| Some((entry.record.ended_at?, *id)));
        let mut ended: Vec<(Time, Id<AiJob>)> = ended.collect();
        ended.sort_unstable();
        let mut left = ended.len();
        for (_, id) in ended {
            if left <= self.0.limits.kept && total(jobs).saturating_add(bytes) <= self.0.limits.bytes {
                return;
            }
            self.remove(jobs, id).await;
            left -= 1;
        }
    }

    async fn remove(&self, jobs: &mut HashMap<Id<AiJob>, Entry>, id: Id<AiJob>) {
        match self.on_disk(move |folder| folder.remove(id)).await {
            Ok(()) => drop(jobs.remove(&id)),
            Err(error) => tracing::warn!(%error, job = %id, "a finished job could not be deleted"),
        }
    }
}

fn total(jobs: &HashMap<Id<AiJob>, Entry>) -> u64 {
    jobs.values().map(|entry| entry.bytes).sum()
}
