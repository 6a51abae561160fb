//! Queries of the operator's list of runs.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, QueryDsl};
use serde::Serialize;

use crate::analysis::store::UNFINISHED;
use crate::db::schema::runs;
use crate::db::{At, Conn, DbError, Key, RunQueryDsl};

/// A run with its progress.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunListItem {
    pub id: Id<Run>,
    pub project_id: Id<ids::Project>,
    pub status: String,
    pub progress: i64,
    pub attempt: i64,
    pub created_at: Time,
    pub message: String,
}

type Row = (Key<Run>, Key<ids::Project>, String, i64, i64, At, String);

pub async fn list(
    conn: &mut Conn,
    after: Id<Run>,
    limit: i64,
    with_those_over: bool,
) -> Result<Vec<RunListItem>, DbError> {
    let any = with_those_over.into_sql::<diesel::sql_types::Bool>();
    let rows: Vec<Row> = runs::table
        .filter(runs::id.gt(Key(after)))
        .filter(any.or(runs::status.eq_any(UNFINISHED)))
        .order(runs::id.asc())
        .limit(limit)
        .select((
            runs::id,
            runs::project_id,
            runs::status,
            runs::progress,
            runs::attempt,
            runs::created_at,
            runs::message,
        ))
        .load(conn)
        .await?;
    let listed = |(id, project_id, status, progress, attempt, created_at, message): Row| RunListItem {
        id: id.0,
        project_id: project_id.0,
        status,
        progress,
        attempt,
        created_at: created_at.0,
        message,
    };
    Ok(rows.into_iter().map(listed).collect())
}
