//! SQLite: how the database file is opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Integer;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use tokio::time::{Instant, sleep};

use super::conn::{Conn, LiteConn};
use super::error::DbError;
use super::readers::Readers;
use super::writer::Writer;
use super::{DbSettings, OpenError};

/// How long to wait for a lock of another process, such as an operator command.
const BUSY_TIMEOUT: &str = "PRAGMA busy_timeout = 2000";
/// Bytes of the file that are memory-mapped: SQLite's maximum. Pages beyond are copied into each connection's own
/// memory.
const MAX_MAPPED_BYTES: u64 = 0x7fff_0000;
/// Delay between two attempts to truncate the write-ahead log.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/sqlite");

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Read,
    Write,
}

/// An open database file: one writer, in `writer`, and several readers, in `readers`.
pub(super) struct Sqlite {
    pub(super) path: PathBuf,
    pub(super) writer: Writer,
    pub(super) readers: Readers,
    limit: Duration,
}

impl Sqlite {
    /// Creates the file and its folder if missing, and runs pending migrations. Blocks the thread, which has to be one of
    /// a runtime.
    pub(super) fn open(path: PathBuf, settings: &DbSettings) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| OpenError(format!("the folder {} can't be created: {error}", folder.display())))?;
        }
        migrate(&path)?;
        let conn = connect(&path, Use::Write).map_err(OpenError)?;
        let writer = Writer::start(path.clone(), conn, settings.queue, settings.limit)
            .map_err(|error| OpenError(format!("the writer's thread can't be started: {error}")))?;
        let readers = Readers::new(path.clone(), |path| connect(path, Use::Read), settings.connections, settings.limit);
        Ok(Self { path, writer, readers, limit: settings.limit })
    }

    /// Has the write-ahead log checkpointed and truncated as soon as no reader needs it; fails after the time limit.
    pub(super) async fn overwrite_deleted(&self) -> Result<(), DbError> {
        let deadline = Instant::now() + self.limit;
        loop {
            match self.writer.empty_log().await {
                Err(in_use) if Instant::now() >= deadline => return Err(in_use),
                Err(_in_use) => sleep(RETRY_INTERVAL).await,
                Ok(()) => return Ok(()),
            }
        }
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
    let checkpoint = |conn: &mut SqliteConnection| {
        conn.batch_execute("PRAGMA busy_timeout = 0")?;
        let done = diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)").get_result::<Checkpoint>(conn);
        conn.batch_execute(BUSY_TIMEOUT)?;
        done
    };
    let done = lite.run(|conn| Ok(checkpoint(conn))).await?;
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
    Ok(Conn::Sqlite(LiteConn::of(conn)))
}

fn establish(path: &Path, purpose: Use) -> Result<SqliteConnection, String> {
    let name = path.to_str().ok_or("the path of the database is not valid UTF-8")?;
    let mut conn = SqliteConnection::establish(name).map_err(|error| format!("{name} can't be opened: {error}"))?;
    // synchronous=FULL: in WAL mode anything less loses acknowledged writes when the power fails.
    conn.batch_execute(BUSY_TIMEOUT).map_err(|error| format!("{name} can't be set up: {error}"))?;
    let pragmas = format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = {MAX_MAPPED_BYTES};"
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
