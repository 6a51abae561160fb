//! Fencing of a server's writes by its lease on PostgreSQL: a server that has lost the lease can't write.
//!
//! ```text
//!   a write   BEGIN + shared lock … statements … is the lease still ours? COMMIT
//!   a taker   exclusive lock, then the row gets another holder: after every write begun before, before every later one
//! ```
//! The lock is an advisory one, which exists in PostgreSQL's memory only and is released with its transaction. It is
//! acquired together with BEGIN and costs no extra round trip, and a renewal of the lease neither waits for it nor
//! delays it. The check is the last statement before COMMIT and sees what was committed until then; since the lock is
//! held already, no other server can take the lease between the check and the end of COMMIT, however long this process
//! is suspended there. A taker waits for such a write, so that it starts from what the former server wrote last.
//!
//! Programs that are not servers (operator commands, migrations) write without a guard.

use actors::ids::Id;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Nullable};
use diesel_async::RunQueryDsl;
use tokio::sync::watch;

use super::conn::PgConn;
use super::error::DbError;
use super::kept::kept;
use super::sql::{Key, Uuid};

/// One start of a server (a marker type for ids).
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {}

/// Waits for every transaction that [`Guard::begin`] began, and blocks later ones.
pub(super) const EXCLUDE: &str = "SELECT pg_advisory_xact_lock(12587269, 'server_lease'::regclass::oid::int)";
/// Selects the argument of [`Guard::of`].
pub(super) const NUMBER: &str = "SELECT 'server_lease'::regclass::oid::int AS number";

/// The lease holder's identity and fence; held by a server's database while the server runs.
pub(super) struct Guard {
    pub holder: Key<Start>,
    /// Begins a transaction before whose end no other server can take the lease. It holds the table's number, because a
    /// name would be looked up each time.
    pub begin: String,
    lost: watch::Sender<bool>,
}

impl Guard {
    /// `number`: the oid of the lease table, which distinguishes the lease of one schema from another's.
    pub fn of(number: i32) -> Self {
        let begin = format!("BEGIN; SELECT pg_advisory_xact_lock_shared(12587269, {number})");
        Self { holder: Key(Id::generate()), begin, lost: watch::Sender::new(false) }
    }

    /// Becomes true when another server has the lease.
    pub fn lost(&self) -> watch::Receiver<bool> {
        self.lost.subscribe()
    }

    /// Records that another server has the lease.
    pub fn lose(&self) {
        if !self.lost.send_replace(true) {
            tracing::error!("another server has taken over the database");
        }
    }
}

#[derive(QueryableByName)]
struct LeaseRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    transaction: Option<i64>,
    #[diesel(sql_type = Bool)]
    is_ours: bool,
}

/// Runs the last statement of a write: checks the lease, and returns the id of the transaction if it wrote anything.
/// Fails in a transaction with a failed statement that the job ignored: COMMIT would roll that back without an error.
///
/// # Errors
/// `Unavailable` when another server has the lease; otherwise the database error.
pub(super) async fn check_lease(conn: &mut PgConn, guard: Option<&Guard>) -> Result<Option<i64>, DbError> {
    let Some(guard) = guard else {
        let check = diesel::sql_query("SELECT txid_current_if_assigned() AS transaction, true AS is_ours");
        return Ok(kept(check).get_result::<LeaseRow>(conn).await?.transaction);
    };
    let check = diesel::sql_query(
        "SELECT txid_current_if_assigned() AS transaction, \
         EXISTS (SELECT FROM server_lease WHERE id = 1 AND holder = $1) AS is_ours",
    );
    let check: LeaseRow = kept(check.bind::<Uuid, _>(guard.holder)).get_result(conn).await?;
    if !check.is_ours {
        guard.lose();
        return Err(DbError::Unavailable("another server has taken over the database".to_owned()));
    }
    Ok(check.transaction)
}
