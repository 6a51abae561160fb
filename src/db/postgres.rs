//! PostgreSQL: its connection pool, and the outcome of jobs when the database fails in the middle of them.
//!
//! A write has one limit for all of it (connection, statements, COMMIT). Until COMMIT is sent a failure means that
//! nothing was written; after it, a missing answer means `Unknown`, and PostgreSQL is asked for the status of the
//! transaction until it reports one. A server's writes are fenced by its lease (see `lease`).
//!
//! Deliberately absent: retries of a job (it can run only once; see `SerializationFailure` in the conversion to
//! [`DbError`]).

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use deadpool::managed::QueueMode;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool};
use diesel_async::pooled_connection::deadpool::{Hook, HookError, Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncMigrationHarness, RunQueryDsl, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::FutureExt;
use tokio::time::{Instant, sleep, timeout_at};

use super::conn::{Conn, PgConn};
use super::connect::Connector;
use super::error::DbError;
use super::job::{DbJob, Ran, run_within};
use super::lease::{self, Begun, Guard};
use super::suspicion::Suspicion;
use super::{DbSettings, OpenError};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");
/// An arbitrary number that only Colloquy uses: servers that start together run the migrations one after the other.
pub(super) const MIGRATION_LOCK: i64 = 0x00C0_1105;

/// Delay between two queries for the status of a transaction.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A pool of connections, all driven by the runtime of [`super::Db`].
pub(super) struct Postgres {
    pool: Pool<PgConn>,
    suspicion: Arc<Suspicion>,
    /// `None` in a process that is not a server.
    guard: RwLock<Option<Arc<Guard>>>,
    limit: Duration,
}

impl Postgres {
    /// Runs pending migrations and creates the pool. Call it on the runtime that is to drive the connections.
    pub(super) async fn open(settings: &DbSettings) -> Result<Self, OpenError> {
        let connector = Connector::of(&settings.url, settings.limit)?;
        if let Some(host) = connector.plain_text_host() {
            tracing::warn!(
                host,
                "the database is reached in plain text: set sslmode=verify-full in its URL, unless the network is private"
            );
        }
        migrate(&connector, settings.limit).await?;
        let mut config = ManagerConfig::<PgConn>::default();
        // A ping at each checkout would halve the throughput.
        config.recycling_method = RecyclingMethod::Fast;
        let limit = settings.limit;
        config.custom_setup = Box::new(move |_url| {
            let connector = connector.clone();
            async move {
                let mut conn = connector.connect().await?;
                let millis = limit.as_millis();
                let setup = format!(
                    "SET statement_timeout = {millis}; SET idle_in_transaction_session_timeout = {}; SET TIME ZONE 'UTC'; \
                     SET default_transaction_read_only = on",
                    millis * 5
                );
                conn.batch_execute(&setup).await.map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
                Ok(conn)
            }
            .boxed()
        });
        // The connector knows the URL.
        let manager = AsyncDieselConnectionManager::<PgConn>::new_with_config(String::new(), config);
        let suspicion = Arc::<Suspicion>::default();
        let asked = Arc::clone(&suspicion);
        let is_fine = Hook::<PgConn>::async_fn(move |conn, metrics| {
            let (asked, taken_at) = (Arc::clone(&asked), metrics.recycled.unwrap_or(metrics.created));
            Box::pin(async move {
                if asked.clears(conn, taken_at).await { Ok(()) } else { Err(HookError::message("dead")) }
            })
        });
        let pool = Pool::builder(manager)
            .max_size(settings.connections)
            // The one that was used last: few callers stay with few processes of PostgreSQL, whose memory is warm.
            .queue_mode(QueueMode::Lifo)
            .pre_recycle(is_fine)
            .build()
            .map_err(|error| OpenError(format!("the connection pool can't be created: {error}")))?;
        Ok(Self { pool, suspicion, guard: RwLock::default(), limit: settings.limit })
    }

    /// Fences every later write by that lease.
    pub(super) fn guard_by(&self, guard: Arc<Guard>) {
        *self.guard.write().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    }

    pub(super) async fn read(&self, mut job: Box<dyn DbJob>, deadline: Instant) {
        let mut conn = match self.connection(deadline).await {
            Ok(conn) => Conn::Pg(conn),
            Err(failed) => {
                job.fail(failed);
                return job.answer();
            }
        };
        let ran = run_within(deadline.duration_since(Instant::now()), job.as_mut(), &mut conn).await;
        job.answer();
        match ran {
            Ran::Commit => {}
            Ran::Late => self.drop_late(conn),
            // The job's error says nothing about the connection, so ping it; the caller has the answer already.
            Ran::RollBack => {
                let alive = timeout_at(Instant::now() + self.limit, conn.batch("SELECT 1")).await;
                if !matches!(alive, Ok(Ok(()))) {
                    self.drop_dead(conn);
                }
            }
        }
    }

    pub(super) async fn write(&self, job: Box<dyn DbJob>, deadline: Instant) {
        let guard = self.guard.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.write_guarded(guard.as_deref(), job, deadline).await;
    }

    /// Returns when the outcome is known, which may be long after the answer.
    pub(super) async fn write_guarded(&self, guard: Option<&Guard>, mut job: Box<dyn DbJob>, deadline: Instant) {
        let (mut conn, transaction) = match self.begin(guard, job.as_mut(), deadline).await {
            Ok(Some(begun)) => begun,
            Ok(None) => return job.answer(),
            Err(failed) => {
                job.fail(failed);
                return job.answer();
            }
        };
        let ran = run_within(deadline.duration_since(Instant::now()), job.as_mut(), &mut conn).await;
        match ran {
            Ran::Commit => match commit(&mut conn, transaction, deadline).await {
                Ok(()) => {}
                Err(CommitError::Undone(failed)) => {
                    self.drop_late(conn);
                    job.fail(failed);
                }
                Err(CommitError::Unknown(why)) => {
                    self.drop_late(conn);
                    tracing::error!(why, transaction, "the outcome of a write is unknown");
                    let held = job.answer_unknown(why);
                    self.wait_for_outcome(transaction).await;
                    tracing::info!(transaction, "the outcome of a write is settled");
                    return drop(held);
                }
            },
            // Without COMMIT nothing is written: the database rolls back what a lost connection had open.
            Ran::RollBack => match timeout_at(deadline, roll_back(&mut conn)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => self.drop_dead(conn),
                Err(_late) => self.drop_late(conn),
            },
            Ran::Late => self.drop_late(conn),
        }
        job.answer();
    }

    /// Returns a connection with an open transaction, and the id of that; `None` if nobody waits for the job any more. A dead
    /// connection is replaced once: nothing was committed yet.
    ///
    /// # Errors
    /// `Unavailable` also when another server has the lease.
    async fn begin(
        &self,
        guard: Option<&Guard>,
        job: &mut dyn DbJob,
        deadline: Instant,
    ) -> Result<Option<(Conn, i64)>, DbError> {
        let mut why = String::new();
        for _ in 0..2 {
            let mut pg = self.connection(deadline).await?;
            if !job.begin() {
                return Ok(None);
            }
            let begun = timeout_at(deadline, lease::begin(&mut pg, guard, job)).await;
            let conn = Conn::Pg(pg);
            match begun {
                Ok(Ok(Begun { transaction, is_ours: true })) => return Ok(Some((conn, transaction))),
                Ok(Ok(Begun { is_ours: false, .. })) => {
                    if let Some(guard) = guard {
                        guard.lose();
                    }
                    close(conn);
                    return Err(DbError::Unavailable("another server has taken over the database".to_owned()));
                }
                Ok(Err(error)) => {
                    why = error.to_string();
                    self.drop_dead(conn);
                }
                Err(_late) => {
                    self.drop_late(conn);
                    return Err(DbError::Unavailable(format!("no answer within {:?}", self.limit)));
                }
            }
        }
        Err(DbError::Unavailable(why))
    }

    /// Waits until a transaction whose COMMIT wasn't answered has ended.
    async fn wait_for_outcome(&self, transaction: i64) {
        loop {
            let deadline = Instant::now() + self.limit;
            match timeout_at(deadline, self.is_over(transaction, deadline)).await {
                Ok(Ok(true)) => return,
                // The query itself is invalid, as after the database was restored to an earlier state: no status will
                // come.
                Ok(Err(DbError::Broken(why))) => {
                    return tracing::error!(why, transaction, "the outcome of a write could not be determined");
                }
                Ok(Ok(false) | Err(_)) | Err(_) => sleep(CHECK_INTERVAL).await,
            }
        }
    }

    async fn is_over(&self, transaction: i64, deadline: Instant) -> Result<bool, DbError> {
        let mut conn = self.connection(deadline).await?;
        // A backend that waits for a COMMIT which was lost on the way is terminated: its client is gone.
        let sql = "SELECT txid_status($1) IS DISTINCT FROM 'in progress' AS is_over, \
                   (SELECT bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE state LIKE 'idle in transaction%' AND backend_xid::text::bigint = $1 % 4294967296) AS ended";
        let end: TransactionEnd = diesel::sql_query(sql).bind::<BigInt, _>(transaction).get_result(&mut *conn).await?;
        Ok(end.is_over)
    }

    /// Waits until half of the limit is left: a write that begins later would too often be cut off during COMMIT, and
    /// be unknown where it could have been refused.
    async fn connection(&self, deadline: Instant) -> Result<Object<PgConn>, DbError> {
        let half = self.limit / 2;
        match timeout_at(deadline - half, self.pool.get()).await {
            Ok(Ok(conn)) => Ok(conn),
            Ok(Err(error)) => Err(DbError::Unavailable(format!("no connection: {error}"))),
            Err(_late) => Err(DbError::Unavailable(format!("no connection within {half:?}"))),
        }
    }

    /// Closes a connection whose current operation didn't end in time.
    fn drop_late(&self, conn: Conn) {
        self.suspicion.late();
        close(conn);
    }

    /// Closes a dead connection; the idle ones are probably dead too.
    fn drop_dead(&self, conn: Conn) {
        self.suspicion.dead();
        close(conn);
    }

    pub(super) fn waiting(&self) -> usize {
        self.pool.status().waiting
    }
}

fn close(conn: Conn) {
    if let Conn::Pg(conn) = conn {
        drop(Object::<PgConn>::take(conn));
    }
}

#[derive(QueryableByName)]
struct TransactionEnd {
    #[diesel(sql_type = Bool)]
    is_over: bool,
}

#[derive(QueryableByName)]
struct RolledBack {
    #[diesel(sql_type = Bool)]
    is_rolled_back: bool,
}

/// Why a job's writes were not committed, or may not have been.
enum CommitError {
    Undone(DbError),
    Unknown(String),
}

/// Commits the transaction with that id.
///
/// # Errors
/// `Unknown` when COMMIT may have been sent and PostgreSQL did not say what became of it; with any other error nothing was
/// written.
async fn commit(conn: &mut Conn, transaction: i64, deadline: Instant) -> Result<(), CommitError> {
    let Conn::Pg(pg) = conn else { return Ok(()) };
    if Instant::now() >= deadline {
        return Err(CommitError::Undone(DbError::Unavailable("no time left before COMMIT".to_owned())));
    }
    match timeout_at(deadline, Conn::commit_write(pg)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => match timeout_at(deadline, is_rolled_back(conn, transaction)).await {
            Ok(Ok(true)) => Err(CommitError::Undone(error.into())),
            Ok(Ok(false) | Err(_)) | Err(_) => Err(CommitError::Unknown(error.to_string())),
        },
        Err(_late) => Err(CommitError::Unknown("no answer to COMMIT".to_owned())),
    }
}

/// Asks whether the transaction whose COMMIT failed was rolled back.
async fn is_rolled_back(conn: &mut Conn, transaction: i64) -> Result<bool, DbError> {
    roll_back(conn).await?;
    let Conn::Pg(pg) = conn else { return Ok(false) };
    let sql = "SELECT txid_status($1) IS NOT DISTINCT FROM 'aborted' AS is_rolled_back";
    let asked: RolledBack = diesel::sql_query(sql).bind::<BigInt, _>(transaction).get_result(&mut **pg).await?;
    Ok(asked.is_rolled_back)
}

/// Rolls back until no transaction is open.
async fn roll_back(conn: &mut Conn) -> diesel::QueryResult<()> {
    while conn.depth().await? > 0 {
        conn.roll_back().await?;
    }
    Ok(())
}

async fn migrate(connector: &Connector, limit: Duration) -> Result<(), OpenError> {
    let away = |why: String| OpenError(format!("PostgreSQL can't be reached: {why}"));
    let mut conn = tokio::time::timeout(limit, connector.connect())
        .await
        .map_err(|_late| away(format!("no answer within {limit:?}")))?
        .map_err(|error| away(error.to_string()))?;
    let failed = |why: String| OpenError(format!("the database schema can't be migrated: {why}"));
    conn.batch_execute(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})"))
        .await
        .map_err(|error| failed(error.to_string()))?;
    // The connection is closed here, which releases the lock.
    AsyncMigrationHarness::new(conn)
        .run_pending_migrations(MIGRATIONS)
        .map(|_| ())
        .map_err(|error| failed(error.to_string()))
}
