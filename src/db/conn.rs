//! One connection type and one `RunQueryDsl` for SQLite and PostgreSQL; the server chooses the database at startup.
//!
//! A query compiles only when BOTH databases can run it. Call sites are plain Diesel:
//! `users::table.find(key).first(conn).await.optional()?`. The exceptions are:
//! - `as_select()` is tied to one database: use `select(Row::columns())` and `returning(Row::columns())`, see
//!   [`Columns`];
//! - `values(&vec)` doesn't compile for SQLite: use [`many!`];
//! - `into_boxed()` is tied to one database: use [`each!`], or write an optional filter as [`super::is_wanted`] does.
//!
//! Files that import [`RunQueryDsl`] get `.load()` on every type: don't use `ArcSwap` in them.

use std::future::{Future, pending};

use diesel::connection::{
    AnsiTransactionManager as Ansi, SimpleConnection, TransactionDepthChange, TransactionManager as _,
    TransactionManagerStatus,
};
use diesel::query_dsl::methods::{ExecuteDsl, LimitDsl, LoadQuery};
use diesel::{QueryResult, RunQueryDsl as InSqlite, Selectable, SqliteConnection};
use diesel_async::methods::{ExecuteDsl as ExecuteInPostgres, LoadQuery as LoadFromPostgres};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::{
    AsyncConnection, AsyncPgConnection, RunQueryDsl as InPostgres, SimpleAsyncConnection, TransactionManager,
};

pub type PgConn = AsyncPgConnection;

/// The connection that a job borrows.
#[expect(clippy::large_enum_variant, reason = "as many as connections, and lent by reference")]
pub enum Conn {
    Pg(Object<PgConn>),
    Sqlite(LiteConn),
}

/// The connection of a write, for `at_once!`. SQLite runs each statement in place: there is nothing to wait for.
pub enum AtOnce<'c> {
    Pg(&'c PgConn),
    Sqlite(&'c mut LiteConn),
}

/// A connection to SQLite.
pub struct LiteConn(SqliteConnection);

impl LiteConn {
    pub(super) fn of(conn: SqliteConnection) -> Self {
        Self(conn)
    }

    /// Runs a call of Diesel on the calling thread: jobs on SQLite have their own already. A timer can't interrupt such a
    /// call, so once a job is past its deadline its next call stays pending, which lets the timeout end it.
    ///
    /// # Errors
    /// Returns the error of the call.
    pub async fn run<R>(
        &mut self,
        call: impl FnOnce(&mut SqliteConnection) -> QueryResult<R> + Send,
    ) -> QueryResult<R> {
        if super::job::is_late() {
            pending::<()>().await;
        }
        call(&mut self.0)
    }
}

/// Runs the same query on either database, where its type is another one for each: boxed queries and SQL text.
///
/// `each!(conn, load, |DB| { … users::table.into_boxed::<DB>() … })`. The caller must have [`Conn`] in scope.
macro_rules! each {
    ($conn:expr, $run:ident, |$DB:ident| $query:expr) => {
        match $conn {
            Conn::Pg(pg) => {
                type $DB = diesel::pg::Pg;
                diesel_async::RunQueryDsl::$run($query, &mut **pg).await
            }
            Conn::Sqlite(lite) => {
                type $DB = diesel::sqlite::Sqlite;
                lite.run(|conn| diesel::RunQueryDsl::$run($query, conn)).await
            }
        }
    };
    ($conn:expr, $run:ident, $query:expr) => {
        match $conn {
            Conn::Pg(pg) => diesel_async::RunQueryDsl::$run($query, &mut **pg).await,
            Conn::Sqlite(lite) => lite.run(|conn| diesel::RunQueryDsl::$run($query, conn)).await,
        }
    };
}
pub(crate) use each;

/// Rows per PostgreSQL statement: far below the limit of 65,535 bind values.
pub(crate) const ROWS: usize = 256;
/// Statements with so many rows or fewer stay prepared; more would be too many forms of one statement.
pub(crate) const ROWS_KEPT: usize = 4;

/// Writes many rows with a statement that takes one row or several. On PostgreSQL it writes several at a time, as each
/// statement is a round trip to the server. On SQLite it writes them one by one: a statement with several doesn't
/// compile, and there is no round trip.
///
/// `many!(conn, rows, |some| diesel::insert_into(events::table).values(some))`.
macro_rules! many {
    ($conn:expr, $rows:expr, |$some:ident| $statement:expr) => {
        match $conn {
            $crate::db::Conn::Pg(pg) => {
                for $some in $rows.chunks($crate::db::ROWS) {
                    if $some.len() <= $crate::db::ROWS_KEPT {
                        diesel_async::RunQueryDsl::execute($crate::db::kept($statement), &mut **pg).await?;
                    } else {
                        diesel_async::RunQueryDsl::execute($statement, &mut **pg).await?;
                    }
                }
            }
            $crate::db::Conn::Sqlite(lite) => {
                for $some in $rows {
                    lite.run(|conn| diesel::RunQueryDsl::execute($statement, conn)).await?;
                }
            }
        }
    };
}
pub(crate) use many;

type PgTransactions = <PgConn as AsyncConnection>::TransactionManager;

impl Conn {
    /// Runs `work` in a transaction: an `Err` rolls it back.
    ///
    /// In a write this is a savepoint inside the job's transaction. In a read it gives all queries in it one consistent
    /// state of the database (and can't write).
    ///
    /// # Errors
    /// Returns the error of `work`, or the database error.
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

    /// Lends the connection for statements that do not wait for each other.
    pub fn at_once(&mut self) -> AtOnce<'_> {
        match self {
            Self::Pg(pg) => AtOnce::Pg(pg),
            Self::Sqlite(lite) => AtOnce::Sqlite(lite),
        }
    }

    /// Runs several statements of SQL text, without parameters and without result rows.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn batch(&mut self, sql: &str) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => SimpleAsyncConnection::batch_execute(&mut **pg, sql).await,
            Self::Sqlite(lite) => lite.run(|conn| SimpleConnection::batch_execute(conn, sql)).await,
        }
    }

    /// Begins a read transaction or a savepoint. [`super::Db::write`] has begun a write's transaction already, so that
    /// no transaction is open yet only in a read.
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
            Self::Sqlite(lite) => lite.run(Ansi::begin_transaction).await,
        }
    }

    /// Begins the transaction of a write.
    pub(super) async fn begin_write(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::begin_transaction_sql(&mut **pg, "BEGIN READ WRITE").await,
            Self::Sqlite(lite) => lite.run(|c| Ansi::begin_transaction_sql(c, "BEGIN IMMEDIATE")).await,
        }
    }

    /// Notes that a transaction was begun past Diesel, in whose own way nothing can be sent together with BEGIN.
    pub(super) fn note_begun(pg: &mut PgConn) -> QueryResult<()> {
        change_depth(pg, TransactionDepthChange::IncreaseDepth)
    }

    /// Commits the transaction of a write on PostgreSQL. Fails if a statement had failed and the job ignored that: COMMIT
    /// alone would roll back without an error.
    pub(super) async fn commit_write(pg: &mut PgConn) -> QueryResult<()> {
        SimpleAsyncConnection::batch_execute(pg, "SELECT; COMMIT").await?;
        change_depth(pg, TransactionDepthChange::DecreaseDepth)
    }

    pub(super) async fn begin_savepoint(&mut self) -> QueryResult<()> {
        self.begin().await
    }

    pub(super) async fn commit(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::commit_transaction(&mut **pg).await,
            Self::Sqlite(lite) => lite.run(Ansi::commit_transaction).await,
        }
    }

    pub(super) async fn roll_back(&mut self) -> QueryResult<()> {
        match self {
            Self::Pg(pg) => PgTransactions::rollback_transaction(&mut **pg).await,
            Self::Sqlite(lite) => lite.run(Ansi::rollback_transaction).await,
        }
    }

    /// Returns the number of open transactions and savepoints.
    ///
    /// # Errors
    /// Returns an error when the connection has lost track of them; it must be dropped.
    pub(super) async fn depth(&mut self) -> QueryResult<u32> {
        match self {
            Self::Pg(pg) => depth(pg),
            Self::Sqlite(lite) => {
                lite.run(|c| {
                    let depth = Ansi::transaction_manager_status_mut(c).transaction_depth()?;
                    Ok(depth.map_or(0, std::num::NonZeroU32::get))
                })
                .await
            }
        }
    }
}

fn change_depth(pg: &mut PgConn, change: TransactionDepthChange) -> QueryResult<()> {
    match PgTransactions::transaction_manager_status_mut(pg) {
        TransactionManagerStatus::Valid(status) => status.change_transaction_depth(change),
        TransactionManagerStatus::InError => Err(diesel::result::Error::BrokenTransactionManager),
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

/// Runs a query on a [`Conn`]; used in place of Diesel's trait of the same name.
pub trait RunQueryDsl: Sized {
    /// Returns the number of affected rows.
    fn execute<'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<usize>> + Send
    where
        Self: ExecuteInPostgres<PgConn> + InSqlite<SqliteConnection> + ExecuteDsl<SqliteConnection> + Send + 'q,
    {
        async move {
            match conn {
                Conn::Pg(pg) => InPostgres::execute(self, &mut **pg).await,
                Conn::Sqlite(lite) => lite.run(|conn| InSqlite::execute(self, conn)).await,
            }
        }
    }

    fn load<'q, U: Send + 'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<Vec<U>>> + Send
    where
        Self: LoadFromPostgres<'q, PgConn, U>
            + InSqlite<SqliteConnection>
            + LoadQuery<'q, SqliteConnection, U>
            + Send
            + 'q,
    {
        async move {
            match conn {
                Conn::Pg(pg) => InPostgres::load(self, &mut **pg).await,
                Conn::Sqlite(lite) => lite.run(|conn| InSqlite::load(self, conn)).await,
            }
        }
    }

    /// Returns the single row, or `NotFound` when there is none: see `diesel::OptionalExtension`.
    fn get_result<'q, U: Send + 'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<U>> + Send
    where
        Self: LoadFromPostgres<'q, PgConn, U>
            + InSqlite<SqliteConnection>
            + LoadQuery<'q, SqliteConnection, U>
            + Send
            + 'q,
    {
        async move {
            match conn {
                Conn::Pg(pg) => InPostgres::get_result(self, &mut **pg).await,
                Conn::Sqlite(lite) => lite.run(|conn| InSqlite::get_result(self, conn)).await,
            }
        }
    }

    /// [`Self::get_result`] with LIMIT 1.
    fn first<'q, U: Send + 'q>(self, conn: &mut Conn) -> impl Future<Output = QueryResult<U>> + Send
    where
        Self: LimitDsl,
        diesel::dsl::Limit<Self>: LoadFromPostgres<'q, PgConn, U>
            + InSqlite<SqliteConnection>
            + LoadQuery<'q, SqliteConnection, U>
            + Send
            + 'q,
    {
        RunQueryDsl::get_result(self.limit(1), conn)
    }
}
impl<Q> RunQueryDsl for Q {}
