//! Keeps everything: the only way to SQLite and PostgreSQL.
//!
//! ```text
//!  db.read(job)   SQLite: a reader's thread          PostgreSQL: a connection of the pool
//!  db.write(job)  SQLite: one writer, group commit   PostgreSQL: a transaction of its own
//! ```
//! A job is a closure that is lent a [`Conn`] and touches nothing else: no HTTP, no actor, no other read or write (that is
//! refused). A write is one transaction: an `Err` undoes all of it. A job that wants to go on after a statement that
//! may fail puts that one into [`Conn::transaction`], as PostgreSQL refuses everything after a failed statement.
//! Nothing is read past a write that nobody knows the outcome of (`doubts`).
//!
//! ```ignore
//! let user: Option<User> = db.read(move |c| Box::pin(async move {
//!     Ok::<_, Failed>(users::table.find(Key(id)).select(User::columns()).first(c).await.optional()?)
//! })).await?;
//! db.write(move |c| Box::pin(async move {
//!     diesel::insert_into(users::table).values(&user).execute(c).await?;
//!     Ok::<_, Failed>(())
//! })).await?;
//! ```
//! The error of a job is the caller's: anything with `From<Failed>`. Everything runs on a runtime of its own, so that the
//! caller may be any actix worker, arbiter or test: a connection would die with the runtime that opened it.

mod alone;
pub mod attempts;
mod conn;
mod doubts;
pub mod events;
mod failed;
pub mod idempotency;
mod idle;
mod job;
mod lease;
mod postgres;
pub mod schema;
mod search;
mod sql;
mod sqlite;
mod suspicion;
pub mod sweep;
mod writer;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

use self::doubts::Doubts;

pub use self::alone::{Alone, TakenBy};
#[cfg(test)]
pub(crate) use self::conn::each;
pub use self::conn::{Columns, Conn, RunQueryDsl};
pub(crate) use self::conn::{ROWS, many};
pub use self::doubts::Settled;
pub use self::failed::{Constraint, Failed};
pub use self::search::{like, lower};
pub use self::sql::{At, Key, UtcTime, Uuid};

/// Where the database is, and its bounds.
#[derive(Clone)]
pub struct Settings {
    /// `sqlite://data/colloquy.sqlite`, `sqlite:///absolute/path` or `postgres://user:password@host/database`.
    pub url: String,
    /// PostgreSQL: connections in all. SQLite: readers; there is one writer besides.
    pub connections: usize,
    /// How many reads, and how many writes, may wait; more are [`Failed::Busy`].
    pub queue: usize,
    /// For a whole read or write on PostgreSQL; on SQLite for the job alone, without its time in the queue. A read waits for
    /// half of it at most until it is known what became of an earlier write.
    pub limit: Duration,
}

impl Settings {
    /// The bounds that were measured with.
    #[must_use]
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: url.into(), connections: 8, queue: 4096, limit: Duration::from_secs(2) }
    }
}

/// Why a database can't be opened, in words for whoever starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError(pub String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for OpenError {}

/// The database. Clones are the same one.
#[derive(Clone)]
pub struct Db {
    open: Arc<Open>,
}

enum Kept {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

/// Whether a write of a server on PostgreSQL is kept only where the server still has its lease.
#[derive(Debug, Clone, Copy)]
enum Guarded {
    ByTheLease,
    Not,
}

struct Open {
    kept: Arc<Kept>,
    doubts: Doubts,
    limit: Duration,
    reads: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    handle: Handle,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Open {
    fn drop(&mut self) {
        // Any other end of a runtime panics when the last clone is dropped by async code.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Db {
    /// Opens the database and brings its tables up to date.
    ///
    /// # Errors
    /// In words: the URL is neither kind, the database can't be reached, or its tables can't be changed.
    pub async fn open(settings: Settings) -> Result<Self, OpenError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(settings.connections + 2)
            .thread_name("db")
            .enable_all()
            .build()
            .map_err(|error| OpenError(format!("the database's threads can't be started: {error}")))?;
        let (reads, writes, limit) = (settings.queue, settings.queue, settings.limit);
        let handle = runtime.handle().clone();
        let opened = handle.spawn(async move { open_kept(settings).await }).await;
        let opened = opened.map_err(|error| OpenError(format!("opening the database failed: {error}"))).flatten();
        let kept = match opened {
            Ok(kept) => kept,
            Err(error) => {
                // Dropped by async code it would panic instead of saying why.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let open = Open {
            kept: Arc::new(kept),
            doubts: Doubts::none(),
            limit,
            reads: Arc::new(Semaphore::new(reads)),
            writes: Arc::new(Semaphore::new(writes)),
            handle,
            runtime: Some(runtime),
        };
        Ok(Self { open: Arc::new(open) })
    }

    /// Runs a job that only reads. Several queries that must see one state go into [`Conn::transaction`].
    ///
    /// # Errors
    /// The job's own, or [`Failed`] as that.
    pub async fn read<T, E>(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Failed> + Send + 'static,
    {
        refuse_nested("read")?;
        metrics::counter!("colloquy_database_reads_total").increment(1);
        let permit = Arc::clone(&self.open.reads).try_acquire_owned().map_err(|_full| Failed::Busy)?;
        let (mut job, answer) = job::ask(job, None);
        let (kept, doubts, limit) = (Arc::clone(&self.open.kept), self.open.doubts.clone(), self.open.limit);
        self.open.handle.spawn(async move {
            let deadline = Instant::now() + limit;
            match (doubts.settle_within(limit / 2).await, kept.as_ref()) {
                (Err(failed), _) => {
                    job.spoil(failed);
                    job.answer();
                }
                (Ok(()), Kept::Sqlite(sqlite)) => sqlite.read(job).await,
                (Ok(()), Kept::Postgres(postgres)) => postgres.read(job, deadline).await,
            }
            drop(permit);
        });
        heard(answer).await
    }

    /// Runs a job in a transaction of its own, and answers once it is on the disk. If the returned future is dropped, a job
    /// that waits is not begun, and one that was begun goes on.
    ///
    /// # Errors
    /// The job's own, or [`Failed`] as that; then nothing was written, except for [`Failed::Unknown`].
    pub async fn write<T, E>(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Failed> + Send + 'static,
    {
        self.write_as(Guarded::ByTheLease, job).await
    }

    /// [`Self::write`] of the lease itself: it waits for nothing that is in doubt.
    async fn write_unguarded<T, E>(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Failed> + Send + 'static,
    {
        self.write_as(Guarded::Not, job).await
    }

    async fn write_as<T, E>(
        &self,
        guarded: Guarded,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Failed> + Send + 'static,
    {
        refuse_nested("write")?;
        let (caller, course) = self.open.doubts.write();
        let (mut job, answer) = job::ask(job, Some(course));
        match self.open.kept.as_ref() {
            // What is in doubt is before it in the one queue.
            Kept::Sqlite(sqlite) => sqlite.writer.take(job)?,
            Kept::Postgres(_) => {
                let permit = Arc::clone(&self.open.writes).try_acquire_owned().map_err(|_full| Failed::Busy)?;
                let (kept, doubts, limit) = (Arc::clone(&self.open.kept), self.open.doubts.clone(), self.open.limit);
                self.open.handle.spawn(async move {
                    let Kept::Postgres(postgres) = kept.as_ref() else { return };
                    let deadline = Instant::now() + limit;
                    match guarded {
                        Guarded::Not => postgres.write_guarded(None, job, deadline).await,
                        Guarded::ByTheLease => match doubts.settle_within(limit / 2).await {
                            Ok(()) => postgres.write(job, deadline).await,
                            Err(failed) => {
                                job.spoil(failed);
                                job.answer();
                            }
                        },
                    }
                    drop(permit);
                });
            }
        }
        let answer = heard(answer).await;
        caller.heard();
        answer
    }

    /// Returns when it is known, and visible to whoever reads, what became of every write that was begun and that
    /// nobody heard of: it may have been answered [`Failed::Unknown`], or its caller may have gone away.
    pub async fn settle(&self) {
        self.open.doubts.settle().await;
    }

    /// Hears whenever such a write has come to its end: what it changed was told to nobody.
    #[must_use]
    pub fn settled(&self) -> Settled {
        self.open.doubts.settled()
    }

    /// Has the database overwrite what was deleted, where that is not its own affair: SQLite's log of writes still has
    /// it, until it is carried over into the file (where deleted bytes are overwritten at once).
    ///
    /// # Errors
    /// `Unavailable`: somebody reads for too long; later it may work. Nobody waits for that, least of all a write.
    pub async fn overwrite_deleted(&self) -> Result<(), Failed> {
        match self.open.kept.as_ref() {
            Kept::Sqlite(sqlite) => sqlite.overwrite_deleted().await,
            Kept::Postgres(_) => Ok(()),
        }
    }

    /// How many jobs wait: for metrics.
    #[must_use]
    pub fn waiting(&self) -> usize {
        match self.open.kept.as_ref() {
            Kept::Sqlite(sqlite) => sqlite.writer.waiting(),
            Kept::Postgres(postgres) => postgres.waiting(),
        }
    }
}

async fn open_kept(settings: Settings) -> Result<Kept, OpenError> {
    if let Some(path) = sqlite::path(&settings.url) {
        let opened = tokio::task::spawn_blocking(move || sqlite::Sqlite::open(path, &settings)).await;
        return opened.map_err(|error| OpenError(error.to_string()))?.map(Kept::Sqlite);
    }
    if settings.url.starts_with("postgres://") || settings.url.starts_with("postgresql://") {
        return postgres::Postgres::open(&settings).await.map(Kept::Postgres);
    }
    // Without the URL itself: it may hold a password.
    Err(OpenError("the database's URL must begin with sqlite:// (and name a file) or postgres://".to_owned()))
}

/// A job that asked for another would hold one connection while it waits for a second: a deadlock under load.
fn refuse_nested(what: &str) -> Result<(), Failed> {
    if job::is_inside() {
        return Err(Failed::Broken(format!("a job called {what}: it must use the connection it was lent")));
    }
    Ok(())
}

async fn heard<T, E: From<Failed>>(answer: oneshot::Receiver<Result<T, E>>) -> Result<T, E> {
    answer
        .await
        .unwrap_or_else(|_gone| Err(E::from(Failed::Unknown("the database was closed in the middle".to_owned()))))
}
