//! The memory for work on whole projects: one limit for requests and jobs together. Work that finds too little left waits in
//! line.
//!
//! ```text
//! jobs: a large one at a time --> the project's share --> the pool of small reservations, or that of large ones
//! ```
//! Whoever needs little never waits for those who need much. A project has an eighth of the memory at once, or one reservation that
//! is larger. What is reserved is held until the work has ended, whether its caller still waits or not: work that goes on without its
//! caller (a read of the database, a blocking computation) has a clone of the reservation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use actors::ids::{Id, Project};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::error::ApiError;

/// How long a request waits for memory.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// What needs no more is not counted: the number of connections bounds it.
const SMALL_BYTES: usize = 64 * 1024;
/// How large results may be that are parsed as a whole, in bytes as they are stored.
pub const MAX_PARSED_BYTES: usize = 64 * 1024 * 1024;
/// How often such results are in memory: as they are stored, parsed, as they are described for a file or a reviewer, and as that
/// file.
const COPIES: usize = 4;
/// Beyond so many remembered projects those that have nothing reserved are forgotten.
const MAX_REMEMBERED: usize = 1000;

/// The memory. Clones share it.
#[derive(Clone)]
pub struct WorkMemory(Arc<Pools>);

struct Pools {
    /// For reservations of a quarter of it at most.
    small: Pool,
    large: Pool,
    /// Large jobs take turns before they wait for memory: none of them keeps requests waiting that it waits behind.
    job: Arc<Semaphore>,
    /// How much one project may have reserved, in KiB; more only as a single reservation.
    share: u32,
    projects: Mutex<HashMap<Id<Project>, Weak<Semaphore>>>,
}

struct Pool {
    /// A permit for each KiB.
    free: Arc<Semaphore>,
    all: u32,
}

/// Memory that is reserved until the last clone of this is dropped. `None` for little.
#[derive(Clone)]
pub struct ReservedMemory(Option<Arc<HeldMemory>>);

struct HeldMemory {
    memory: OwnedSemaphorePermit,
    job: Option<OwnedSemaphorePermit>,
    _share: OwnedSemaphorePermit,
}

impl Pool {
    fn of(kib: u32) -> Self {
        Self { free: semaphore(kib), all: kib }
    }

    /// Takes so much, and waits for it. Who wants more than there is gets all there is.
    async fn take(&self, kib: u32) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.free).acquire_many_owned(kib.min(self.all)).await.ok()
    }
}

fn semaphore(permits: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(usize::try_from(permits).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)))
}

impl WorkMemory {
    #[must_use]
    pub fn new(mebibytes: usize) -> Self {
        let all = u32::try_from(mebibytes.saturating_mul(1024)).unwrap_or(u32::MAX);
        let small = all / 4;
        Self(Arc::new(Pools {
            small: Pool::of(small),
            large: Pool::of(all - small),
            job: semaphore(1),
            share: (all / 8).max(1),
            projects: Mutex::default(),
        }))
    }

    /// Reserves memory for results of so many bytes that are parsed as a whole, and for what is made of them; for no more than
    /// [`MAX_PARSED_BYTES`], beyond which they are refused.
    pub async fn for_parsed(&self, project_id: Id<Project>, stored: usize) -> ReservedMemory {
        self.reserve(project_id, parsed(stored)).await
    }

    /// As [`WorkMemory::for_parsed`], for a job: it may wait for long.
    pub async fn for_parsed_by_job(&self, project_id: Id<Project>, stored: usize) -> ReservedMemory {
        let bytes = parsed(stored);
        let job = match self.is_small(bytes) {
            true => None,
            false => Arc::clone(&self.0.job).acquire_owned().await.ok(),
        };
        self.take(project_id, bytes, job).await
    }

    /// Reserves memory for work on a project, and waits for it. What is more than there is gets all there is.
    pub async fn reserve(&self, project_id: Id<Project>, bytes: usize) -> ReservedMemory {
        self.take(project_id, bytes, None).await
    }

    fn is_small(&self, bytes: usize) -> bool {
        kib(bytes) <= self.0.small.all / 4
    }

    async fn take(&self, project_id: Id<Project>, bytes: usize, job: Option<OwnedSemaphorePermit>) -> ReservedMemory {
        if bytes <= SMALL_BYTES {
            return ReservedMemory(None);
        }
        let pools = &self.0;
        let share = self.project(project_id).acquire_many_owned(kib(bytes).min(pools.share)).await;
        let pool = if self.is_small(bytes) { &pools.small } else { &pools.large };
        let held = share.ok().zip(pool.take(kib(bytes)).await);
        ReservedMemory(held.map(|(share, memory)| Arc::new(HeldMemory { memory, job, _share: share })))
    }

    /// The share of a project.
    fn project(&self, project_id: Id<Project>) -> Arc<Semaphore> {
        let mut projects = self.0.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = projects.get(&project_id).and_then(Weak::upgrade) {
            return share;
        }
        if projects.len() > MAX_REMEMBERED {
            projects.retain(|_, share| share.strong_count() > 0);
        }
        let share = semaphore(self.0.share);
        projects.insert(project_id, Arc::downgrade(&share));
        share
    }

    /// Reserves memory for a request.
    ///
    /// # Errors
    /// 503 if there is too little for [`PATIENCE`].
    pub async fn soon(reservation: impl Future<Output = ReservedMemory>) -> Result<ReservedMemory, ApiError> {
        let reserved = timeout(PATIENCE, reservation).await;
        reserved.map_err(|_late| ApiError::unavailable("too much other work on whole projects is under way"))
    }
}

impl ReservedMemory {
    /// Gives back what is beyond so many bytes, unless others have a clone of it.
    #[must_use]
    pub fn shrunk_to(self, bytes: usize) -> Self {
        let Some(held) = self.0 else { return self };
        let held = match Arc::try_unwrap(held) {
            Ok(mut held) => {
                let kept = usize::try_from(kib(bytes)).unwrap_or(usize::MAX).min(held.memory.num_permits());
                if let Some(kept) = held.memory.split(kept) {
                    held.memory = kept;
                }
                held.job = None;
                Arc::new(held)
            }
            Err(shared) => shared,
        };
        Self(Some(held))
    }
}

fn parsed(stored: usize) -> usize {
    stored.min(MAX_PARSED_BYTES).saturating_mul(COPIES)
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    const MIB: usize = 1024 * 1024;

    fn project() -> Id<Project> {
        Id::generate()
    }

    #[tokio::test]
    async fn work_waits_for_memory_and_a_request_not_for_long() {
        let memory = WorkMemory::new(16);
        let most = memory.reserve(project(), 11 * MIB).await;
        assert!(memory.reserve(project(), SMALL_BYTES).now_or_never().is_some(), "little is not counted");
        let refused = WorkMemory::soon(memory.reserve(project(), 2 * MIB)).await;
        assert_eq!(refused.err().map(|error| error.code.status), Some(503));
        let mut waiting = pin!(memory.for_parsed(project(), usize::MAX));
        assert!(waiting.as_mut().now_or_never().is_none(), "most of it is taken");
        drop(most);
        let all = waiting.await;
        assert!(memory.reserve(project(), 2 * MIB).now_or_never().is_none(), "what is more than all has all of it");
        drop(all);
        assert!(memory.reserve(project(), 2 * MIB).now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_needs_little_waits_for_nobody_who_needs_much() {
        let memory = WorkMemory::new(16);
        let (large, larger) = (project(), project());
        let _all = memory.for_parsed_by_job(large, usize::MAX).await;
        let mut next = pin!(memory.reserve(larger, 12 * MIB));
        assert!(next.as_mut().now_or_never().is_none());
        for _ in 0..8 {
            let little = memory.reserve(project(), MIB).now_or_never();
            assert!(little.is_some(), "it is behind what is large");
        }
    }

    #[tokio::test]
    async fn one_project_has_its_share_or_one_large_reservation() {
        let memory = WorkMemory::new(16);
        let fat = project();
        let held = [memory.reserve(fat, MIB).await, memory.reserve(fat, MIB).await];
        assert!(memory.reserve(fat, MIB).now_or_never().is_none(), "2 of 16 MiB are its share");
        assert!(memory.reserve(project(), MIB).now_or_never().is_some());
        drop(held);
        let _large = memory.reserve(fat, 6 * MIB).await;
        assert!(
            memory.reserve(fat, 6 * MIB).now_or_never().is_none(),
            "there is room for it, and not for this project"
        );
        assert!(memory.reserve(project(), 6 * MIB).now_or_never().is_some());
    }

    #[tokio::test]
    async fn large_jobs_take_turns_and_keep_no_request_waiting() {
        let memory = WorkMemory::new(16);
        let first = memory.for_parsed_by_job(project(), 2 * MIB).await;
        let mut second = pin!(memory.for_parsed_by_job(project(), 2 * MIB));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(memory.reserve(project(), 4 * MIB).now_or_never().is_some(), "it is behind a job that waits");
        // It stores its file, for which it needs no more memory.
        let _first = first.shrunk_to(MIB);
        assert!(second.as_mut().now_or_never().is_some());
    }

    #[tokio::test]
    async fn what_goes_on_without_its_caller_keeps_its_memory() {
        let memory = WorkMemory::new(16);
        let held = memory.reserve(project(), 12 * MIB).await;
        let work = held.clone();
        drop(held);
        assert!(memory.reserve(project(), 12 * MIB).now_or_never().is_none());
        drop(work);
        assert!(memory.reserve(project(), 12 * MIB).now_or_never().is_some());
    }
}
