//! What is still to be indexed: notes of what changed, by project, and what could not be indexed and is tried again later.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::time::Time;
use diesel::upsert::excluded;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, Queryable, Selectable};

use crate::db::schema::{search_pending, search_retries};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, many};

/// The pause after the first failure. It is four times as long after each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const MAX_PAUSE: Duration = Duration::from_secs(6 * 3600);
/// How many of those that are due are noted at once.
const RETRIES: i64 = 100;

/// A note that something changed.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = search_pending)]
pub struct PendingNote {
    pub id: i64,
    pub kind: String,
    pub source_id: Id<()>,
}

/// A document, a recording or an item, by the kind that its notes have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingSource {
    pub kind: String,
    pub id: Id<()>,
}

/// What is to be done next.
pub struct PendingWork {
    /// Something that failed is to be tried again.
    pub is_retry_due: bool,
    /// Whose turn it is.
    pub project_id: Option<Id<ids::Project>>,
}

/// Looks what is to be done after the turn of a project: the next one has its turn, and after the last one the first.
pub async fn next(conn: &mut Conn, after: Id<ids::Project>, now: Time) -> Result<PendingWork, DbError> {
    let due: Option<Id<()>> = search_retries::table
        .filter(search_retries::due_at.le(now))
        .select(search_retries::source_id)
        .first(conn)
        .await
        .optional()?;
    let projects = search_pending::table.select(search_pending::project_id).order(search_pending::project_id.asc());
    let later = projects.filter(search_pending::project_id.gt(after));
    let mut next: Option<Id<ids::Project>> = later.first(conn).await.optional()?;
    if next.is_none() {
        next = projects.first(conn).await.optional()?;
    }
    Ok(PendingWork { is_retry_due: due.is_some(), project_id: next })
}

/// The oldest notes of a project.
pub async fn notes(conn: &mut Conn, project_id: Id<ids::Project>, most: i64) -> Result<Vec<PendingNote>, DbError> {
    let own = search_pending::table.filter(search_pending::project_id.eq(project_id));
    let oldest = own.order(search_pending::id.asc()).limit(most);
    Ok(oldest.select(PendingNote::columns()).load(conn).await?)
}

/// Deletes the notes of sources that are indexed, and what is known of earlier failures.
pub async fn forget_indexed(conn: &mut Conn, sources: Vec<Id<()>>, notes: Vec<i64>) -> Result<(), DbError> {
    diesel::delete(search_pending::table.filter(search_pending::id.eq_any(notes))).execute(conn).await?;
    diesel::delete(search_retries::table.filter(search_retries::source_id.eq_any(sources))).execute(conn).await?;
    Ok(())
}

/// A source that failed.
pub struct FailedSource {
    pub project_id: Id<ids::Project>,
    pub source: PendingSource,
    pub notes: Vec<i64>,
    pub at: Time,
}

/// Puts a source off that failed, in place of its notes. Returns how often it has failed by now, and for how long it is
/// passed over.
pub async fn put_off(conn: &mut Conn, failed: FailedSource) -> Result<(i64, Duration), DbError> {
    let FailedSource { project_id, source: PendingSource { kind, id }, notes, at } = failed;
    let before: Option<i64> =
        search_retries::table.find(id).select(search_retries::failures).first(conn).await.optional()?;
    let failures = before.unwrap_or_default().saturating_add(1);
    let pause = pause(failures);
    diesel::insert_into(search_retries::table)
        .values((
            search_retries::source_id.eq(id),
            search_retries::kind.eq(kind),
            search_retries::project_id.eq(project_id),
            search_retries::failures.eq(failures),
            search_retries::due_at.eq(Some(at + pause)),
        ))
        .on_conflict(search_retries::source_id)
        .do_update()
        .set((
            search_retries::failures.eq(excluded(search_retries::failures)),
            search_retries::due_at.eq(excluded(search_retries::due_at)),
        ))
        .execute(conn)
        .await?;
    diesel::delete(search_pending::table.filter(search_pending::id.eq_any(notes))).execute(conn).await?;
    Ok((failures, pause))
}

fn pause(failures: i64) -> Duration {
    let times = u32::try_from(failures - 1).ok().and_then(|more| 4_u32.checked_pow(more));
    times.and_then(|times| FIRST_PAUSE.checked_mul(times)).map_or(MAX_PAUSE, |pause| pause.min(MAX_PAUSE))
}

/// Notes those again that failed and are due.
pub async fn note_due(conn: &mut Conn, now: Time) -> Result<(), DbError> {
    let due = search_retries::table.filter(search_retries::due_at.le(now)).order(search_retries::due_at.asc());
    let due = due.select((search_retries::source_id, search_retries::kind, search_retries::project_id)).limit(RETRIES);
    let due: Vec<(Id<()>, String, Id<ids::Project>)> = due.load(conn).await?;
    let sources: Vec<Id<()>> = due.iter().map(|(source_id, ..)| *source_id).collect();
    let notes: Vec<_> = due
        .into_iter()
        .map(|(source_id, kind, project_id)| {
            (
                search_pending::kind.eq(kind),
                search_pending::source_id.eq(source_id),
                search_pending::project_id.eq(project_id),
            )
        })
        .collect();
    many!(conn, &notes, |some| diesel::insert_into(search_pending::table).values(some));
    let noted = diesel::update(search_retries::table.filter(search_retries::source_id.eq_any(sources)));
    noted.set(search_retries::due_at.eq(None::<Time>)).execute(conn).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MAX_PAUSE, pause};

    #[test]
    fn each_failure_makes_the_pause_longer_up_to_some_hours() {
        let pauses: Vec<u64> = (1..=8).map(|failures| pause(failures).as_secs()).collect();
        assert_eq!(pauses, [5, 20, 80, 320, 1_280, 5_120, 20_480, 21_600]);
        assert_eq!(pause(i64::MAX), MAX_PAUSE);
    }
}
