//! SQLite: how its file is opened, and its readers. Its writer has a file of its own.

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
use super::failed::Failed;
use super::idle::Idle;
use super::job::{Job, run_within};
use super::writer::Writer;
use super::{OpenError, Settings};

/// For a lock of another program, such as the operator's.
const BUSY_TIMEOUT: &str = "PRAGMA busy_timeout = 2000";
/// Bytes of the file that are mapped: the most that SQLite can. What lies beyond is copied into each connection's own memory.
const MOST_MAPPED: u64 = 0x7fff_0000;
/// Between two looks at whether the log of writes can be emptied.
const LOG_AGAIN: Duration = Duration::from_millis(50);

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

/// An open file: one writer, several readers.
pub(super) struct Sqlite {
    pub(super) path: PathBuf,
    pub(super) writer: Writer,
    idle: Mutex<Idle<Conn>>,
    readers: Semaphore,
    limit: Duration,
}

impl Sqlite {
    /// Creates the file and its folder if need be, and brings its tables up to date. Blocks.
    pub(super) fn open(path: PathBuf, settings: &Settings) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| OpenError(format!("the folder {} can't be made: {error}", folder.display())))?;
        }
        migrate(&path)?;
        let conn = connect(&path, Use::Write).map_err(OpenError)?;
        let writer = Writer::start(path.clone(), conn, settings.queue, settings.limit)
            .map_err(|error| OpenError(format!("the writer's thread can't be started: {error}")))?;
        let readers = Semaphore::new(settings.connections);
        Ok(Self { path, writer, idle: Mutex::default(), readers, limit: settings.limit })
    }

    /// Has the log of writes carried over into the file and emptied, as soon as nobody reads what is in it.
    pub(super) async fn overwrite_deleted(&self) -> Result<(), Failed> {
        let deadline = Instant::now() + self.limit;
        loop {
            match self.writer.empty_log().await {
                Err(in_use) if Instant::now() >= deadline => return Err(in_use),
                Err(_in_use) => sleep(LOG_AGAIN).await,
                Ok(()) => return Ok(()),
            }
        }
    }

    /// Runs a read on a thread of its own, and answers it.
    pub(super) async fn read(&self, mut job: Box<dyn Job>) {
        // The permit is held until the thread is done.
        let permit = match tokio::time::timeout(self.limit, self.readers.acquire()).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) | Err(_) => {
                job.spoil(Failed::Busy);
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
                    job.spoil(Failed::Unavailable(why));
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
            let closed = self.idle.lock().unwrap_or_else(PoisonError::into_inner).keep(conn, Instant::now());
            if !closed.is_empty() {
                // It may write.
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

/// Carries the log of writes over into the file as far as readers leave it, and empties it if they don't need it any more:
/// whether it is empty. Waits for nobody: whoever asks has the only connection that writes.
///
/// # Errors
/// The connection is to be dropped.
pub(super) async fn empty_log(conn: &mut Conn) -> Result<bool, Failed> {
    let Conn::Sqlite(lite) = conn else { return Ok(true) };
    lite.batch_execute("PRAGMA busy_timeout = 0").await?;
    let done = diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)").get_result::<Checkpoint>(lite).await;
    lite.batch_execute(BUSY_TIMEOUT).await?;
    match done {
        Ok(done) => Ok(done.busy == 0),
        Err(error) => match Failed::from(error) {
            Failed::Unavailable(_) => Ok(false),
            other => Err(other),
        },
    }
}

/// The path in `sqlite://data/colloquy.sqlite` (relative) or `sqlite:///var/lib/colloquy.sqlite`.
pub(super) fn path(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite://")?;
    (!path.is_empty() && path != ":memory:").then(|| PathBuf::from(path))
}

/// # Errors
/// Why not, in words.
pub(super) fn connect(path: &Path, purpose: Use) -> Result<Conn, String> {
    let conn = establish(path, purpose)?;
    Ok(Conn::Sqlite(LiteConn::with_runtime(conn, InPlace)))
}

fn establish(path: &Path, purpose: Use) -> Result<SqliteConnection, String> {
    let name = path.to_str().ok_or("the path of the database is no text")?;
    let mut conn = SqliteConnection::establish(name).map_err(|error| format!("{name} can't be opened: {error}"))?;
    // synchronous=FULL: in WAL mode anything less loses answered writes with the power.
    conn.batch_execute(BUSY_TIMEOUT).map_err(|error| format!("{name} can't be set up: {error}"))?;
    let pragmas = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = {MOST_MAPPED};"
    );
    conn.batch_execute(&pragmas).map_err(|error| format!("{name} can't be set up: {error}"))?;
    // SQLite's own knows the letters of ASCII alone.
    super::search::lower_utils::register_impl(&mut conn, |text: String| text.to_lowercase())
        .map_err(|error| format!("{name} can't be set up: {error}"))?;
    if purpose == Use::Read {
        // Pages come from the file's own, which is mapped: what is beyond that, and what the log holds, needs few.
        conn.batch_execute("PRAGMA cache_size = -512;").map_err(|error| format!("{name} can't be set up: {error}"))?;
    }
    if purpose == Use::Write {
        // What is deleted is overwritten: an account that is gone must not be found in free space.
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
        .map_err(|error| OpenError(format!("the tables of {} can't be brought up to date: {error}", path.display())))
}
