//! The single writer of SQLite: a thread that runs waiting jobs in one transaction and answers them after COMMIT.
//!
//! ```text
//!  write() ─ try_send ─▶ queue (bounded; full: Busy) ─▶ BEGIN IMMEDIATE
//!                                                        SAVEPOINT job RELEASE      success
//!                                                        SAVEPOINT job ROLLBACK TO  an error, a panic, a timeout
//!                                                       COMMIT ─▶ every answer
//! ```
//! A commit waits for the disk, whatever its size, so up to [`BATCH`] jobs share one. Measured on two cores with this
//! code, savepoints included, one INSERT per job (debug build, SQLite itself optimised): 1,900 writes/s from 1 caller,
//! 9,800 from 64, 11,200 from 256, by
//! `TMPDIR=<the disk> cargo test db::tests::writer::writes_a_second -- --ignored --nocapture`.
//!
//! SQLITE_FULL, IOERR, NOMEM and BUSY may roll back the whole transaction. This shows when the savepoint can't be
//! released or rolled back to. Then the connection is dropped, every job that ran in the batch is answered `Unknown`,
//! and the jobs that didn't run yet go into the next batch. The same happens when COMMIT fails. No job is answered `Ok`
//! before COMMIT.
//!
//! Between two batches the write-ahead log is checkpointed into the file and truncated, on request. The checkpoint
//! doesn't wait for readers: a backup that reads for an hour delays no write.
//!
//! A panic outside of any job ends the process: nothing else can write, and what the batch left behind is as after a kill.
//!
//! Deliberately absent: interrupting a statement that computes for long. SQLite runs in place on this thread, so the
//! time limit of a job is checked between its statements.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::conn::Conn;
use super::error::DbError;
use super::job::{DbJob, Ran, run_within};
use super::sqlite;
use crate::vital;

/// Maximum number of jobs in one transaction.
const BATCH: usize = 256;
/// A batch accepts no further job after this long, so that its first job doesn't wait for the slowest.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// The queue of the writer's thread. The thread ends once this is dropped and every queued job is written.
pub(super) struct Writer {
    queue: Sender<Order>,
}

/// A request to the thread.
enum Order {
    Write(Box<dyn DbJob>),
    /// Checkpoint and truncate the write-ahead log.
    EmptyLog(oneshot::Sender<Result<(), DbError>>),
}

impl Writer {
    /// Starts the thread with an open connection.
    ///
    /// # Errors
    /// Returns an error when the thread or its runtime can't be started.
    pub(super) fn start(path: PathBuf, conn: Conn, queue: usize, limit: Duration) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let (sender, jobs) = channel(queue);
        let desk = WriterLoop { path, conn: Some(conn), limit, waiting: VecDeque::new(), emptying: Vec::new() };
        std::thread::Builder::new().name("db-writer".to_owned()).spawn(move || {
            vital::run("the database's writer", || runtime.block_on(desk.serve(jobs)));
        })?;
        Ok(Self { queue: sender })
    }

    /// Queues a write.
    ///
    /// # Errors
    /// `Busy` when the queue is full; `Unavailable` when the thread has ended.
    pub(super) fn take(&self, job: Box<dyn DbJob>) -> Result<(), DbError> {
        self.send(Order::Write(job))
    }

    /// Checkpoints the write-ahead log into the file and truncates it, unless a reader still needs it.
    ///
    /// # Errors
    /// `Unavailable` when a reader does; `Busy` when the queue is full.
    pub(super) async fn empty_log(&self) -> Result<(), DbError> {
        let (back, answer) = oneshot::channel();
        self.send(Order::EmptyLog(back))?;
        answer.await.unwrap_or_else(|_gone| Err(DbError::Unavailable("the writer has ended".to_owned())))
    }

    fn send(&self, order: Order) -> Result<(), DbError> {
        self.queue.try_send(order).map_err(|error| match error {
            TrySendError::Full(_) => DbError::Busy,
            TrySendError::Closed(_) => DbError::Unavailable("the writer has ended".to_owned()),
        })
    }

    pub(super) fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }
}

/// The state of the thread.
struct WriterLoop {
    path: PathBuf,
    /// `None` after the last one was dropped.
    conn: Option<Conn>,
    limit: Duration,
    /// Received from the queue and not started yet.
    waiting: VecDeque<Box<dyn DbJob>>,
    /// The callers that wait for the log to be truncated.
    emptying: Vec<oneshot::Sender<Result<(), DbError>>>,
}

impl WriterLoop {
    async fn serve(mut self, mut orders: Receiver<Order>) {
        loop {
            if self.waiting.is_empty() {
                let Some(order) = orders.recv().await else { return };
                self.note(order);
            }
            while self.waiting.len() < BATCH {
                let Ok(order) = orders.try_recv() else { break };
                self.note(order);
            }
            // Drops queued jobs whose callers have gone: they never started, so they leave no doubt.
            self.waiting.retain_mut(|job| job.begin());
            if !self.waiting.is_empty() {
                self.write_batch().await;
            }
            if !self.emptying.is_empty() {
                let emptied = self.empty_log().await;
                for back in self.emptying.drain(..) {
                    // The caller may be gone.
                    let _ = back.send(emptied.clone());
                }
            }
        }
    }

    fn note(&mut self, order: Order) {
        match order {
            Order::Write(job) => self.waiting.push_back(job),
            Order::EmptyLog(back) => self.emptying.push(back),
        }
    }

    fn connection(&mut self) -> Result<Conn, DbError> {
        let conn = self.conn.take().map_or_else(|| sqlite::connect(&self.path, sqlite::Use::Write), Ok);
        conn.map_err(DbError::Unavailable)
    }

    async fn empty_log(&mut self) -> Result<(), DbError> {
        let mut conn = self.connection()?;
        let emptied = sqlite::empty_log(&mut conn).await?;
        self.conn = Some(conn);
        if emptied { Ok(()) } else { Err(DbError::Unavailable("the log of writes is in use".to_owned())) }
    }

    async fn write_batch(&mut self) {
        let mut conn = match self.connection() {
            Ok(conn) => conn,
            Err(failed) => return self.reject_waiting(&failed),
        };
        if let Err(error) = conn.begin_write().await {
            return self.reject_waiting(&DbError::from(error));
        }
        let mut ran = Vec::with_capacity(self.waiting.len());
        match self.run(&mut conn, &mut ran).await {
            Ok(()) => self.conn = Some(conn),
            Err(why) => {
                // Rolls back what it left open, before any job is answered.
                drop(conn);
                tracing::error!(why, jobs = ran.len(), "the outcome of a batch of writes is unknown");
                for job in &mut ran {
                    job.fail(DbError::Unknown(why.clone()));
                }
            }
        }
        for job in ran {
            job.answer();
        }
    }

    /// Runs the waiting jobs inside the open transaction, and ends it.
    ///
    /// # Errors
    /// Returns the reason why the outcome is unknown.
    async fn run(&mut self, conn: &mut Conn, ran: &mut Vec<Box<dyn DbJob>>) -> Result<(), String> {
        let began = Instant::now();
        // A single job needs no savepoint: the transaction itself does the same.
        if self.waiting.len() == 1 {
            let Some(job) = self.waiting.pop_front() else { return Ok(()) };
            ran.push(job);
            let Some(job) = ran.last_mut() else { return Ok(()) };
            if run_one(self.limit, conn, job.as_mut(), 1).await? {
                conn.commit().await.map_err(|error| error.to_string())?;
            }
            return Ok(());
        }
        while began.elapsed() < BATCH_TIME
            && let Some(job) = self.waiting.pop_front()
        {
            ran.push(job);
            let Some(job) = ran.last_mut() else { return Ok(()) };
            conn.begin_savepoint().await.map_err(|error| error.to_string())?;
            if run_one(self.limit, conn, job.as_mut(), 2).await? {
                conn.commit().await.map_err(|error| error.to_string())?;
            }
        }
        conn.commit().await.map_err(|error| error.to_string())
    }

    /// Answers all waiting jobs with an error: none of them started.
    fn reject_waiting(&mut self, failed: &DbError) {
        for mut job in self.waiting.drain(..) {
            job.fail(failed.clone());
            job.answer();
        }
    }
}

/// Runs a job whose own transaction or savepoint is at `depth`, and rolls it back unless it is to be committed.
///
/// # Errors
/// Returns the reason why the outcome is unknown: the transaction has changed underneath the job.
async fn run_one(limit: Duration, conn: &mut Conn, job: &mut dyn DbJob, depth: u32) -> Result<bool, String> {
    let ran = run_within(limit, job, conn).await;
    let mut now = conn.depth().await.map_err(|error| error.to_string())?;
    if ran == Ran::Commit {
        if now == depth {
            return Ok(true);
        }
        job.fail(DbError::Broken("a database job dropped an open transaction".to_owned()));
    }
    if now < depth {
        return Err("the database ended the transaction by itself".to_owned());
    }
    while now >= depth {
        conn.roll_back().await.map_err(|error| error.to_string())?;
        now -= 1;
    }
    Ok(false)
}
