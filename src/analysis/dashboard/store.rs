//! Queries of the stored results of runs.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use crate::db::schema::run_results;
use crate::db::{Conn, DbError, RunQueryDsl, bytes_of, octet_length};

/// What is known of the stored result of a run without reading it.
#[derive(Debug, Clone, Copy)]
pub struct StoredResult {
    /// The size of the serialized dashboard.
    pub bytes: usize,
    pub generated_at: Time,
    /// As of when it shows the items of its project.
    pub composed_at: Time,
}

/// The result of a run, without its text.
pub async fn result(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<StoredResult>, DbError> {
    let found: Option<(i32, Time, Option<Time>)> = run_results::table
        .find(run_id)
        .select((octet_length(run_results::result), run_results::generated_at, run_results::composed_at))
        .first(conn)
        .await
        .optional()?;
    Ok(found.map(|(bytes, generated_at, composed_at)| StoredResult {
        bytes: bytes_of(bytes),
        generated_at,
        composed_at: composed_at.unwrap_or(generated_at),
    }))
}

/// The serialized dashboard of a run. Reserve memory for it first.
pub async fn result_text(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<String>, DbError> {
    Ok(run_results::table.find(run_id).select(run_results::result).first(conn).await.optional()?)
}

/// Whether a run has a result.
pub async fn has_result(conn: &mut Conn, run_id: Id<Run>) -> Result<bool, DbError> {
    let found: i64 = run_results::table.filter(run_results::run_id.eq(run_id)).count().get_result(conn).await?;
    Ok(found > 0)
}
