//! The one writer of SQLite: a thread that puts the jobs that wait into one transaction, and answers them after COMMIT.
//!
//! ```text
//!  write() ─ try_send ─▶ queue (bounded; full: Busy) ─▶ BEGIN IMMEDIATE
//!                                                        SAVEPOINT job RELEASE      kept
//!                                                        SAVEPOINT job ROLLBACK TO  an error, a panic, its limit
//!                                                       COMMIT ─▶ every answer
//! ```
//! A commit waits for the disk, whatever is in it: so up to [`BATCH`] jobs share one. Measured on two cores with this code,
//! savepoints and all, one INSERT a job (debug build, SQLite itself optimised): 1,900 writes/s from 1 caller, 9,800 from 64,
//! 11,200 from 256, by `TMPDIR=<the disk> cargo test db::tests::writer::writes_a_second -- --ignored --nocapture`.
//!
//! SQLITE_FULL, IOERR, NOMEM and BUSY may undo the whole transaction. It shows when the savepoint can't be released or
//! rolled back to. Then the connection is dropped, every job that ran in the batch is Unknown, and those that didn't run
//! yet go into the next batch. The same if COMMIT fails. Nobody is told Ok before COMMIT.
//!
//! Between two batches the log of writes is carried over into the file and emptied, when somebody asks for that. It doesn't
//! wait for readers: a backup that reads for an hour holds up no write.
//!
//! Deliberately absent: stopping a statement that computes for long. SQLite runs in place on this thread, so the limit
//! of a job is looked at between its statements.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use super::conn::Conn;
use super::failed::Failed;
use super::job::{Job, Ran, run_within};
use super::sqlite;

/// As many jobs as one transaction holds at most.
const BATCH: usize = 256;
/// A batch takes no further job after this long, so that the first in it need not wait for the slowest.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// The queue of the writer's thread. The thread ends when this is dropped and all that waits is written.
pub(super) struct Writer {
    queue: Sender<Order>,
}

/// What the thread is asked for.
enum Order {
    Write(Box<dyn Job>),
    /// To empty the log of writes.
    EmptyLog(oneshot::Sender<Result<(), Failed>>),
}

impl Writer {
    /// Starts the thread with a connection that works already.
    ///
    /// # Errors
    /// The machine gives no thread.
    pub(super) fn start(path: PathBuf, conn: Conn, queue: usize, limit: Duration) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let (sender, jobs) = channel(queue);
        let desk = Desk { path, conn: Some(conn), limit, waiting: VecDeque::new(), emptying: Vec::new() };
        std::thread::Builder::new().name("db-writer".to_owned()).spawn(move || runtime.block_on(desk.serve(jobs)))?;
        Ok(Self { queue: sender })
    }

    /// # Errors
    /// `Busy`: the queue is full. `Unavailable`: the thread is gone.
    pub(super) fn take(&self, job: Box<dyn Job>) -> Result<(), Failed> {
        self.send(Order::Write(job))
    }

    /// Carries the log of writes over into the file and empties it, if nobody reads what is in it.
    ///
    /// # Errors
    /// `Unavailable`: somebody does. `Busy`: the queue is full.
    pub(super) async fn empty_log(&self) -> Result<(), Failed> {
        let (back, answer) = oneshot::channel();
        self.send(Order::EmptyLog(back))?;
        answer.await.unwrap_or_else(|_gone| Err(Failed::Unavailable("the writer has ended".to_owned())))
    }

    fn send(&self, order: Order) -> Result<(), Failed> {
        self.queue.try_send(order).map_err(|error| match error {
            TrySendError::Full(_) => Failed::Busy,
            TrySendError::Closed(_) => Failed::Unavailable("the writer has ended".to_owned()),
        })
    }

    pub(super) fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }
}

/// What the thread works with.
struct Desk {
    path: PathBuf,
    /// `None`: the last one was dropped.
    conn: Option<Conn>,
    limit: Duration,
    /// Taken from the queue and not begun.
    waiting: VecDeque<Box<dyn Job>>,
    /// Who waits for the log to be empty.
    emptying: Vec<oneshot::Sender<Result<(), Failed>>>,
}

impl Desk {
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
            // A job that nobody waits for and that didn't begin need not: its caller has called it unknown.
            self.waiting.retain(|job| job.begin());
            if !self.waiting.is_empty() {
                self.write_batch().await;
            }
            if !self.emptying.is_empty() {
                let emptied = self.empty_log().await;
                for back in self.emptying.drain(..) {
                    // Who went away needs no answer.
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

    fn connection(&mut self) -> Result<Conn, Failed> {
        let conn = self.conn.take().map_or_else(|| sqlite::connect(&self.path, sqlite::Use::Write), Ok);
        conn.map_err(Failed::Unavailable)
    }

    async fn empty_log(&mut self) -> Result<(), Failed> {
        let mut conn = self.connection()?;
        let emptied = sqlite::empty_log(&mut conn).await?;
        self.conn = Some(conn);
        if emptied { Ok(()) } else { Err(Failed::Unavailable("the log of writes is in use".to_owned())) }
    }

    async fn write_batch(&mut self) {
        let mut conn = match self.connection() {
            Ok(conn) => conn,
            Err(failed) => return self.turn_away(&failed),
        };
        if let Err(error) = conn.begin_write().await {
            return self.turn_away(&Failed::from(error));
        }
        let mut ran = Vec::with_capacity(self.waiting.len());
        match self.run(&mut conn, &mut ran).await {
            Ok(()) => self.conn = Some(conn),
            Err(why) => {
                // What it left open is undone before anybody hears of it.
                drop(conn);
                tracing::error!(why, jobs = ran.len(), "a batch of writes is unknown");
                for job in &mut ran {
                    job.spoil(Failed::Unknown(why.clone()));
                }
            }
        }
        for job in ran {
            job.answer();
        }
    }

    /// Runs what waits, inside the open transaction, and ends it.
    ///
    /// # Errors
    /// Why nobody knows what was written.
    async fn run(&mut self, conn: &mut Conn, ran: &mut Vec<Box<dyn Job>>) -> Result<(), String> {
        let began = Instant::now();
        // The transaction itself does what a savepoint would.
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

    /// Answers all that waits: none of it began.
    fn turn_away(&mut self, failed: &Failed) {
        for mut job in self.waiting.drain(..) {
            job.spoil(failed.clone());
            job.answer();
        }
    }
}

/// Runs a job whose own transaction or savepoint is the `depth`th, and rolls it back unless it is to be kept.
///
/// # Errors
/// Why nobody knows what was written: the transaction is no longer what it was.
async fn run_one(limit: Duration, conn: &mut Conn, job: &mut dyn Job, depth: u32) -> Result<bool, String> {
    let ran = run_within(limit, job, conn).await;
    let mut now = conn.depth().await.map_err(|error| error.to_string())?;
    if ran == Ran::Keep {
        if now == depth {
            return Ok(true);
        }
        job.spoil(Failed::Broken("a job dropped a transaction in the middle".to_owned()));
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
