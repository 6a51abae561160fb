//! Recomputes the chain of a project's trail.

use actors::ids::{self, Id};

use super::model::TrailVerification;
use super::seal::{GENESIS, StoredEvent};
use super::store::{self, TrailHead};
use crate::db::{Db, DbError};

/// Events that are read at once.
const PAGE: i64 = 500;

/// Verifies a project's trail: every event up to the head, in order, and none beyond it. Events that are appended meanwhile
/// are not looked at.
///
/// # Errors
/// Only database errors.
pub async fn verify(db: &Db, project_id: Id<ids::Project>) -> Result<TrailVerification, DbError> {
    each(db, project_id, |_| ()).await
}

/// As [`verify`]; passes every event that holds to `visit`, in order.
///
/// # Errors
/// Only database errors.
pub async fn each(
    db: &Db,
    project_id: Id<ids::Project>,
    mut visit: impl FnMut(StoredEvent),
) -> Result<TrailVerification, DbError> {
    let TrailHead { last, hash } = db.read(move |conn| Box::pin(store::head(conn, project_id))).await?;
    let (mut number, mut previous) = (0, GENESIS.to_owned());
    loop {
        let after = number;
        let page = db.read(move |conn| Box::pin(store::events_after(conn, project_id, after, PAGE))).await?;
        let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
        for event in page {
            if number == last {
                break;
            }
            let Some(hash) = event.holds(project_id, number + 1, &previous) else {
                return Ok(broken(last, hash, number + 1));
            };
            previous = hash.to_owned();
            number += 1;
            visit(event);
        }
        if is_last || number == last {
            break;
        }
    }
    if number < last || previous != hash {
        // Events are missing at the end, or the head is another one.
        return Ok(broken(last, hash, number.min(last) + i64::from(number < last)));
    }
    if is_longer(db, project_id, last, &hash).await? {
        return Ok(broken(last, hash, last + 1));
    }
    Ok(TrailVerification { valid: true, count: last, head: hash, broken_at: None })
}

/// Whether there are events beyond a head that has not moved.
async fn is_longer(db: &Db, project_id: Id<ids::Project>, last: i64, head: &str) -> Result<bool, DbError> {
    let found = db.read(move |conn| {
        Box::pin(async move {
            let beyond = store::events_after(conn, project_id, last, 1).await?;
            Ok::<_, DbError>((beyond.is_empty(), store::head(conn, project_id).await?))
        })
    });
    let (is_end, now) = found.await?;
    Ok(!is_end && (now.last, now.hash.as_str()) == (last, head))
}

fn broken(count: i64, head: String, at: i64) -> TrailVerification {
    TrailVerification { valid: false, count, head, broken_at: Some(at.max(1)) }
}
