//! Queries of the stored results of runs.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl};

use super::shares::RunShare;
use crate::db::schema::{run_results, run_undos, runs};
use crate::db::{Conn, DbError, RunQueryDsl, bytes_of, octet_length};

/// What is known of the stored result of a run without reading it.
#[derive(Debug, Clone, Copy)]
pub struct StoredResult {
    /// The size of the serialized dashboard.
    pub bytes: usize,
    pub generated_at: Time,
}

/// The result of a run, without its text.
pub async fn result(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<StoredResult>, DbError> {
    let found = run_results::table.find(run_id);
    let found: Option<(i32, Time)> =
        found.select((octet_length(run_results::result), run_results::generated_at)).first(conn).await.optional()?;
    Ok(found.map(|(bytes, generated_at)| StoredResult { bytes: bytes_of(bytes), generated_at }))
}

/// The serialized dashboard of a run. Reserve memory for it first.
pub async fn result_text(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<String>, DbError> {
    Ok(run_results::table.find(run_id).select(run_results::result).first(conn).await.optional()?)
}

/// The short parts of the results of a project's runs that were not undone, the oldest first.
pub async fn run_shares(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<RunShare>, DbError> {
    type Row = (Id<Run>, Time, String, Option<String>, Option<String>);
    let rows: Vec<Row> = runs::table
        .inner_join(run_results::table.on(run_results::run_id.eq(runs::id)))
        .left_join(run_undos::table.on(run_undos::run_id.eq(runs::id)))
        .filter(runs::project_id.eq(project_id))
        .filter(run_undos::undone_at.is_null())
        .order(runs::id.asc())
        .select((
            runs::id,
            run_results::composed_at.assume_not_null(),
            runs::document_ids,
            run_results::summary,
            run_results::metrics,
        ))
        .load(conn)
        .await?;
    let share = |(run_id, ended_at, documents, summary, metrics): Row| {
        let broken = |error: serde_json::Error| DbError::Broken(format!("the result of the run {run_id}: {error}"));
        Ok(RunShare {
            run_id,
            ended_at,
            documents: serde_json::from_str(&documents).map_err(broken)?,
            summary: summary.map(|text| serde_json::from_str(&text)).transpose().map_err(broken)?.unwrap_or_default(),
            metrics: metrics.map(|text| serde_json::from_str(&text)).transpose().map_err(broken)?.unwrap_or_default(),
        })
    };
    rows.into_iter().map(share).collect()
}

/// Whether a run has a result.
pub async fn has_result(conn: &mut Conn, run_id: Id<Run>) -> Result<bool, DbError> {
    let found: i64 = run_results::table.filter(run_results::run_id.eq(run_id)).count().get_result(conn).await?;
    Ok(found > 0)
}
