//! The guard of PostgreSQL's lease on every write of a server: whoever lost the lease can't write.
//!
//! ```text
//!   a write   BEGIN + shared lock … statements … is the lease still ours? COMMIT
//!   a taker   exclusive lock, then the row gets another holder: after every write that was begun, before every later one
//! ```
//! The lock is an advisory one, which is in the memory of PostgreSQL alone and is gone with its transaction: it comes with
//! BEGIN and costs no journey, and renewing the lease neither waits for it nor holds it up. The look is the last statement
//! before COMMIT and sees what was committed until then; since the lock is held already, no other server can take the lease
//! between the look and the end of COMMIT, however long this process sleeps there. A taker waits for such a write, so that
//! it begins with what the former server wrote last.
//!
//! Programs that are no server (the operator's, a migration) write without a guard.

use actors::ids::Id;
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Nullable};
use diesel_async::RunQueryDsl;
use tokio::sync::watch;

use super::conn::PgConn;
use super::failed::Failed;
use super::sql::{Key, Uuid};

/// One start of a server.
#[derive(Debug, Clone, Copy)]
pub(super) enum Start {}

/// Waits for every transaction that [`Guard::begin`] began, and keeps later ones waiting.
pub(super) const EXCLUDE: &str = "SELECT pg_advisory_xact_lock(12587269, 'server_lease'::regclass::oid::int)";
/// What [`Guard::of`] is given.
pub(super) const NUMBER: &str = "SELECT 'server_lease'::regclass::oid::int AS number";

/// Held by a server's database as long as the server runs.
pub(super) struct Guard {
    pub holder: Key<Start>,
    /// Begins a transaction that no taker of the lease comes before. Without a name that were to be looked up each time.
    pub begin: String,
    lost: watch::Sender<bool>,
}

impl Guard {
    /// `number`: of the table, which tells the lease of one schema from another's.
    pub fn of(number: i32) -> Self {
        let begin = format!("BEGIN; SELECT pg_advisory_xact_lock_shared(12587269, {number})");
        Self { holder: Key(Id::draw()), begin, lost: watch::Sender::new(false) }
    }

    /// Turns true when another server has the lease.
    pub fn lost(&self) -> watch::Receiver<bool> {
        self.lost.subscribe()
    }

    /// Another server has the lease.
    pub fn lose(&self) {
        if !self.lost.send_replace(true) {
            tracing::error!("another server took the database");
        }
    }
}

#[derive(QueryableByName)]
struct Look {
    #[diesel(sql_type = Nullable<BigInt>)]
    transaction: Option<i64>,
    #[diesel(sql_type = Bool)]
    is_ours: bool,
}

/// The last statement of a write: which transaction it is, where it wrote anything. Fails in one that failed before and
/// whose failure nobody looked at: COMMIT would undo that without an error.
///
/// # Errors
/// `Unavailable`: another server has the lease. The database's own.
pub(super) async fn look(conn: &mut PgConn, guard: Option<&Guard>) -> Result<Option<i64>, Failed> {
    let Some(guard) = guard else {
        let look = diesel::sql_query("SELECT txid_current_if_assigned() AS transaction, true AS is_ours");
        return Ok(look.get_result::<Look>(conn).await?.transaction);
    };
    let look = diesel::sql_query(
        "SELECT txid_current_if_assigned() AS transaction, \
         EXISTS (SELECT FROM server_lease WHERE id = 1 AND holder = $1) AS is_ours",
    );
    let look: Look = look.bind::<Uuid, _>(guard.holder).get_result(conn).await?;
    if !look.is_ours {
        guard.lose();
        return Err(Failed::Unavailable("another server took the database".to_owned()));
    }
    Ok(look.transaction)
}
