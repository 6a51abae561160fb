//! Queries of the operator's lists of runs.

use actors::ids::{self, Id, User};
use actors::run::{AiRunStatus, Run};
use actors::time::Time;
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, JoinOnDsl, OptionalExtension, QueryDsl};
use serde::Serialize;

use super::model::{OperatorRun, RunQuery};
use crate::analysis::store::UNFINISHED;
use crate::db::schema::{projects, runs};
use crate::db::{Conn, DbError, RunQueryDsl, is_wanted};

/// A run with its progress.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunListItem {
    pub id: Id<Run>,
    pub project_id: Id<ids::Project>,
    pub status: AiRunStatus,
    pub progress: i64,
    pub attempt: i64,
    pub created_at: Time,
    pub message: String,
}

type Row = (Id<Run>, Id<ids::Project>, AiRunStatus, i64, i64, Time, String);

pub async fn list(
    conn: &mut Conn,
    after: Id<Run>,
    limit: i64,
    with_those_over: bool,
) -> Result<Vec<RunListItem>, DbError> {
    let any = with_those_over.into_sql::<diesel::sql_types::Bool>();
    let rows: Vec<Row> = runs::table
        .filter(runs::id.gt(after))
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
        id,
        project_id,
        status,
        progress,
        attempt,
        created_at,
        message,
    };
    Ok(rows.into_iter().map(listed).collect())
}

type PageRow = (
    (Id<Run>, Id<ids::Project>, String, Id<User>, AiRunStatus, i64, String, String),
    (i64, Option<String>, Time, Option<Time>, Option<Time>, Time),
);

/// The columns of a run and the name of its project.
macro_rules! columns {
    () => {
        (
            (
                runs::id,
                runs::project_id,
                projects::name,
                runs::created_by_id,
                runs::status,
                runs::progress,
                runs::node,
                runs::engine,
            ),
            (
                runs::attempt,
                runs::error_message,
                runs::created_at,
                runs::started_at,
                runs::completed_at,
                runs::updated_at,
            ),
        )
    };
}

fn run(row: PageRow) -> OperatorRun {
    let ((id, project_id, project_name, created_by_id, status, progress, current_node, engine), rest) = row;
    let (attempt, error_message, created_at, started_at, completed_at, updated_at) = rest;
    OperatorRun {
        id,
        project_id,
        project_name,
        created_by_id,
        status,
        progress,
        current_node,
        engine,
        attempt,
        error_message,
        created_at,
        started_at,
        completed_at,
        updated_at,
    }
}

/// Returns a page, one more run than the limit if there are as many, and how many runs there are on all pages.
pub async fn page(conn: &mut Conn, query: RunQuery) -> Result<(Vec<OperatorRun>, i64), DbError> {
    let RunQuery { status, after, limit } = query;
    let total = runs::table.filter(is_wanted(runs::status, status)).count().get_result(conn).await?;
    let most = limit + 1;
    let before = |is_over| {
        let reached = after.filter(|after| after.is_over == is_over);
        Id::<Run>::from_uuid(reached.map_or(uuid::Uuid::max(), |after| after.id))
    };
    macro_rules! rows {
        ($which:expr, $before:expr, $most:expr) => {
            runs::table
                .inner_join(projects::table.on(projects::id.eq(runs::project_id)))
                .filter(is_wanted(runs::status, status))
                .filter($which)
                .filter(runs::id.lt($before))
                .order(runs::id.desc())
                .limit($most)
                .select(columns!())
                .load(conn)
                .await?
        };
    }
    let mut found: Vec<PageRow> = Vec::new();
    if !after.is_some_and(|after| after.is_over) {
        found = rows!(runs::status.eq_any(UNFINISHED), before(false), most);
    }
    let rest = most - i64::try_from(found.len()).unwrap_or(most);
    if rest > 0 {
        let over: Vec<PageRow> = rows!(runs::status.ne_all(UNFINISHED), before(true), rest);
        found.extend(over);
    }
    Ok((found.into_iter().map(run).collect(), total))
}

pub async fn find(conn: &mut Conn, id: Id<Run>) -> Result<Option<OperatorRun>, DbError> {
    let of_project = runs::table.inner_join(projects::table.on(projects::id.eq(runs::project_id)));
    let found: Option<PageRow> = of_project.filter(runs::id.eq(id)).select(columns!()).first(conn).await.optional()?;
    Ok(found.map(run))
}

pub async fn unfinished_count(conn: &mut Conn) -> Result<i64, DbError> {
    Ok(runs::table.filter(runs::status.eq_any(UNFINISHED)).count().get_result(conn).await?)
}
