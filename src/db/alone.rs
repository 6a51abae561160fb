//! One server at a time on a database: a second is refused, in words.
//!
//! SQLite: a locked file beside the database, which the system unlocks when the process ends, however it ends.
//! PostgreSQL: a row with a lease by the database's clock, renewed all the time. A lease that nobody renews runs out, so
//! a server that was killed can be started again after [`LEASE`] at most; it waits for that by itself.
//!
//! While PostgreSQL is away nobody can take the lease either: the server goes on, and renews it when it is back. Only a
//! lease that somebody else took meanwhile is lost: then this server must stop, see [`Alone::lost`].

use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use actors::ids::Id;
use diesel::sql_types::BigInt;
use diesel::{OptionalExtension, QueryableByName};
use diesel_async::RunQueryDsl;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::conn::Conn;
use super::failed::Failed;
use super::sql::{Key, Uuid};
use super::{Db, Kept};

/// How long a lease holds without being renewed. Three renewals may fail.
pub const LEASE: Duration = Duration::from_secs(10);
const RENEWAL: Duration = Duration::from_secs(3);

/// Why the server must not start, in words for whoever starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBy(pub String);

impl fmt::Display for TakenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for TakenBy {}

/// One start of a server.
#[derive(Debug, Clone, Copy)]
enum Start {}

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
        holder: Key<Start>,
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
        if let Hold::Lease { db, holder, renewing } = &self.hold {
            renewing.abort();
            if let Err(error) = give_back(db, *holder).await {
                tracing::warn!(%error, "the lease wasn't given back; the next server waits until it has run out");
            }
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        if let Hold::Lease { renewing, .. } = &self.hold {
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
    let holder = Key(Id::draw());
    let unknown = |failed: Failed| TakenBy(format!("nobody can tell whether another server works on it: {failed}"));
    let deadline = Instant::now() + LEASE + RENEWAL;
    let mut seen: Option<Lease> = None;
    while !take_free(db, holder).await.map_err(unknown)? {
        let now = current(db).await.map_err(unknown)?;
        let renewed = matches!((&seen, &now), (Some(then), Some(now)) if then != now);
        if renewed || Instant::now() > deadline {
            return Err(TakenBy(
                "another server works on this PostgreSQL database: stop it first, or give this one a database of its own"
                    .to_owned(),
            ));
        }
        tracing::info!("a lease on the database stands: waiting for it to be renewed, or to run out");
        seen = now;
        sleep(Duration::from_millis(500)).await;
    }
    let (tell, lost) = watch::channel(false);
    let renewing = db.open.handle.spawn(renew(db.clone(), holder, tell));
    Ok(Alone { hold: Hold::Lease { db: db.clone(), holder, renewing }, lost })
}

async fn renew(db: Db, holder: Key<Start>, tell: watch::Sender<bool>) {
    loop {
        sleep(RENEWAL).await;
        match extend(&db, holder).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::error!("another server took the database");
                // Nobody listening means that the server is stopping already.
                let _ = tell.send(true);
                return;
            }
            Err(error) => tracing::warn!(%error, "the lease on the database wasn't renewed"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, QueryableByName)]
struct Lease {
    #[diesel(sql_type = BigInt)]
    epoch: i64,
    #[diesel(sql_type = BigInt)]
    until_micros: i64,
}

/// Whether the lease was free and is now `holder`'s.
async fn take_free(db: &Db, holder: Key<Start>) -> Result<bool, Failed> {
    let sql = format!(
        "INSERT INTO server_lease (id, holder, epoch, lease_until) \
         VALUES (1, $1, 1, clock_timestamp() + interval '{0} seconds') \
         ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, epoch = server_lease.epoch + 1, \
         lease_until = excluded.lease_until WHERE server_lease.lease_until < clock_timestamp()",
        LEASE.as_secs()
    );
    change(db, holder, sql).await
}

/// Whether the lease was still `holder`'s and goes on.
async fn extend(db: &Db, holder: Key<Start>) -> Result<bool, Failed> {
    let sql = format!(
        "UPDATE server_lease SET lease_until = clock_timestamp() + interval '{} seconds' WHERE id = 1 AND holder = $1",
        LEASE.as_secs()
    );
    change(db, holder, sql).await
}

async fn give_back(db: &Db, holder: Key<Start>) -> Result<bool, Failed> {
    let sql =
        "UPDATE server_lease SET lease_until = clock_timestamp() - interval '1 second' WHERE id = 1 AND holder = $1";
    change(db, holder, sql.to_owned()).await
}

async fn change(db: &Db, holder: Key<Start>, sql: String) -> Result<bool, Failed> {
    db.write(move |conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else { return Err(Failed::Broken("a lease is PostgreSQL's".to_owned())) };
            let changed = diesel::sql_query(sql).bind::<Uuid, _>(holder).execute(&mut **pg).await?;
            Ok(changed == 1)
        })
    })
    .await
}

async fn current(db: &Db) -> Result<Option<Lease>, Failed> {
    db.read(|conn| {
        Box::pin(async move {
            let Conn::Pg(pg) = conn else { return Err(Failed::Broken("a lease is PostgreSQL's".to_owned())) };
            let sql = "SELECT epoch, (extract(epoch FROM lease_until) * 1000000)::bigint AS until_micros \
                       FROM server_lease WHERE id = 1";
            Ok(diesel::sql_query(sql).get_result(&mut **pg).await.optional()?)
        })
    })
    .await
}
