//! Whether writes are committed, for those who ask whether the server is ready: reads may succeed when no write does, as
//! with a full disk.
//!
//! A write that changes nothing takes the way of all others: the writer's queue on SQLite, the lease on PostgreSQL, and
//! COMMIT. There is one at a time, whoever asks and however many: its result counts for [`FRESH`].

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::Db;
use super::conn::Conn;
use super::error::DbError;

/// How long a result counts.
const FRESH: Duration = Duration::from_secs(1);

/// The latest result, and whether the next one is on its way.
pub(super) struct WriteCheck {
    latest: watch::Sender<Option<CheckedWrite>>,
    is_running: AtomicBool,
}

struct CheckedWrite {
    at: Instant,
    outcome: Result<(), DbError>,
}

impl WriteCheck {
    pub(super) fn new() -> Self {
        Self { latest: watch::Sender::new(None), is_running: AtomicBool::new(false) }
    }
}

fn is_fresh(latest: &Option<CheckedWrite>, asked: Instant) -> bool {
    latest.as_ref().is_some_and(|checked| checked.at + FRESH > asked)
}

impl Db {
    /// Checks that a write is committed now, or was a moment ago.
    ///
    /// # Errors
    /// The error of the write; `Unavailable` when it takes longer than a write may.
    pub async fn check_writes(&self) -> Result<(), DbError> {
        let check = &self.open.write_check;
        let mut latest = check.latest.subscribe();
        // By the time of the question: what is found later is never too old, however late its caller is awake.
        let asked = Instant::now();
        let is_known = is_fresh(&latest.borrow(), asked);
        if !is_known && !check.is_running.swap(true, Ordering::AcqRel) {
            let db = self.clone();
            // Not by the caller, who may go away: a write without its caller would be in doubt, and hold up reads.
            self.open.handle.spawn(async move {
                let outcome = db.commit_nothing().await;
                let check = &db.open.write_check;
                check.latest.send_replace(Some(CheckedWrite { at: Instant::now(), outcome }));
                check.is_running.store(false, Ordering::Release);
            });
        }
        let limit = self.open.limit;
        let checked = timeout(limit, latest.wait_for(|latest| is_fresh(latest, asked))).await;
        match checked {
            Ok(Ok(checked)) => checked.as_ref().map_or(Ok(()), |checked| checked.outcome.clone()),
            Ok(Err(_)) => Err(DbError::Unavailable("the database is closed".to_owned())),
            Err(_late) => Err(DbError::Unavailable(format!("no write was committed within {limit:?}"))),
        }
    }

    async fn commit_nothing(&self) -> Result<(), DbError> {
        self.write(|conn| {
            Box::pin(async move {
                // Without a change SQLite would write nothing, and succeed on a full disk. The number is as it always is;
                // the page that holds it is written all the same. PostgreSQL gives each write a transaction of its own.
                if let Conn::Sqlite(_) = conn {
                    conn.batch("PRAGMA user_version = 0").await?;
                }
                Ok(())
            })
        })
        .await
    }
}
