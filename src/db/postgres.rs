//! PostgreSQL: its pool, and what is known when it goes away in the middle.
//!
//! A write has one limit for all of it (connection, statements, COMMIT). Until COMMIT is sent a failure means that
//! nothing was written; after it, an answer that doesn't come means Unknown. Connections that an outage left dead are
//! dropped together, at the first that shows it.
//!
//! Deliberately absent: TLS to the database (put it on a private network or behind a local proxy), and retries of a job
//! (it can run only once; see `SerializationFailure` in [`Failed`]).

use std::time::Duration;

use diesel::result::{DatabaseErrorKind, Error};
use diesel_async::pooled_connection::deadpool::{Object, Pool};
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig, RecyclingMethod};
use diesel_async::{AsyncConnection, AsyncMigrationHarness, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use futures_util::FutureExt;
use tokio::time::{Instant, timeout_at};

use super::conn::{Conn, PgConn};
use super::failed::Failed;
use super::job::{Job, Ran, run_within};
use super::{OpenError, Settings};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/postgres");
/// Any number that only Colloquy takes: two servers that start together bring the tables up to date one by one.
const MIGRATION_LOCK: i64 = 0x00C0_1105;

/// A pool of connections, all driven by the runtime of [`super::Db`].
pub(super) struct Postgres {
    pool: Pool<PgConn>,
    limit: Duration,
}

impl Postgres {
    /// Brings the tables up to date and makes the pool. Call it on the runtime that is to drive the connections.
    pub(super) async fn open(settings: &Settings) -> Result<Self, OpenError> {
        let url = with_limits(&settings.url, settings.limit);
        migrate(&url, settings.limit).await?;
        let mut config = ManagerConfig::<PgConn>::default();
        // A ping at each checkout halves the rate.
        config.recycling_method = RecyclingMethod::Fast;
        let limit = settings.limit;
        config.custom_setup = Box::new(move |url| {
            let url = url.to_owned();
            async move {
                let mut conn = PgConn::establish(&url).await?;
                let millis = limit.as_millis();
                let setup = format!(
                    "SET statement_timeout = {millis}; SET idle_in_transaction_session_timeout = {}; SET TIME ZONE 'UTC'",
                    millis * 5
                );
                conn.batch_execute(&setup).await.map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
                Ok(conn)
            }
            .boxed()
        });
        let manager = AsyncDieselConnectionManager::<PgConn>::new_with_config(url, config);
        let pool = Pool::builder(manager)
            .max_size(settings.connections)
            .build()
            .map_err(|error| OpenError(format!("the pool of connections can't be made: {error}")))?;
        Ok(Self { pool, limit: settings.limit })
    }

    pub(super) async fn read(&self, mut job: Box<dyn Job>) {
        let deadline = Instant::now() + self.limit;
        let mut conn = match self.connection(deadline).await {
            Ok(conn) => Conn::Pg(conn),
            Err(failed) => {
                job.spoil(failed);
                return job.answer();
            }
        };
        let ran = run_within(deadline.duration_since(Instant::now()), job.as_mut(), &mut conn).await;
        job.answer();
        match ran {
            Ran::Keep => {}
            Ran::Late => self.discard(conn),
            // The job's error says nothing about the connection, so ask it; the caller has the answer already.
            Ran::Undo => {
                let alive = timeout_at(Instant::now() + self.limit, conn.batch("SELECT 1")).await;
                if !matches!(alive, Ok(Ok(()))) {
                    self.discard(conn);
                }
            }
        }
    }

    pub(super) async fn write(&self, mut job: Box<dyn Job>) {
        let deadline = Instant::now() + self.limit;
        let mut conn = match self.begin(deadline).await {
            Ok(conn) => conn,
            Err(failed) => {
                job.spoil(failed);
                return job.answer();
            }
        };
        let ran = run_within(deadline.duration_since(Instant::now()), job.as_mut(), &mut conn).await;
        match ran {
            Ran::Keep => match commit(&mut conn, deadline).await {
                Ok(()) => {}
                Err(failed) => {
                    job.spoil(failed);
                    self.discard(conn);
                }
            },
            // Without COMMIT nothing is kept: the server undoes what a lost connection had open.
            Ran::Undo => {
                let undone = timeout_at(deadline, roll_back(&mut conn)).await;
                if !matches!(undone, Ok(Ok(()))) {
                    self.discard(conn);
                }
            }
            Ran::Late => self.discard(conn),
        }
        job.answer();
    }

    /// A connection with an open transaction. One that is found dead is replaced once: nothing has happened yet.
    async fn begin(&self, deadline: Instant) -> Result<Conn, Failed> {
        let mut why = String::new();
        for _ in 0..2 {
            let mut conn = Conn::Pg(self.connection(deadline).await?);
            match timeout_at(deadline, conn.begin_write()).await {
                Ok(Ok(())) => return Ok(conn),
                Ok(Err(error)) => why = error.to_string(),
                Err(_late) => why = format!("no answer to BEGIN within {:?}", self.limit),
            }
            self.discard(conn);
        }
        Err(Failed::Unavailable(why))
    }

    /// Waits half of the limit: what begins later than that would too often be cut off in the middle of its COMMIT, and
    /// be unknown where it could have been refused.
    async fn connection(&self, deadline: Instant) -> Result<Object<PgConn>, Failed> {
        let half = self.limit / 2;
        match timeout_at(deadline - half, self.pool.get()).await {
            Ok(Ok(conn)) => Ok(conn),
            Ok(Err(error)) => Err(Failed::Unavailable(format!("no connection: {error}"))),
            Err(_late) => Err(Failed::Unavailable(format!("no connection within {half:?}"))),
        }
    }

    /// Closes a connection that may be dead, and the idle ones that probably share its fate.
    fn discard(&self, conn: Conn) {
        if let Conn::Pg(conn) = conn {
            drop(Object::<PgConn>::take(conn));
        }
        self.pool.retain(|_, _| false);
    }

    pub(super) fn waiting(&self) -> usize {
        self.pool.status().waiting
    }
}

/// # Errors
/// `Unknown` once COMMIT was sent and its answer is missing; anything else: nothing was written.
async fn commit(conn: &mut Conn, deadline: Instant) -> Result<(), Failed> {
    // COMMIT after a statement that failed answers ROLLBACK without an error. This statement fails then.
    match timeout_at(deadline, conn.batch("SET CONSTRAINTS ALL IMMEDIATE")).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(Failed::from(error)),
        Err(_late) => return Err(Failed::Unavailable("no answer before COMMIT".to_owned())),
    }
    match timeout_at(deadline, conn.commit()).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(match error {
            Error::DatabaseError(
                DatabaseErrorKind::SerializationFailure
                | DatabaseErrorKind::UniqueViolation
                | DatabaseErrorKind::ForeignKeyViolation
                | DatabaseErrorKind::CheckViolation
                | DatabaseErrorKind::ExclusionViolation,
                _,
            ) => Failed::from(error),
            other => Failed::Unknown(other.to_string()),
        }),
        Err(_late) => Err(Failed::Unknown("no answer to COMMIT".to_owned())),
    }
}

/// Down to no open transaction.
async fn roll_back(conn: &mut Conn) -> diesel::QueryResult<()> {
    while conn.depth().await? > 0 {
        conn.roll_back().await?;
    }
    Ok(())
}

/// The URL with limits for what the kernel does: whole seconds, at least one.
fn with_limits(url: &str, limit: Duration) -> String {
    let seconds = limit.as_secs().max(1);
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}connect_timeout={seconds}&tcp_user_timeout={seconds}")
}

async fn migrate(url: &str, limit: Duration) -> Result<(), OpenError> {
    let away = |why: String| OpenError(format!("PostgreSQL can't be reached: {why}"));
    let mut conn = tokio::time::timeout(limit, PgConn::establish(url))
        .await
        .map_err(|_late| away(format!("no answer within {limit:?}")))?
        .map_err(|error| away(error.to_string()))?;
    let failed = |why: String| OpenError(format!("the tables can't be brought up to date: {why}"));
    conn.batch_execute(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})"))
        .await
        .map_err(|error| failed(error.to_string()))?;
    // The connection ends here, and with it the lock.
    AsyncMigrationHarness::new(conn)
        .run_pending_migrations(MIGRATIONS)
        .map(|_| ())
        .map_err(|error| failed(error.to_string()))
}
