//! SQLite: how the database file is opened, and its readers. The writer is in `writer`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Integer;
use diesel::{Connection, QueryableByName, SqliteConnection};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::conn::{Conn, InPlace, LiteConn};
use super::error::DbError;
use super::idle::Idle;
use super::job::{DbJob, run_within};
use super::writer::Writer;
use super::{DbSettings, OpenError};

/// How long to wait for a lock of another process, such as an operator command.
const BUSY_TIMEOUT: &str = "PRAGMA busy_timeout = 2000";
/// Bytes of the file that are memory-mapped: SQLite's maximum. Pages beyond are copied into each connection's own
/// memory.
const MOST_MAPPED: u64 = 0x7fff_0000;
/// Delay between two attempts to truncate the write-ahead log.
const LOG_AGAIN: Duration = Duration::from_millis(50);

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

/// An open database file: one writer, several readers.
pub(super) struct Sqlite {
    pub(super) path: PathBuf,
    pub(super) writer: Writer,
    idle: Mutex<Idle<Conn>>,
    readers: Semaphore,
    limit: Duration,
}

impl Sqlite {
    /// Creates the file and its folder if missing, and runs pending migrations. Blocks the thread.
    pub(super) fn open(path: PathBuf, settings: &DbSettings) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| OpenError(format!("the folder {} can't be created: {error}", folder.display())))?;
        }
        migrate(&path)?;
        let conn = connect(&path, Use::Write).map_err(OpenError)?;
        let writer = Writer::start(path.clone(), conn, settings.queue, settings.limit)
            .map_err(|error| OpenError(format!("the writer's thread can't be started: {error}")))?;
        let readers = Semaphore::new(settings.connections);
        Ok(Self { path, writer, idle: Mutex::default(), readers, limit: settings.limit })
    }

    /// Has the write-ahead log checkpointed and truncated as soon as no reader needs it; fails after the time limit.
    pub(super) async fn overwrite_deleted(&self) -> Result<(), DbError> {
        let deadline = Instant::now() + self.limit;
        loop {
            match self.writer.empty_log().await {
                Err(in_use) if Instant::now() >= deadline => return Err(in_use),
                Err(_in_use) => sleep(LOG_AGAIN).await,
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Runs a read on a blocking thread and answers it.
    pub(super) async fn read(&self, mut job: Box<dyn DbJob>) {
        // The permit is held until the thread is done.
        let permit = match tokio::time::timeout(self.limit, self.readers.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) | Err(_) => {
                job.spoil(DbError::Busy);
                return job.answer();
            }
        };
        if !job.begin() {
            return;
        }
        let here = Handle::current();
        let limit = self.limit;
        let path = self.path.clone();
        let conn = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = tokio::task::spawn_blocking(move || {
            let conn = conn.map_or_else(|| connect(&path, Use::Read), Ok);
            let mut conn = match conn {
                Ok(conn) => conn,
                Err(why) => {
                    job.spoil(DbError::Unavailable(why));
                    job.answer();
                    return None;
                }
            };
            let usable = here.block_on(async {
                run_within(limit, job.as_mut(), &mut conn).await;
                matches!(conn.depth().await, Ok(0))
            });
            job.answer();
            usable.then_some(conn)
        });
        if let Ok(Some(conn)) = done.await {
            let closed = self.idle.lock().unwrap_or_else(PoisonError::into_inner).put(conn, Instant::now());
            if !closed.is_empty() {
                // Closing a connection may write.
                tokio::task::spawn_blocking(move || drop(closed));
            }
        }
        drop(permit);
    }
}

#[derive(QueryableByName)]
struct Checkpoint {
    #[diesel(sql_type = Integer)]
    busy: i32,
}

/// Checkpoints the write-ahead log into the file as far as readers allow, and truncates it if they don't need it any
/// more; returns whether it is empty. It doesn't wait for readers, because the caller has the only connection that
/// writes.
///
/// # Errors
/// Returns an error after which the connection must be dropped.
pub(super) async fn empty_log(conn: &mut Conn) -> Result<bool, DbError> {
    let Conn::Sqlite(lite) = conn else { return Ok(true) };
    lite.batch_execute("PRAGMA busy_timeout = 0").await?;
    let done = diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)").get_result::<Checkpoint>(lite).await;
    lite.batch_execute(BUSY_TIMEOUT).await?;
    match done {
        Ok(done) => Ok(done.busy == 0),
        Err(error) => match DbError::from(error) {
            DbError::Unavailable(_) => Ok(false),
            other => Err(other),
        },
    }
}

/// The path in `sqlite://data/colloquy.sqlite` (relative) or `sqlite:///var/lib/colloquy.sqlite`.
pub(super) fn path(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite://")?;
    (!path.is_empty() && path != ":memory:").then(|| PathBuf::from(path))
}

/// Opens a connection.
///
/// # Errors
/// Returns a message that says why the file can't be opened.
pub(super) fn connect(path: &Path, purpose: Use) -> Result<Conn, String> {
    let conn = establish(path, purpose)?;
    Ok(Conn::Sqlite(LiteConn::with_runtime(conn, InPlace)))
}

fn establish(path: &Path, purpose: Use) -> Result<SqliteConnection, String> {
    let name = path.to_str().ok_or("the path of the database is not valid UTF-8")?;
    let mut conn = SqliteConnection::establish(name).map_err(|error| format!("{name} can't be opened: {error}"))?;
    // synchronous=FULL: in WAL mode anything less loses acknowledged writes when the power fails.
    conn.batch_execute(BUSY_TIMEOUT).map_err(|error| format!("{name} can't be set up: {error}"))?;
    let pragmas = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = {MOST_MAPPED};"
    );
    conn.batch_execute(&pragmas).map_err(|error| format!("{name} can't be set up: {error}"))?;
    // SQLite's built-in function handles ASCII letters only.
    super::search::lower_utils::register_impl(&mut conn, |text: String| text.to_lowercase())
        .map_err(|error| format!("{name} can't be set up: {error}"))?;
    if purpose == Use::Read {
        // Pages are read through the memory map; only pages beyond it, and those in the log, need this cache.
        conn.batch_execute("PRAGMA cache_size = -512;").map_err(|error| format!("{name} can't be set up: {error}"))?;
    }
    if purpose == Use::Write {
        // Deleted data is overwritten: a deleted account must not be found in free pages.
        conn.batch_execute("PRAGMA secure_delete = ON;").map_err(|error| format!("{name} can't be set up: {error}"))?;
    }
    if purpose == Use::Read {
        conn.batch_execute("PRAGMA query_only = ON;").map_err(|error| format!("{name} can't be set up: {error}"))?;
    }
    Ok(conn)
}

fn migrate(path: &Path) -> Result<(), OpenError> {
    let mut conn = establish(path, Use::Write).map_err(OpenError)?;
    conn.run_pending_migrations(MIGRATIONS)
        .map(|_| ())
        .map_err(|error| OpenError(format!("the database schema of {} can't be migrated: {error}", path.display())))
}
