//! The instance lease: one server at a time works on a database, and a second one is refused with a message.
//!
//! SQLite: a locked file beside the database, which the operating system unlocks when the process ends, however it
//! ends. PostgreSQL: a row with a lease that is renewed continually. A lease that is not renewed expires, so that a
//! server that was killed can be started again after [`LEASE`] at most; it waits for that by itself.
//!
//! ```text
//!   given back -----------------------------------------------------------> free
//!   runs, and is not renewed for LEASE -----------------------------------> free
//!   expired by the database's clock, and is not renewed for SILENCE ------> free
//! ```
//! No wall clock is trusted here: a server that wants the lease measures with its own monotonic clock how long the row
//! stays unchanged. So a database clock that is set forward takes the lease from no server, and one that is set back
//! makes none wait.
//!
//! While PostgreSQL is unreachable no other server can take the lease either: the server continues, and renews it when
//! PostgreSQL is back. Only a lease that another server took meanwhile is lost: then none of this server's writes is
//! committed (see `lease`), and it must stop, see [`InstanceLease::lost`].

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use diesel::sql_types::{BigInt, Bool, Integer};
use diesel::{OptionalExtension, QueryableByName};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::conn::Conn;
use super::error::DbError;
use super::lease::{self, Guard, Start};
use super::sql::Uuid;
use super::{Backend, Db};
use crate::vital;

/// How long a lease holds without being renewed. It is renewed every [`RENEWAL`].
pub const LEASE: Duration = Duration::from_secs(10);
const RENEWAL: Duration = Duration::from_secs(3);
/// How long an expired lease must stay unchanged before it is free: longer than [`RENEWAL`].
const SILENCE: Duration = Duration::from_secs(4);
/// Delay between two reads of another server's lease.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Why the server must not start, as a message for the person who starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBy(pub String);

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for HeldBy {}

/// Proof that no other server works on the database. Dropping it gives the database back: on PostgreSQL when the lease
/// has expired; [`InstanceLease::release`] does so at once.
pub struct InstanceLease {
    hold: Hold,
    lost: watch::Receiver<bool>,
}

enum Hold {
    /// Locked while it is open.
    File {
        _file: File,
        _still: watch::Sender<bool>,
    },
    Lease {
        db: Db,
        guard: Arc<Guard>,
        renewing: JoinHandle<()>,
    },
}

impl InstanceLease {
    /// Takes the database for this server.
    ///
    /// # Errors
    /// Returns a message when another server works on this database, or when that can't be determined.
    pub async fn take(db: &Db) -> Result<Self, HeldBy> {
        match db.open.backend.as_ref() {
            Backend::Sqlite(sqlite) => take_file(&sqlite.path),
            Backend::Postgres(_) => take_lease(db).await,
        }
    }

    /// Takes a database of SQLite that is not open, and that need not exist; `None` for PostgreSQL.
    ///
    /// # Errors
    /// As [`InstanceLease::take`].
    pub fn of_file(url: &str) -> Result<Option<Self>, HeldBy> {
        super::sqlite::path(url).map(|path| take_file(&path)).transpose()
    }

    /// Becomes true when another server has taken the database: this one must stop at once.
    #[must_use]
    pub fn lost(&self) -> watch::Receiver<bool> {
        self.lost.clone()
    }

    /// Gives the database back, so that the next server need not wait. This must be the last thing a server does.
    pub async fn release(self) {
        if let Hold::Lease { db, guard, renewing } = &self.hold {
            renewing.abort();
            if let Err(error) = release(db, guard.holder).await {
                tracing::warn!(
                    %error,
                    "the database lease could not be released; the next server waits until it expires"
                );
            }
        }
    }
}

impl Drop for InstanceLease {
    fn drop(&mut self) {
        if let Hold::Lease { renewing, .. } = &self.hold {
            // Later writes are still fenced by this lease; they fail once another server takes it.
            renewing.abort();
        }
    }
}

fn take_file(database: &Path) -> Result<InstanceLease, HeldBy> {
    let path = lock_path(database);
    let unusable = |error: std::io::Error| HeldBy(format!("the lock file {} can't be used: {error}", path.display()));
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Only for the message.
            let _ = file.read_to_string(&mut holder);
            return Err(HeldBy(format!(
                "another server ({}) is using {}: stop it first, or configure a different database",
                holder.trim(),
                database.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(unusable(error)),
    }
    file.set_len(0).map_err(unusable)?;
    writeln!(file, "process {}", std::process::id()).map_err(unusable)?;
    let (still, lost) = watch::channel(false);
    Ok(InstanceLease { hold: Hold::File { _file: file, _still: still }, lost })
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

async fn take_lease(db: &Db) -> Result<InstanceLease, HeldBy> {
    let unknown = |failed: DbError| {
        HeldBy(format!("it can't be determined whether another server is using the database: {failed}"))
    };
    let guard = Arc::new(Guard::of(number(db).await.map_err(unknown)?));
    let deadline = Instant::now() + LEASE + SILENCE;
    let mut seen: Option<(Lease, Instant)> = None;
    loop {
        let now = current(db).await.map_err(unknown)?;
        let is_renewed = matches!(
            (&seen, &now),
            (Some((then, _)), Some(now)) if then.row != now.row && !now.is_released()
        );
        if is_renewed || Instant::now() > deadline {
            return Err(HeldBy(
                "another server is using this PostgreSQL database: stop it first, or configure a different database"
                    .to_owned(),
            ));
        }
        let unchanged_for = seen.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed());
        if now.as_ref().is_none_or(|now| now.is_free_after(unchanged_for)) {
            match take(db, guard.holder, now.as_ref()).await {
                Ok(true) => break,
                // Another server was first, or a write of the former server has not ended yet.
                Ok(false) | Err(DbError::Unavailable(_)) => {}
                Err(failed) => return Err(unknown(failed)),
            }
        } else {
            tracing::info!("a lease on the database exists; waiting for it to be renewed or to expire");
        }
        seen = now.map(|now| (now, seen.map_or_else(Instant::now, |(_, since)| since)));
        sleep(CHECK_INTERVAL).await;
    }
    if let Backend::Postgres(postgres) = db.open.backend.as_ref() {
        postgres.guard_by(Arc::clone(&guard));
    }
    let renewing = db.open.handle.spawn(vital::live("the renewal of the lease", renew(db.clone(), Arc::clone(&guard))));
    Ok(InstanceLease { lost: guard.lost(), hold: Hold::Lease { db: db.clone(), guard, renewing } })
}

async fn renew(db: Db, guard: Arc<Guard>) {
    loop {
        sleep(RENEWAL).await;
        match extend(&db, guard.holder).await {
            Ok(true) => {}
            Ok(false) => return guard.lose(),
            Err(error) => tracing::warn!(%error, "the database lease could not be renewed"),
        }
    }
}

#[derive(Debug, Clone)]
struct Lease {
    row: Row,
    /// Whether it has expired by the database's clock.
    is_over: bool,
}

/// What changes with every renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    epoch: i64,
    until_micros: i64,
}

/// The expiry of a lease that was given back; no lease expires at this time by itself.
const RELEASED: i64 = 0;

impl Lease {
    /// Whether another server may take it after the row has been unchanged for `unchanged_for`.
    fn is_free_after(&self, unchanged_for: Duration) -> bool {
        self.is_released() || unchanged_for >= if self.is_over { SILENCE } else { LEASE }
    }

    const fn is_released(&self) -> bool {
        self.row.until_micros == RELEASED
    }
}

#[derive(QueryableByName)]
struct Found {
    #[diesel(sql_type = BigInt)]
    epoch: i64,
    #[diesel(sql_type = BigInt)]
    until_micros: i64,
    #[diesel(sql_type = Bool)]
    is_over: bool,
}

/// Gives `holder` the lease if its row is still as it was seen (or absent), once every write that its former holder
/// began has ended.
async fn take(db: &Db, holder: Id<Start>, seen: Option<&Lease>) -> Result<bool, DbError> {
    let until = format!("clock_timestamp() + interval '{} seconds'", LEASE.as_secs());
    let Some(Lease { row: Row { epoch, until_micros }, .. }) = seen.cloned() else {
        let sql = format!(
            "INSERT INTO server_lease (id, holder, epoch, lease_until) VALUES (1, $1, 1, {until}) ON CONFLICT DO NOTHING"
        );
        return write(db, holder, sql, Some(lease::EXCLUDE)).await;
    };
    let sql = format!(
        "UPDATE server_lease SET holder = $1, epoch = epoch + 1, lease_until = {until} \
         WHERE id = 1 AND epoch = {epoch} AND {UNTIL_MICROS} = {until_micros}"
    );
    write(db, holder, sql, Some(lease::EXCLUDE)).await
}

/// Extends the lease; returns whether it was still `holder`'s.
async fn extend(db: &Db, holder: Id<Start>) -> Result<bool, DbError> {
    let sql = format!(
        "UPDATE server_lease SET lease_until = clock_timestamp() + interval '{} seconds' WHERE id = 1 AND holder = $1",
        LEASE.as_secs()
    );
    write(db, holder, sql, None).await
}

async fn release(db: &Db, holder: Id<Start>) -> Result<bool, DbError> {
    let sql = format!("UPDATE server_lease SET lease_until = to_timestamp({RELEASED}) WHERE id = 1 AND holder = $1");
    write(db, holder, sql, None).await
}

const UNTIL_MICROS: &str = "(extract(epoch FROM lease_until) * 1000000)::bigint";

/// Runs one statement on the row; returns whether it changed it. It is not fenced by the lease and doesn't wait for
/// writes in doubt.
async fn write(db: &Db, holder: Id<Start>, sql: String, before: Option<&'static str>) -> Result<bool, DbError> {
    db.write_unguarded(move |conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else {
                return Err(DbError::Broken("the lease exists on PostgreSQL only".to_owned()));
            };
            if let Some(before) = before {
                pg.batch_execute(before).await?;
            }
            let changed = diesel::sql_query(sql).bind::<Uuid, _>(holder).execute(&mut **pg).await?;
            Ok(changed == 1)
        })
    })
    .await
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = Integer)]
    number: i32,
}

async fn number(db: &Db) -> Result<i32, DbError> {
    db.read(|conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else {
                return Err(DbError::Broken("the lease exists on PostgreSQL only".to_owned()));
            };
            let found: Number = diesel::sql_query(lease::NUMBER).get_result(&mut **pg).await?;
            Ok(found.number)
        })
    })
    .await
}

async fn current(db: &Db) -> Result<Option<Lease>, DbError> {
    db.read(|conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else {
                return Err(DbError::Broken("the lease exists on PostgreSQL only".to_owned()));
            };
            let sql = format!(
                "SELECT epoch, {UNTIL_MICROS} AS until_micros, lease_until < clock_timestamp() AS is_over \
                 FROM server_lease WHERE id = 1"
            );
            let found: Option<Found> = diesel::sql_query(sql).get_result(&mut **pg).await.optional()?;
            Ok(found.map(|Found { epoch, until_micros, is_over }| Lease { row: Row { epoch, until_micros }, is_over }))
        })
    })
    .await
}
