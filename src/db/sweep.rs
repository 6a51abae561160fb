//! Deletes expired rows page by page, each page in its own transaction, so that no other write waits for a backlog, and
//! a page that fails undoes no other.
//!
//! A row expires by one of its own timestamps. A table that is swept this way declares an [`Retention`]:
//! `tests/architecture/bounds.rs` refuses a deletion by age that is written any other way.

use std::time::Duration;

use actors::ids::Id;
use actors::time::Time;
use diesel::sql_types::BigInt;
use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Db;
use super::conn::{Conn, each};
use super::error::DbError;
use super::sql::{UtcTime, Uuid};

/// Maximum number of rows that one maintenance transaction changes.
pub const PAGE: i64 = 500;
/// After each page maintenance pauses for as long as the page took, to leave others at least half of the database's
/// time, but for no longer than this.
const MAX_REST: Duration = Duration::from_millis(100);

/// Rows that expire once one of their timestamps lies so far in the past.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub table: &'static str,
    /// The primary key columns.
    pub key: &'static str,
    /// The timestamp column. An index begins with it.
    pub at: &'static str,
    pub period: Duration,
}

impl Retention {
    /// Deletes the rows that expired first, at most `most` of them; returns how many.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn page(self, conn: &mut Conn, now: Time, most: i64) -> Result<usize, DbError> {
        let before = now - self.period;
        let delete = diesel::sql_query(match conn {
            Conn::Pg(_) => self.in_postgres(),
            Conn::Sqlite(_) => self.in_sqlite(),
        });
        let delete = delete.bind::<UtcTime, _>(before).bind::<BigInt, _>(most);
        Ok(each!(conn, execute, delete)?)
    }

    pub(crate) fn in_sqlite(self) -> String {
        let Self { table, key, at, .. } = self;
        format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {at} <= $1 ORDER BY {at} LIMIT $2)"
        )
    }

    /// Deletes by `ctid`, because no other form gets a plan that finds the rows directly. A row that another
    /// transaction has locked is skipped until the next sweep, and a row that is no longer expired once its lock is
    /// acquired stays.
    pub(crate) fn in_postgres(self) -> String {
        let Self { table, at, .. } = self;
        format!(
            "DELETE FROM {table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM {table} WHERE {at} <= $1 ORDER BY {at} \
             LIMIT $2 FOR UPDATE SKIP LOCKED))"
        )
    }
}

/// Rows that belong to a row of another table and are deleted before it, where there may be many.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub table: &'static str,
    /// The primary key columns.
    pub key: &'static str,
    /// The column that references the owning row. An index begins with it.
    pub of: &'static str,
}

impl Part {
    /// Deletes some of the rows that belong to `owner`, at most `most` of them; returns how many.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn page<T: 'static>(self, conn: &mut Conn, owner: Id<T>, most: i64) -> Result<usize, DbError> {
        let delete = diesel::sql_query(match conn {
            Conn::Pg(_) => self.in_postgres(),
            Conn::Sqlite(_) => self.in_sqlite(),
        });
        let delete = delete.bind::<Uuid, _>(owner).bind::<BigInt, _>(most);
        Ok(each!(conn, execute, delete)?)
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

/// Deletes all expired rows of `classes`. A class that fails is logged, and the next one follows.
pub async fn all(db: &Db, classes: &[Retention], now: Time, stopping: &CancellationToken) {
    for over in classes.iter().copied() {
        if stopping.is_cancelled() {
            return;
        }
        match in_pages(db, stopping, move |conn| Box::pin(over.page(conn, now, PAGE))).await {
            Ok(0) => {}
            Ok(rows) => tracing::debug!(table = over.table, rows, "expired rows deleted"),
            Err(error) => {
                tracing::warn!(table = over.table, %error, "expired rows could not be deleted; retrying later");
            }
        }
    }
}

/// Runs one write after another until one changes less than a page, or the server stops; returns how many rows changed
/// in all. Each write must change at most [`PAGE`] rows.
///
/// # Errors
/// Returns the error of the write that failed; earlier writes stay committed.
pub async fn in_pages<E: From<DbError> + Send + 'static>(
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
            () = tokio::time::sleep(began.elapsed().min(MAX_REST)) => {}
            () = stopping.cancelled() => return Ok(all),
        }
    }
}
