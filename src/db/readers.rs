//! The readers of SQLite: threads with a connection each. A read goes to a thread without a stop in between, and its
//! answer from there to the caller.
//!
//! ```text
//!  read() ─▶ fewer readers than processors are busy: the one that has rested for the shortest time, or a new one
//!        ─▶ else the queue ─▶ the next reader that is done
//!                          ─▶ after 20 ms: one more reader, as long as there may be more
//!                          ─▶ too late: Busy
//! ```
//! More busy readers than processors only cost time, unless those that are busy wait for the disk or compute for long: hence
//! the 20 ms. A reader that has nothing to do for a while closes its connection, which holds pages and prepared
//! statements, and ends.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

use super::conn::Conn;
use super::error::DbError;
use super::job::{DbJob, run_within};
use crate::vital;

/// How long a reader rests before it ends.
const MAX_REST: Duration = Duration::from_secs(30);
/// How long a read waits for a busy reader before there is one more; the queue is looked at as often.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// A read on its way.
pub(super) struct ReadJob {
    pub job: Box<dyn DbJob>,
    /// Its place among the reads that may be pending.
    pub permit: OwnedSemaphorePermit,
}

/// A read for one reader, with the only sender of its channel, which the reader gives away again when it rests: without
/// one it ends.
struct Handover {
    read: ReadJob,
    sender: Sender<Handover>,
}

/// All readers of one database file. They end once this is dropped.
pub(super) struct Readers(Arc<ReaderPool>);

/// Opens a connection to a database file, or says why it can't be opened.
type Connect = fn(&Path) -> Result<Conn, String>;

struct ReaderPool {
    path: PathBuf,
    connect: Connect,
    /// How many readers there may be.
    most: usize,
    /// How many of them are to be busy.
    usual: usize,
    /// The time limit of a read, and of its wait.
    limit: Duration,
    /// Where the queue is watched.
    runtime: Handle,
    state: Mutex<ReaderState>,
}

#[derive(Default)]
struct ReaderState {
    is_closed: bool,
    /// How many threads there are.
    readers: usize,
    /// Those that rest, with the one that was busy last at the end.
    resting: Vec<(u64, Sender<Handover>)>,
    /// With the time since when each waits.
    waiting: VecDeque<(Instant, ReadJob)>,
    is_watched: bool,
    last_rest: u64,
}

impl ReaderState {
    fn busy(&self) -> usize {
        self.readers - self.resting.len()
    }
}

impl ReadJob {
    fn refuse(mut self) {
        self.job.fail(DbError::Busy);
        self.job.answer();
    }
}

impl Readers {
    /// Allows `most` readers at once. Call it on the runtime where the queue is to be watched.
    pub(super) fn new(path: PathBuf, connect: Connect, most: usize, limit: Duration) -> Self {
        let usual = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(most);
        let (runtime, state) = (Handle::current(), Mutex::default());
        Self(Arc::new(ReaderPool { path, connect, most, usual, limit, runtime, state }))
    }

    /// Has a read run, which answers its caller.
    pub(super) fn take(&self, read: ReadJob) {
        let mut state = self.0.state();
        if state.busy() < self.0.usual {
            return self.0.hand_over(state, read);
        }
        state.waiting.push_back((Instant::now(), read));
        if !std::mem::replace(&mut state.is_watched, true) {
            self.0.runtime.spawn(vital::live("the watch of reads", watch(Arc::downgrade(&self.0))));
        }
    }
}

/// Watches the queue until it is empty: begins further readers, and refuses what has waited for too long.
async fn watch(pool: Weak<ReaderPool>) {
    loop {
        sleep(CHECK_INTERVAL).await;
        let Some(pool) = pool.upgrade() else { return };
        let (now, mut late) = (Instant::now(), Vec::new());
        let mut state = pool.state();
        while let Some((_, read)) = state.waiting.pop_front_if(|(since, _)| now.duration_since(*since) > pool.limit) {
            late.push(read);
        }
        if state.waiting.is_empty() {
            state.is_watched = false;
            drop(state);
            late.into_iter().for_each(ReadJob::refuse);
            return;
        }
        let one_more = if state.busy() < pool.most {
            state.waiting.pop_front_if(|(since, _)| now.duration_since(*since) >= CHECK_INTERVAL)
        } else {
            None
        };
        match one_more {
            Some((_, read)) => pool.hand_over(state, read),
            None => drop(state),
        }
        late.into_iter().for_each(ReadJob::refuse);
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_closed = true;
        // Those that rest end when their senders are gone, and what waits is answered as lost.
        let (resting, waiting) = (std::mem::take(&mut state.resting), std::mem::take(&mut state.waiting));
        drop(state);
        drop((resting, waiting));
    }
}

impl ReaderPool {
    fn state(&self) -> MutexGuard<'_, ReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a read to a reader that rests, or to a new one.
    fn hand_over(self: &Arc<Self>, mut state: MutexGuard<'_, ReaderState>, mut read: ReadJob) {
        while let Some((_, sender)) = state.resting.pop() {
            match sender.clone().send(Handover { read, sender }) {
                Ok(()) => return,
                // Its thread is gone.
                Err(error) => {
                    state.readers -= 1;
                    read = error.0.read;
                }
            }
        }
        state.readers += 1;
        drop(state);
        let pool = Arc::downgrade(self);
        let started = Builder::new_current_thread().enable_time().build().and_then(|runtime| {
            let (sender, reads) = channel();
            let reader = ReaderThread { pool, sender: Some(sender), reads, runtime, conn: None };
            std::thread::Builder::new().name("db-reader".to_owned()).spawn(move || reader.run(read))
        });
        // The read was dropped with the closure, so that its caller learns of it.
        if let Err(error) = started {
            tracing::error!(%error, "a thread of the database can't be started");
            self.state().readers -= 1;
        }
    }
}

/// The state of one thread.
struct ReaderThread {
    pool: Weak<ReaderPool>,
    /// `None` while it rests.
    sender: Option<Sender<Handover>>,
    reads: Receiver<Handover>,
    runtime: Runtime,
    conn: Option<Conn>,
}

impl ReaderThread {
    fn run(mut self, first: ReadJob) {
        let mut next = Some(first);
        while let Some(read) = next
            && let Some(pool) = self.pool.upgrade()
        {
            // A panic outside of the job costs its caller the answer, and this reader its connection.
            let _ = catch_unwind(AssertUnwindSafe(|| self.read(&pool, read)));
            drop(pool);
            next = self.next();
        }
    }

    /// The next read; `None` when this reader is to end.
    fn next(&mut self) -> Option<ReadJob> {
        let rest = {
            let pool = self.pool.upgrade()?;
            let mut state = pool.state();
            if let Some((_, read)) = state.waiting.pop_front() {
                return Some(read);
            }
            if state.is_closed {
                return None;
            }
            state.last_rest += 1;
            let rest = state.last_rest;
            state.resting.push((rest, self.sender.take()?));
            rest
        };
        let handover = match self.reads.recv_timeout(MAX_REST) {
            Ok(handover) => handover,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                let pool = self.pool.upgrade()?;
                let mut state = pool.state();
                match state.resting.iter().position(|(resting, _)| *resting == rest) {
                    Some(at) => {
                        state.resting.remove(at);
                        state.readers -= 1;
                        return None;
                    }
                    // Somebody took it at the last moment, and has sent its read.
                    None => self.reads.try_recv().ok()?,
                }
            }
        };
        self.sender = Some(handover.sender);
        Some(handover.read)
    }

    fn read(&mut self, pool: &ReaderPool, ReadJob { mut job, permit }: ReadJob) {
        if !job.begin() {
            return;
        }
        let conn = self.conn.take().map_or_else(|| (pool.connect)(&pool.path), Ok);
        match conn {
            Err(why) => job.fail(DbError::Unavailable(why)),
            Ok(mut conn) => {
                let is_usable = self.runtime.block_on(async {
                    run_within(pool.limit, job.as_mut(), &mut conn).await;
                    matches!(conn.depth().await, Ok(0))
                });
                if is_usable {
                    self.conn = Some(conn);
                }
            }
        }
        // Before the answer: who has it may read again.
        drop(permit);
        job.answer();
    }
}
