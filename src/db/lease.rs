//! Fencing of a server's writes by its lease on PostgreSQL: a server that has lost the lease can't write.
//!
//! ```text
//!   a write   BEGIN + shared lock + is the lease still ours? … statements … COMMIT
//!   a taker   exclusive lock, then the row gets another holder: after every write begun before, before every later one
//! ```
//! The lock is an advisory one, which exists in PostgreSQL's memory only and is released with its transaction. It is
//! acquired together with BEGIN and costs no extra round trip, and a renewal of the lease neither waits for it nor
//! delays it. The check follows in the same round trip and sees what was committed until then; since the lock is held
//! already, no other server can take the lease between the check and the end of COMMIT, however long this process is
//! suspended there. A taker waits for such a write, so that it starts from what the former server wrote last.
//!
//! Programs that are not servers (operator commands, migrations) write without a guard.

use actors::ids::Id;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel::{QueryResult, QueryableByName};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use tokio::sync::watch;

use super::conn::{Conn, PgConn};
use super::job::DbJob;
use super::kept::kept;
use super::sql::Uuid;

/// One start of a server (a marker type for ids).
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {}

/// Waits for every transaction that [`Guard::begin`] began, and blocks later ones.
pub(super) const EXCLUDE: &str = "SELECT pg_advisory_xact_lock(12587269, 'server_lease'::regclass::oid::int)";
/// How long a job that does not wait for locks does wait: less than PostgreSQL takes to look for a deadlock.
const LOCK_TIMEOUT: &str = "200ms";
/// Selects the argument of [`Guard::of`].
pub(super) const NUMBER: &str = "SELECT 'server_lease'::regclass::oid::int AS number";

/// The lease holder's identity and fence; held by a server's database while the server runs.
pub(super) struct Guard {
    pub holder: Id<Start>,
    /// Begins a transaction before whose end no other server can take the lease. It holds the table's number, because a
    /// name would be looked up each time.
    pub begin: String,
    lost: watch::Sender<bool>,
}

impl Guard {
    /// `number`: the oid of the lease table, which distinguishes the lease of one schema from another's.
    pub fn of(number: i32) -> Self {
        let begin = format!("BEGIN READ WRITE; SELECT pg_advisory_xact_lock_shared(12587269, {number})");
        Self { holder: Id::generate(), begin, lost: watch::Sender::new(false) }
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

/// A transaction that has begun.
#[derive(QueryableByName)]
pub(super) struct Begun {
    /// Its id, by which its outcome can be asked for.
    #[diesel(sql_type = BigInt)]
    pub transaction: i64,
    /// Whether this server has the lease, and keeps it until the transaction has ended.
    #[diesel(sql_type = Bool)]
    pub is_ours: bool,
}

/// Begins the transaction of a write, under the lease of `guard`. One round trip: what follows BEGIN is sent without waiting
/// for its answer, and so is what `job` opens with. Without a transaction that would fail: outside of one the session is read-only.
///
/// # Errors
/// Returns the database error. The connection must be dropped then: its state is unknown.
pub(super) async fn begin(pg: &mut PgConn, guard: Option<&Guard>, job: &mut dyn DbJob) -> QueryResult<Begun> {
    let (sql, check, holder) = match guard {
        Some(guard) => (
            guard.begin.as_str(),
            "SELECT txid_current() AS transaction, set_config('lock_timeout', $2, true), \
             EXISTS (SELECT FROM server_lease WHERE id = 1 AND holder = $1) AS is_ours",
            guard.holder,
        ),
        None => (
            "BEGIN READ WRITE",
            "SELECT txid_current() AS transaction, set_config('lock_timeout', $2, true), $1 IS NOT NULL AS is_ours",
            Id::generate(),
        ),
    };
    let lock_timeout = if job.waits_for_locks() { "0" } else { LOCK_TIMEOUT };
    let check = kept(diesel::sql_query(check).bind::<Uuid, _>(holder).bind::<Text, _>(lock_timeout));
    let mut shared: &PgConn = pg;
    let checked = RunQueryDsl::get_result(check, &mut &*pg);
    // In this order: the check has to see what was committed before the lock was ours.
    let (begun, checked, ()) = tokio::join!(biased; shared.batch_execute(sql), checked, job.open(pg));
    begun?;
    Conn::note_begun(pg)?;
    checked
}
