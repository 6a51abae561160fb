//! Jobs as an operator sees them: pages of them, newest first, and how many there are of each kind.

use std::collections::BTreeMap;

use actors::ids::Id;
use actors::time::Time;
use diesel::dsl::{count_star, min};
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::super::Job;
use super::super::model::{JobQuery, JobQueue, JobState};
use crate::db::schema::jobs;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, page_of};

/// A job with its payload, which may be secret.
pub struct FullJob {
    pub id: Id<Job>,
    pub kind: String,
    pub payload: String,
    pub state: JobState,
    pub attempts: i64,
    pub created_at: Time,
    pub run_at: Time,
    pub failed_at: Option<Time>,
    pub last_error: Option<String>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = jobs)]
struct FullJobRow {
    id: Id<Job>,
    kind: String,
    payload: String,
    attempts: i64,
    created_at: Time,
    run_at: Time,
    lease_until: Option<Time>,
    failed_at: Option<Time>,
    last_error: Option<String>,
}

impl From<FullJobRow> for FullJob {
    fn from(row: FullJobRow) -> Self {
        let state = match (row.failed_at, row.lease_until) {
            (Some(_), _) => JobState::Failed,
            (None, Some(_)) => JobState::Running,
            (None, None) => JobState::Waiting,
        };
        Self {
            id: row.id,
            kind: row.kind,
            payload: row.payload,
            state,
            attempts: row.attempts,
            created_at: row.created_at,
            run_at: row.run_at,
            failed_at: row.failed_at,
            last_error: row.last_error,
        }
    }
}

/// Returns a page of jobs, one more than the limit if there are as many, and how many there are on all pages.
pub async fn list(conn: &mut Conn, query: &JobQuery) -> Result<(Vec<FullJob>, i64), DbError> {
    macro_rules! page {
        ($($condition:expr),*) => {{
            let any = query.kind.is_none().into_sql::<diesel::sql_types::Bool>();
            let of_kind = any.or(jobs::kind.eq(query.kind.clone().unwrap_or_default()));
            page_of!(conn, query, jobs::table.filter(of_kind)$(.filter($condition))*, jobs::id, FullJobRow::columns())
        }};
    }
    let (rows, total): (Vec<FullJobRow>, i64) = match query.state {
        JobState::Failed => page!(jobs::failed_at.is_not_null()),
        JobState::Running => page!(jobs::lease_until.is_not_null(), jobs::failed_at.is_null()),
        JobState::Waiting => page!(jobs::failed_at.is_null(), jobs::lease_until.is_null()),
    };
    Ok((rows.into_iter().map(FullJob::from).collect(), total))
}

pub async fn find(conn: &mut Conn, id: Id<Job>) -> Result<Option<FullJob>, DbError> {
    let row: Option<FullJobRow> = jobs::table.find(id).select(FullJobRow::columns()).first(conn).await.optional()?;
    Ok(row.map(FullJob::from))
}

/// Counts the jobs of each kind that has any.
pub async fn queues(conn: &mut Conn) -> Result<Vec<JobQueue>, DbError> {
    let failed: Vec<(String, i64)> = jobs::table
        .filter(jobs::failed_at.is_not_null())
        .group_by(jobs::kind)
        .select((jobs::kind, count_star()))
        .load(conn)
        .await?;
    let running: Vec<(String, i64)> = jobs::table
        .filter(jobs::lease_until.is_not_null())
        .filter(jobs::failed_at.is_null())
        .group_by(jobs::kind)
        .select((jobs::kind, count_star()))
        .load(conn)
        .await?;
    let waiting: Vec<(String, i64, Option<Time>)> = jobs::table
        .filter(jobs::failed_at.is_null())
        .filter(jobs::lease_until.is_null())
        .group_by(jobs::kind)
        .select((jobs::kind, count_star(), min(jobs::created_at)))
        .load(conn)
        .await?;
    let mut by_kind: BTreeMap<String, JobQueue> = BTreeMap::new();
    let mut of = |kind: String, add: &dyn Fn(&mut JobQueue)| {
        let none = || JobQueue { kind: kind.clone(), waiting: 0, running: 0, failed: 0, oldest_waiting_at: None };
        add(by_kind.entry(kind.clone()).or_insert_with(none));
    };
    failed.into_iter().for_each(|(kind, count)| of(kind, &|queue| queue.failed = count));
    running.into_iter().for_each(|(kind, count)| of(kind, &|queue| queue.running = count));
    for (kind, count, oldest) in waiting {
        of(kind, &|queue| (queue.waiting, queue.oldest_waiting_at) = (count, oldest));
    }
    Ok(by_kind.into_values().collect())
}

/// Returns the error of the waiting job of a kind that was tried last, in vain. Those that an operator retried were not tried since.
pub async fn latest_error(conn: &mut Conn, kind: &str) -> Result<Option<String>, DbError> {
    let tried: Option<Option<String>> = jobs::table
        .filter(jobs::kind.eq(kind.to_owned()))
        .filter(jobs::failed_at.is_null())
        .filter(jobs::lease_until.is_null())
        .filter(jobs::last_error.is_not_null())
        .filter(jobs::attempts.gt(0))
        .order(jobs::waiting_since.desc())
        .select(jobs::last_error)
        .first(conn)
        .await
        .optional()?;
    Ok(tried.flatten())
}
