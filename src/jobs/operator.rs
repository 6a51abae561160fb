//! What an operator does to jobs at the machine, beside a running server or without one: a running one looks for what is due
//! every second.

use actors::ids::Id;
use actors::time::Time;

use super::{Job, store};
use crate::db::{Db, Failed};
pub use store::{Listed, Which};

/// Failed jobs after one, by their ids.
///
/// # Errors
/// The database's own.
pub async fn list_failed(db: &Db, after: Id<Job>, limit: i64) -> Result<Vec<Listed>, Failed> {
    db.read(move |conn| Box::pin(store::failed(conn, after, limit))).await
}

/// Has failed jobs tried again, each once, however often it fails meanwhile. Answers how many.
///
/// # Errors
/// The database's own; then some wait again already.
pub async fn requeue(db: &Db, which: Which, now: Time) -> Result<usize, Failed> {
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

/// Whether nobody has taken a job yet.
///
/// # Errors
/// The database's own.
pub async fn is_waiting(db: &Db, id: Id<Job>) -> Result<bool, Failed> {
    db.read(move |conn| Box::pin(store::is_waiting(conn, id))).await
}

/// Takes back a job that nobody has taken yet. Whether it was one.
///
/// # Errors
/// The database's own.
pub async fn withdraw(db: &Db, id: Id<Job>) -> Result<bool, Failed> {
    db.write(move |conn| Box::pin(store::withdraw(conn, id))).await
}
