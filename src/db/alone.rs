//! One server at a time on a database: a second is refused, in words.
//!
//! SQLite: a locked file beside the database, which the system unlocks when the process ends, however it ends.
//! PostgreSQL: a row with a lease, renewed all the time. A lease that nobody renews runs out, so a server that was killed
//! can be started again after [`LEASE`] at most; it waits for that by itself.
//!
//! ```text
//!   given back ----------------------------------------------> free
//!   runs, and nobody renews it for LEASE --------------------> free
//!   ran out by the database's clock, and nobody renews it for SILENCE --> free
//! ```
//! No clock is believed in this: whoever wants the lease looks, by its own clock that only goes forward, for how long the
//! row stands as it is. So a database's clock that is set on takes the lease from nobody, and one that is set back keeps
//! nobody waiting.
//!
//! While PostgreSQL is away nobody can take the lease either: the server goes on, and renews it when it is back. Only a
//! lease that somebody else took meanwhile is lost: then none of its writes is kept (`lease`), and this server must stop,
//! see [`Alone::lost`].

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diesel::sql_types::{BigInt, Bool, Integer};
use diesel::{OptionalExtension, QueryableByName};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::conn::Conn;
use super::failed::Failed;
use super::lease::{self, Guard, Start};
use super::sql::{Key, Uuid};
use super::{Db, Kept};

/// How long a lease holds without being renewed. Three renewals may fail.
pub const LEASE: Duration = Duration::from_secs(10);
const RENEWAL: Duration = Duration::from_secs(3);
/// Longer than a renewal takes.
const SILENCE: Duration = Duration::from_secs(4);
/// Between two looks at somebody else's lease.
const LOOK: Duration = Duration::from_millis(500);

/// Why the server must not start, in words for whoever starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBy(pub String);

impl fmt::Display for TakenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for TakenBy {}

/// Proof that no other server works on the database. Dropping it gives it back: on PostgreSQL when the lease has run out,
/// at once by [`Alone::release`].
pub struct Alone {
    hold: Hold,
    lost: watch::Receiver<bool>,
}

enum Hold {
    /// Locked as long as it is open.
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

impl Alone {
    /// # Errors
    /// Another server works on this database, or nobody can tell: in words.
    pub async fn take(db: &Db) -> Result<Self, TakenBy> {
        match db.open.kept.as_ref() {
            Kept::Sqlite(sqlite) => take_file(&sqlite.path),
            Kept::Postgres(_) => take_lease(db).await,
        }
    }

    /// Turns true when another server has taken the database: this one must stop at once.
    #[must_use]
    pub fn lost(&self) -> watch::Receiver<bool> {
        self.lost.clone()
    }

    /// Gives the database back, so that the next server need not wait. The last thing a server does.
    pub async fn release(self) {
        if let Hold::Lease { db, guard, renewing } = &self.hold {
            renewing.abort();
            if let Err(error) = give_back(db, guard.holder).await {
                tracing::warn!(%error, "the lease wasn't given back; the next server waits until it has run out");
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if let Hold::Lease { renewing, .. } = &self.hold {
            // What still writes afterwards is guarded by the lease that was, until another server takes it.
            renewing.abort();
        }
    }
}

fn take_file(database: &Path) -> Result<Alone, TakenBy> {
    let path = lock_path(database);
    let unusable = |error: std::io::Error| TakenBy(format!("the lock file {} can't be used: {error}", path.display()));
    let mut file =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // For the message alone.
            let _ = file.read_to_string(&mut holder);
            return Err(TakenBy(format!(
                "another server ({}) works on {}: stop it first, or give this one a database of its own",
                holder.trim(),
                database.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(unusable(error)),
    }
    file.set_len(0).map_err(unusable)?;
    writeln!(file, "process {}", std::process::id()).map_err(unusable)?;
    let (still, lost) = watch::channel(false);
    Ok(Alone { hold: Hold::File { _file: file, _still: still }, lost })
}

fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

async fn take_lease(db: &Db) -> Result<Alone, TakenBy> {
    let unknown = |failed: Failed| TakenBy(format!("nobody can tell whether another server works on it: {failed}"));
    let guard = Arc::new(Guard::of(number(db).await.map_err(unknown)?));
    let deadline = Instant::now() + LEASE + SILENCE;
    let mut seen: Option<(Lease, Instant)> = None;
    loop {
        let now = current(db).await.map_err(unknown)?;
        let is_renewed = matches!(
            (&seen, &now),
            (Some((then, _)), Some(now)) if then.row != now.row && !now.is_given_back()
        );
        if is_renewed || Instant::now() > deadline {
            return Err(TakenBy(
                "another server works on this PostgreSQL database: stop it first, or give this one a database of its own"
                    .to_owned(),
            ));
        }
        let stands = seen.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed());
        if now.as_ref().is_none_or(|now| now.is_free_after(stands)) {
            match take(db, guard.holder, now.as_ref()).await {
                Ok(true) => break,
                // Somebody was first, or a write of the former server has not ended yet.
                Ok(false) | Err(Failed::Unavailable(_)) => {}
                Err(failed) => return Err(unknown(failed)),
            }
        } else {
            tracing::info!("a lease on the database stands: waiting for it to be renewed, or to run out");
        }
        seen = now.map(|now| (now, seen.map_or_else(Instant::now, |(_, since)| since)));
        sleep(LOOK).await;
    }
    if let Kept::Postgres(postgres) = db.open.kept.as_ref() {
        postgres.guard_by(Arc::clone(&guard));
    }
    let renewing = db.open.handle.spawn(renew(db.clone(), Arc::clone(&guard)));
    Ok(Alone { lost: guard.lost(), hold: Hold::Lease { db: db.clone(), guard, renewing } })
}

async fn renew(db: Db, guard: Arc<Guard>) {
    loop {
        sleep(RENEWAL).await;
        match extend(&db, guard.holder).await {
            Ok(true) => {}
            Ok(false) => return guard.lose(),
            Err(error) => tracing::warn!(%error, "the lease on the database wasn't renewed"),
        }
    }
}

#[derive(Debug, Clone)]
struct Lease {
    row: Row,
    /// It ran out, by the database's clock.
    is_over: bool,
}

/// What changes with every renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    epoch: i64,
    until_micros: i64,
}

/// Where no lease has run out by itself.
const GIVEN_BACK: i64 = 0;

impl Lease {
    /// Whether another server may take it when it has stood as it is for that long.
    fn is_free_after(&self, stands: Duration) -> bool {
        self.is_given_back() || stands >= if self.is_over { SILENCE } else { LEASE }
    }

    const fn is_given_back(&self) -> bool {
        self.row.until_micros == GIVEN_BACK
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

/// Makes a lease that stands as it was seen, or none, `holder`'s, when all that its former holder began to write has ended.
async fn take(db: &Db, holder: Key<Start>, seen: Option<&Lease>) -> Result<bool, Failed> {
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

/// Whether the lease was still `holder`'s and goes on.
async fn extend(db: &Db, holder: Key<Start>) -> Result<bool, Failed> {
    let sql = format!(
        "UPDATE server_lease SET lease_until = clock_timestamp() + interval '{} seconds' WHERE id = 1 AND holder = $1",
        LEASE.as_secs()
    );
    write(db, holder, sql, None).await
}

async fn give_back(db: &Db, holder: Key<Start>) -> Result<bool, Failed> {
    let sql = format!("UPDATE server_lease SET lease_until = to_timestamp({GIVEN_BACK}) WHERE id = 1 AND holder = $1");
    write(db, holder, sql, None).await
}

const UNTIL_MICROS: &str = "(extract(epoch FROM lease_until) * 1000000)::bigint";

/// Whether one row was changed. Neither waits for what is in doubt nor is guarded by the lease itself.
async fn write(db: &Db, holder: Key<Start>, sql: String, before: Option<&'static str>) -> Result<bool, Failed> {
    db.write_unguarded(move |conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else { return Err(Failed::Broken("a lease is PostgreSQL's".to_owned())) };
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

async fn number(db: &Db) -> Result<i32, Failed> {
    db.read(|conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else { return Err(Failed::Broken("a lease is PostgreSQL's".to_owned())) };
            let found: Number = diesel::sql_query(lease::NUMBER).get_result(&mut **pg).await?;
            Ok(found.number)
        })
    })
    .await
}

async fn current(db: &Db) -> Result<Option<Lease>, Failed> {
    db.read(|conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else { return Err(Failed::Broken("a lease is PostgreSQL's".to_owned())) };
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
