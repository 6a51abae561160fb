//! The database layer: all access to SQLite and PostgreSQL goes through [`Db`].
//!
//! ```text
//!  db.read(job)   SQLite: a reader's thread          PostgreSQL: a connection of the pool
//!  db.write(job)  SQLite: one writer, group commit   PostgreSQL: a transaction of its own
//! ```
//! A job is a closure that borrows a [`Conn`] and must touch nothing else: no HTTP, no actor, no other read or write (a
//! nested one is refused). A write is one transaction: an `Err` rolls all of it back. A job that continues after a
//! statement that may fail wraps that statement in [`Conn::transaction`], because PostgreSQL rejects every statement
//! after a failed one. Nothing is read past a write whose outcome is unknown (see `doubts`).
//!
//! ```ignore
//! let user: Option<User> = db.read(move |c| Box::pin(async move {
//!     Ok::<_, DbError>(users::table.find(id).select(User::columns()).first(c).await.optional()?)
//! })).await?;
//! db.write(move |c| Box::pin(async move {
//!     diesel::insert_into(users::table).values(&user).execute(c).await?;
//!     Ok::<_, DbError>(())
//! })).await?;
//! ```
//! The caller chooses the error type of a job: anything with `From<DbError>`. Everything runs on a dedicated runtime,
//! so that the caller may be any actix worker, arbiter or test: a connection dies with the runtime that opened it.

mod at_once;
mod conn;
mod connect;
mod doubts;
mod error;
pub mod events;
mod group_commit;
pub mod idempotency;
mod instance_lease;
mod job;
pub mod journal;
mod kept;
mod lease;
mod list;
mod postgres;
pub mod rate_limits;
mod readers;
pub mod schema;
mod search;
pub mod snapshot;
mod sql;
mod sqlite;
mod statements;
mod suspicion;
pub mod sweep;
mod write_check;
mod writer;

#[cfg(test)]
pub(crate) mod tests;

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::Instant;

use self::doubts::Doubts;
use self::job::DbJob;
use self::readers::ReadJob;
use self::write_check::WriteCheck;

pub(crate) use self::at_once::at_once;
pub use self::conn::{AtOnce, Columns, Conn, RunQueryDsl};
pub(crate) use self::conn::{ROWS, ROWS_KEPT, each, many};
pub use self::doubts::Settled;
pub use self::error::{Constraint, DbError};
pub use self::instance_lease::{HeldBy, InstanceLease};
pub use self::kept::kept;
pub use self::list::{PAGE_BYTES, bytes_of, coalesce, is_wanted, octet_length, rows_of_page};
pub(crate) use self::list::{page_by_bytes, page_of, total_of};
pub use self::search::{contains, is_found};
pub use self::sql::{UtcTime, Uuid, number};

/// Database URL and limits.
#[derive(Clone)]
pub struct DbSettings {
    /// `sqlite://data/colloquy.sqlite`, `sqlite:///absolute/path` or `postgres://user:password@host/database`.
    pub url: String,
    /// PostgreSQL: maximum number of connections. SQLite: number of readers; there is one writer in addition.
    pub connections: usize,
    /// How many reads, and separately how many writes, may be pending; any more fail with [`DbError::Busy`].
    pub queue: usize,
    /// Time limit of a whole read or write on PostgreSQL; on SQLite of the job alone, without its time in the queue.
    /// Waiting for the outcome of an earlier write takes at most half of it.
    pub limit: Duration,
}

impl DbSettings {
    /// Returns settings with the limits that all measurements were made with.
    #[must_use]
    pub fn at(url: impl Into<String>) -> Self {
        Self { url: url.into(), connections: 8, queue: 4096, limit: Duration::from_secs(2) }
    }
}

/// Why a database can't be opened, as a message for the person who starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError(pub String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for OpenError {}

/// A handle to the database. Clones share it.
#[derive(Clone)]
pub struct Db {
    open: Arc<Open>,
}

enum Backend {
    Sqlite(sqlite::Sqlite),
    Postgres(postgres::Postgres),
}

/// Whether a write on PostgreSQL is committed only while this server still holds the instance lease.
#[derive(Debug, Clone, Copy)]
enum Fencing {
    ByTheLease,
    Not,
}

struct Open {
    backend: Arc<Backend>,
    doubts: Doubts,
    limit: Duration,
    reads: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    write_check: WriteCheck,
    handle: Handle,
    /// `None` only during drop.
    runtime: Option<Runtime>,
}

impl Drop for Open {
    fn drop(&mut self) {
        // Any other way to end a runtime panics when the last clone is dropped in async code.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Db {
    /// Opens the database and runs pending migrations.
    ///
    /// # Errors
    /// Returns a message when the URL is of neither kind, the database can't be reached, or a migration fails.
    pub async fn open(settings: DbSettings) -> Result<Self, OpenError> {
        statements::count()?;
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            // On PostgreSQL a job and its connection speak to each other for each statement: the fewer threads, the less they
            // wait. Two at least, as a job that computes would hold up all others.
            .worker_threads(cores.div_ceil(2).max(2))
            .max_blocking_threads(4)
            .thread_name("db")
            .enable_all()
            .build()
            .map_err(|error| OpenError(format!("the database's threads can't be started: {error}")))?;
        let (reads, writes, limit) = (settings.queue, settings.queue, settings.limit);
        let handle = runtime.handle().clone();
        let opened = handle.spawn(async move { open_backend(settings).await }).await;
        let opened = opened.map_err(|error| OpenError(format!("opening the database failed: {error}"))).flatten();
        let backend = match opened {
            Ok(backend) => backend,
            Err(error) => {
                // Dropping it in async code would panic and hide the error.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let open = Open {
            backend: Arc::new(backend),
            doubts: Doubts::none(),
            limit,
            reads: Arc::new(Semaphore::new(reads)),
            writes: Arc::new(Semaphore::new(writes)),
            write_check: WriteCheck::new(),
            handle,
            runtime: Some(runtime),
        };
        Ok(Self { open: Arc::new(open) })
    }

    /// Runs a read-only job. Queries that must see one consistent state go into one [`Conn::transaction`].
    ///
    /// # Errors
    /// Returns the job's own error, or a [`DbError`] converted into it.
    pub async fn read<T, E>(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        refuse_nested("read")?;
        metrics::counter!("colloquy_database_reads_total").increment(1);
        let permit = Arc::clone(&self.open.reads).try_acquire_owned().map_err(|_full| DbError::Busy)?;
        let (mut job, answer) = job::ask(job, None);
        if let Backend::Sqlite(sqlite) = self.open.backend.as_ref()
            && self.open.doubts.is_none()
        {
            sqlite.readers.take(ReadJob { job, permit });
            return received(answer).await;
        }
        let (backend, doubts, limit) = (Arc::clone(&self.open.backend), self.open.doubts.clone(), self.open.limit);
        self.open.handle.spawn(async move {
            let deadline = Instant::now() + limit;
            match (doubts.wait_until_none_within(limit / 2).await, backend.as_ref()) {
                (Err(failed), _) => {
                    job.fail(failed);
                    job.answer();
                }
                (Ok(()), Backend::Sqlite(sqlite)) => sqlite.readers.take(ReadJob { job, permit }),
                (Ok(()), Backend::Postgres(postgres)) => {
                    postgres.read(job, deadline).await;
                    drop(permit);
                }
            }
        });
        received(answer).await
    }

    /// Runs a job in its own transaction and returns once the commit is durable. If the returned future is dropped, a
    /// job that is still queued is not started, and one that was started runs to its end.
    ///
    /// # Errors
    /// Returns the job's own error, or a [`DbError`] converted into it; then nothing was written, except after
    /// [`DbError::Unknown`].
    pub async fn write<T, E>(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.write_as(Fencing::ByTheLease, self.deadline(), job).await
    }

    /// [`Self::write`] for the lease row: it is not fenced by the lease and doesn't wait for writes in doubt.
    async fn write_unguarded<T, E>(
        &self,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.write_as(Fencing::Not, self.deadline(), job).await
    }

    /// The latest end of a write that begins now.
    fn deadline(&self) -> Instant {
        Instant::now() + self.open.limit
    }

    /// The deadline counts on PostgreSQL only.
    async fn write_as<T, E>(
        &self,
        guarded: Fencing,
        deadline: Instant,
        job: impl for<'c> FnOnce(&'c mut Conn) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        refuse_nested("write")?;
        let (caller, course) = self.open.doubts.write();
        let (job, answer) = job::ask(job, Some(course));
        match self.open.backend.as_ref() {
            // Writes in doubt are ahead of it in the single queue.
            Backend::Sqlite(sqlite) => sqlite.writer.take(job)?,
            Backend::Postgres(_) => {
                let permit = Arc::clone(&self.open.writes).try_acquire_owned().map_err(|_full| DbError::Busy)?;
                self.start_write(guarded, job, deadline, permit);
            }
        }
        let answer = received(answer).await;
        caller.answered();
        answer
    }

    /// Starts a write on PostgreSQL; `held` is dropped when its outcome is known.
    fn start_write(&self, guarded: Fencing, mut job: Box<dyn DbJob>, deadline: Instant, held: impl Send + 'static) {
        let (backend, doubts, limit) = (Arc::clone(&self.open.backend), self.open.doubts.clone(), self.open.limit);
        self.open.handle.spawn(async move {
            let Backend::Postgres(postgres) = backend.as_ref() else { return };
            match guarded {
                Fencing::Not => postgres.write_guarded(None, job, deadline).await,
                Fencing::ByTheLease => match doubts.wait_until_none_within(limit / 2).await {
                    Ok(()) => postgres.write(job, deadline).await,
                    Err(failed) => {
                        job.fail(failed);
                        job.answer();
                    }
                },
            }
            drop(held);
        });
    }

    /// Waits until the outcome of every started write whose caller didn't learn it is known and visible to readers. The
    /// caller may have got [`DbError::Unknown`], or may have gone away.
    pub async fn wait_for_outcomes(&self) {
        self.open.doubts.wait_until_none().await;
    }

    /// Returns a subscription to the end of such writes: nothing was published about what they changed.
    #[must_use]
    pub fn settled(&self) -> Settled {
        self.open.doubts.settled()
    }

    /// Makes the database overwrite deleted data where it doesn't do so by itself. SQLite's write-ahead log holds
    /// deleted bytes until it is checkpointed into the file (where they are overwritten at once). Does nothing on
    /// PostgreSQL.
    ///
    /// # Errors
    /// Returns `Unavailable` when a reader blocks the checkpoint for too long; a later call may succeed. No write waits
    /// for it.
    pub async fn overwrite_deleted(&self) -> Result<(), DbError> {
        match self.open.backend.as_ref() {
            Backend::Sqlite(sqlite) => sqlite.overwrite_deleted().await,
            Backend::Postgres(_) => Ok(()),
        }
    }

    /// Returns how many statements this process has sent to databases, BEGIN and COMMIT included. For metrics.
    #[must_use]
    pub fn statements_sent(&self) -> u64 {
        statements::sent()
    }

    /// Returns how many jobs wait: in the writer's queue on SQLite, for a connection on PostgreSQL. For metrics.
    #[must_use]
    pub fn waiting(&self) -> usize {
        match self.open.backend.as_ref() {
            Backend::Sqlite(sqlite) => sqlite.writer.waiting(),
            Backend::Postgres(postgres) => postgres.waiting(),
        }
    }
}

async fn open_backend(settings: DbSettings) -> Result<Backend, OpenError> {
    if let Some(path) = sqlite::path(&settings.url) {
        let opened = tokio::task::spawn_blocking(move || sqlite::Sqlite::open(path, &settings)).await;
        return opened.map_err(|error| OpenError(error.to_string()))?.map(Backend::Sqlite);
    }
    if settings.url.starts_with("postgres://") || settings.url.starts_with("postgresql://") {
        return postgres::Postgres::open(&settings).await.map(Backend::Postgres);
    }
    // Without the URL itself: it may contain a password.
    Err(OpenError("the database's URL must begin with sqlite:// (and name a file) or postgres://".to_owned()))
}

/// Refuses a read or write inside a job: it would hold one connection while waiting for another, a deadlock under load.
fn refuse_nested(what: &str) -> Result<(), DbError> {
    if job::is_inside() {
        return Err(DbError::Broken(format!(
            "a database job called {what}: it must use the connection that it was given"
        )));
    }
    Ok(())
}

async fn received<T, E: From<DbError>>(answer: oneshot::Receiver<Result<T, E>>) -> Result<T, E> {
    answer.await.unwrap_or_else(|_gone| {
        Err(E::from(DbError::Unknown("the database was closed during the operation".to_owned())))
    })
}
