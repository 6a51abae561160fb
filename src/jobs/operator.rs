//! Operator commands for jobs, run on the machine beside a running server or without one: a running one polls for due
//! jobs every second.

use actors::ids::Id;
use actors::time::Time;

use super::{Job, store};
use crate::db::{Db, DbError};

pub use store::{FailedJob, Which};

/// Returns failed jobs after an id, ordered by id.
///
/// # Errors
/// Returns the database error.
pub async fn list_failed(db: &Db, after: Id<Job>, limit: i64) -> Result<Vec<FailedJob>, DbError> {
    db.read(move |conn| Box::pin(store::failed(conn, after, limit))).await
}

/// Requeues failed jobs, each once, however often it fails meanwhile. Returns how many.
///
/// # Errors
/// Returns the database error; some jobs may be requeued by then.
pub async fn requeue(db: &Db, which: Which, now: Time) -> Result<usize, DbError> {
    let (mut after, mut requeued) = (Id::from_uuid(uuid::Uuid::nil()), 0);
    loop {
        let which = which.clone();
        let page =
            db.write(move |conn| Box::pin(async move { store::requeue(conn, &which, after, now).await })).await?;
        requeued += page.len();
        match page.last() {
            Some(last) => after = *last,
            None => return Ok(requeued),
        }
    }
}

/// Returns whether a job exists that was never claimed.
///
/// # Errors
/// Returns the database error.
pub async fn is_waiting(db: &Db, id: Id<Job>) -> Result<bool, DbError> {
    db.read(move |conn| Box::pin(store::is_waiting(conn, id))).await
}

/// Deletes a job that was never claimed. Returns whether it did.
///
/// # Errors
/// Returns the database error.
pub async fn withdraw(db: &Db, id: Id<Job>) -> Result<bool, DbError> {
    db.write(move |conn| Box::pin(store::withdraw(conn, id))).await
}
