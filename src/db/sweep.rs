//! What is over goes page by page, each page in a transaction of its own: no other write waits for all that has piled up,
//! and a page that fails undoes no other.
//!
//! Rows are over by a time of their own. What is swept so says it in an [`Over`]: a deletion by age that is written any
//! other way is refused by `tests/architecture.rs`.

use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use diesel::sql_types::BigInt;
use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Db;
use super::conn::Conn;
use super::failed::Failed;
use super::sql::{At, Key, UtcTime, Uuid};

/// How many rows one transaction of upkeep changes at most.
pub const PAGE: i64 = 500;
/// Upkeep rests as long as it worked, so that others have half of the database at least; and no longer than this.
const LONGEST_REST: Duration = Duration::from_millis(100);

/// Rows that are over once a time of theirs lies so far back.
#[derive(Debug, Clone, Copy)]
pub struct Over {
    pub table: &'static str,
    /// The columns of its primary key.
    pub key: &'static str,
    /// The column with the time. An index begins with it.
    pub at: &'static str,
    pub kept: Duration,
}

impl Over {
    /// Deletes those that were over first, at most so many; gives how many.
    ///
    /// # Errors
    /// The database's own.
    pub async fn page(self, conn: &mut Conn, now: Time, most: i64) -> Result<usize, Failed> {
        let before = At(now - self.kept);
        let delete = diesel::sql_query(match conn {
            Conn::Pg(_) => self.in_postgres(),
            Conn::Sqlite(_) => self.in_sqlite(),
        });
        let delete = delete.bind::<UtcTime, _>(before).bind::<BigInt, _>(most);
        Ok(match conn {
            Conn::Pg(pg) => diesel_async::RunQueryDsl::execute(delete, &mut **pg).await?,
            Conn::Sqlite(lite) => diesel_async::RunQueryDsl::execute(delete, lite).await?,
        })
    }

    pub(crate) fn in_sqlite(self) -> String {
        let Self { table, key, at, .. } = self;
        format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {at} <= $1 ORDER BY {at} LIMIT $2)"
        )
    }

    /// By the place of the row, which no plan finds any other way. A row that another transaction holds waits for the next
    /// time, and one that is no longer over when its lock is had stays.
    pub(crate) fn in_postgres(self) -> String {
        let Self { table, at, .. } = self;
        format!(
            "DELETE FROM {table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM {table} WHERE {at} <= $1 ORDER BY {at} \
             LIMIT $2 FOR UPDATE SKIP LOCKED))"
        )
    }
}

/// Rows that belong to a row of another table and go before it, where there may be many.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub table: &'static str,
    /// The columns of its primary key.
    pub key: &'static str,
    /// The column that names the row they belong to. An index begins with it.
    pub of: &'static str,
}

impl Part {
    /// Deletes some of what belongs to a row, at most so many; gives how many.
    ///
    /// # Errors
    /// The database's own.
    pub async fn page<T: 'static>(self, conn: &mut Conn, owner: Id<T>, most: i64) -> Result<usize, Failed> {
        let delete = diesel::sql_query(match conn {
            Conn::Pg(_) => self.in_postgres(),
            Conn::Sqlite(_) => self.in_sqlite(),
        });
        let delete = delete.bind::<Uuid, _>(Key(owner)).bind::<BigInt, _>(most);
        Ok(match conn {
            Conn::Pg(pg) => diesel_async::RunQueryDsl::execute(delete, &mut **pg).await?,
            Conn::Sqlite(lite) => diesel_async::RunQueryDsl::execute(delete, lite).await?,
        })
    }

    pub(crate) fn in_sqlite(self) -> String {
        let Self { table, key, of } = self;
        format!("DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {of} = $1 LIMIT $2)")
    }

    pub(crate) fn in_postgres(self) -> String {
        let Self { table, of, .. } = self;
        format!("DELETE FROM {table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM {table} WHERE {of} = $1 LIMIT $2))")
    }
}

/// Deletes all that is over. A class that fails is logged, and the next one has its turn.
pub async fn all(db: &Db, classes: &[Over], now: Time, stopping: &CancellationToken) {
    for over in classes.iter().copied() {
        if stopping.is_cancelled() {
            return;
        }
        match in_pages(db, stopping, move |conn| Box::pin(over.page(conn, now, PAGE))).await {
            Ok(0) => {}
            Ok(rows) => tracing::debug!(table = over.table, rows, "swept"),
            Err(error) => tracing::warn!(table = over.table, %error, "sweeping failed; it comes again"),
        }
    }
}

/// Runs one write after the other until one changes less than a page, or the server stops; gives how many rows changed.
/// Each is to change [`PAGE`] rows at most.
///
/// # Errors
/// Those of the write that failed; what was done until then stays.
pub async fn in_pages<E: From<Failed> + Send + 'static>(
    db: &Db,
    stopping: &CancellationToken,
    page: impl for<'c> Fn(&'c mut Conn) -> BoxFuture<'c, Result<usize, E>> + Clone + Send + 'static,
) -> Result<usize, E> {
    let mut all = 0;
    loop {
        let (began, page) = (Instant::now(), page.clone());
        let changed = db.write(move |conn| page(conn)).await?;
        all += changed;
        if changed < usize::try_from(PAGE).unwrap_or(usize::MAX) {
            return Ok(all);
        }
        tokio::select! {
            () = tokio::time::sleep(began.elapsed().min(LONGEST_REST)) => {}
            () = stopping.cancelled() => return Ok(all),
        }
    }
}
