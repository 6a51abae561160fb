//! One connection type and one `RunQueryDsl`: SQLite or PostgreSQL, chosen when the server starts.
//!
//! A query is accepted when BOTH databases can run it; the compiler refuses the rest. Call sites are plain Diesel:
//! `users::table.find(key).first(conn).await.optional()?`. What can't be written so:
//! - `as_select()` is tied to one database: `select(Row::columns())` and `returning(Row::columns())`, see [`Columns`];
//! - `values(&vec)` doesn't compile for SQLite: use [`many!`];
//! - `into_boxed()` is tied to one database: use [`each!`], or write an optional filter as
//!   `wanted.is_none().into_sql::<Bool>().or(column.eq(wanted.unwrap_or_default()))`.
//!
//! Files that import [`RunQueryDsl`] have `.load()` on every type: keep `ArcSwap` out of them.

use std::error::Error as StdError;
use std::future::{Future, pending, ready};

use diesel::connection::{AnsiTransactionManager as Ansi, TransactionManager as _};
use diesel::query_dsl::methods::LimitDsl;
use diesel::{QueryResult, Selectable, SqliteConnection};
use diesel_async::methods::{ExecuteDsl, LoadQuery};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use diesel_async::{
    AsyncConnection, AsyncPgConnection, RunQueryDsl as OfOne, SimpleAsyncConnection, TransactionManager,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

pub type PgConn = AsyncPgConnection;
pub type LiteConn = SyncConnectionWrapper<SqliteConnection, InPlace>;

/// What a job is lent to talk to the database with.
#[expect(clippy::large_enum_variant, reason = "as many as connections, and lent by reference")]
pub enum Conn {
    Pg(Object<PgConn>),
    Sqlite(LiteConn),
}

/// Runs SQLite's calls on the thread that asks: jobs on SQLite have a thread of their own already. A call is no place at
/// which a timer could end the job, so that a job which has had its time finds no further call answered.
pub struct InPlace;

impl SpawnBlocking for InPlace {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn StdError + Send + Sync + 'static>>> {
        if super::job::is_late() {
            return pending().boxed();
        }
        ready(Ok(task())).boxed()
    }

    fn get_runtime() -> Self {
        Self
    }
}

/// The same expression, compiled once for each database: for boxed queries and for SQL text.
///
/// `each!(conn, |c, DB| { … users::table.into_boxed::<DB>() … diesel_async::RunQueryDsl::load(query, c).await })`. The
/// caller has [`Conn`] in scope.
macro_rules! each {
    ($conn:expr, |$c:ident, $DB:ident| $body:expr) => {
        match $conn {
            Conn::Pg(pg) => {
                type $DB = diesel::pg::Pg;
                let $c = &mut **pg;
                $body
            }
            Conn::Sqlite(lite) => {
                type $DB = diesel::sqlite::Sqlite;
                let $c = &mut *lite;
                $body
            }
        }
    };
    ($conn:expr, |$c:ident| $body:expr) => {
        match $conn {
            Conn::Pg(pg) => {
                let $c = &mut **pg;
                $body
            }
            Conn::Sqlite(lite) => {
                let $c = &mut *lite;
                $body
            }
        }
    };
}
#[cfg(test)]
pub(crate) use each;

/// Rows that a PostgreSQL statement takes at once: far below the 65,535 values that one may have.
pub(crate) const ROWS: usize = 256;

/// Writes many rows by a statement that takes one row or several: several at a time on PostgreSQL, where each statement is
/// a journey to the server and back; one by one on SQLite, for which several don't compile, and which is no journey away.
///
/// `many!(conn, rows, |some| diesel::insert_into(events::table).values(some))`.
macro_rules! many {
    ($conn:expr, $rows:expr, |$some:ident| $statement:expr) => {
        match $conn {
            $crate::db::Conn::Pg(pg) => {
                for $some in $rows.chunks($crate::db::ROWS) {
                    diesel_async::RunQueryDsl::execute($statement, &mut **pg).await?;
                }
            }
            $crate::db::Conn::Sqlite(lite) => {
                for $some in $rows {
                    diesel_async::RunQueryDsl::execute($statement, &mut *lite).await?;
                }
            }
        }
    };
}
pub(crate) use many;

type PgTransactions = <PgConn as AsyncConnection>::TransactionManager;

impl Conn {
    /// Runs `work` whole or not at all: an `Err` undoes it.
    ///
    /// In a write this is a savepoint inside the job's transaction. In a read it shows one state of the database to all
    /// queries in it (and can't write).
    ///
    /// # Errors
    /// What `work` returns, or the database's own.
    pub async fn transaction<T, E: From<diesel::result::Error>>(
        &mut self,
        work: impl AsyncFnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.begin().await?;
        match work(self).await {
            Ok(done) => {
                self.commit().await?;
                Ok(done)
            }
            Err(error) => {
                self.roll_back().await?;
                Err(error)
            }
        }
    }

    /// Runs several statements of SQL text, without parameters and without rows.
    ///
    /// # Errors
    /// The database's own.
    pub async fn batch(&mut self, sql: &str) -> QueryResult<()> {
        each!(self, |c| c.batch_execute(sql).await)
    }

    /// Begins what a read sees: a write's transaction is begun by [`super::Db::write`], so that nothing is open yet only
    /// in a read.
    async fn begin(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => {
                if depth(pg)? == 0 {
                    PgTransactions::begin_transaction_sql(&mut **pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                        .await
                } else {
                    PgTransactions::begin_transaction(&mut **pg).await
                }
            }
            Self::Sqlite(lite) => lite.spawn_blocking(Ansi::begin_transaction).await,
        }
    }

    /// Begins a write.
    pub(super) async fn begin_write(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::begin_transaction(&mut **pg).await,
            Self::Sqlite(lite) => lite.spawn_blocking(|c| Ansi::begin_transaction_sql(c, "BEGIN IMMEDIATE")).await,
        }
    }

    /// Begins a write with statements of SQL text that begin with BEGIN; on SQLite as [`Self::begin_write`].
    pub(super) async fn begin_write_with(&mut self, sql: &str) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::begin_transaction_sql(&mut **pg, sql).await,
            Self::Sqlite(_) => self.begin_write().await,
        }
    }

    pub(super) async fn begin_savepoint(&mut self) -> QueryResult<()> {
        self.begin().await
    }

    pub(super) async fn commit(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::commit_transaction(&mut **pg).await,
            Self::Sqlite(lite) => lite.spawn_blocking(Ansi::commit_transaction).await,
        }
    }

    pub(super) async fn roll_back(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::rollback_transaction(&mut **pg).await,
            Self::Sqlite(lite) => lite.spawn_blocking(Ansi::rollback_transaction).await,
        }
    }

    /// How many transactions and savepoints are open.
    ///
    /// # Errors
    /// The connection lost track of it and must be dropped.
    pub(super) async fn depth(&mut self) -> QueryResult<u32> {
        match self {
            Self::Pg(pg) => depth(pg),
            Self::Sqlite(lite) => {
                lite.spawn_blocking(|c| {
                    let depth = Ansi::transaction_manager_status_mut(c).transaction_depth()?;
                    Ok(depth.map_or(0, std::num::NonZeroU32::get))
                })
                .await
            }
        }
    }
}

fn depth(pg: &mut Object<PgConn>) -> QueryResult<u32> {
    let depth = PgTransactions::transaction_manager_status_mut(&mut **pg).transaction_depth()?;
    Ok(depth.map_or(0, std::num::NonZeroU32::get))
}

/// The column list of a `Selectable` row, tied to neither database: `select(Row::columns())`.
pub trait Columns: Selectable<diesel::pg::Pg> {
    #[must_use]
    fn columns() -> Self::SelectExpression {
        Self::construct_selection()
    }
}
impl<T: Selectable<diesel::pg::Pg>> Columns for T {}

/// What runs a query, in place of Diesel's trait of this name.
pub trait RunQueryDsl: Sized {
    /// Answers how many rows were changed.
    fn execute<'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<usize>> + Send
    where
        Self: ExecuteDsl<PgConn> + ExecuteDsl<LiteConn> + Send + 'q,
    {
        async move {
            match conn {
                Conn::Pg(pg) => <Self as OfOne<PgConn>>::execute(self, &mut **pg).await,
                Conn::Sqlite(lite) => <Self as OfOne<LiteConn>>::execute(self, lite).await,
            }
        }
    }

    fn load<'q, U: Send + 'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<Vec<U>>> + Send
    where
        Self: LoadQuery<'q, PgConn, U> + LoadQuery<'q, LiteConn, U> + Send + 'q,
    {
        async move {
            match conn {
                Conn::Pg(pg) => <Self as OfOne<PgConn>>::load(self, &mut **pg).await,
                Conn::Sqlite(lite) => <Self as OfOne<LiteConn>>::load(self, lite).await,
            }
        }
    }

    /// Answers the one row; `NotFound` without one: see `diesel::OptionalExtension`.
    fn get_result<'q, U: Send + 'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<U>> + Send
    where
        Self: LoadQuery<'q, PgConn, U> + LoadQuery<'q, LiteConn, U> + Send + 'q,
    {
        async move {
            match conn {
                Conn::Pg(pg) => <Self as OfOne<PgConn>>::get_result(self, &mut **pg).await,
                Conn::Sqlite(lite) => <Self as OfOne<LiteConn>>::get_result(self, lite).await,
            }
        }
    }

    /// [`Self::get_result`] with LIMIT 1.
    fn first<'q, U: Send + 'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<U>> + Send
    where
        Self: LimitDsl,
        diesel::dsl::Limit<Self>: LoadQuery<'q, PgConn, U> + LoadQuery<'q, LiteConn, U> + Send + 'q,
    {
        RunQueryDsl::get_result(self.limit(1), conn)
    }
}
impl<Q> RunQueryDsl for Q {}
