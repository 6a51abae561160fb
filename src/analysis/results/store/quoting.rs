//! Queries of what quotes a recording: items, and results of runs.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, Queryable, Selectable, TextExpressionMethods};
use pipeline::result::ItemKind;
use uuid::Uuid;

use crate::db::schema::{items, run_results, runs};
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

/// An item that quotes something.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = items)]
pub struct QuotingItem {
    pub id: Id<()>,
    pub kind: ItemKind,
    pub body: String,
}

/// Returns some of a project's items that quote a recording: those with an id after `after`, in the order of their ids.
pub async fn quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<()>,
    most: i64,
) -> Result<Vec<QuotingItem>, DbError> {
    let found = items::table.filter(items::project_id.eq(project_id)).filter(items::id.gt(after));
    let found = found.filter(items::body.like(format!("%{recording_id}%")));
    Ok(found.order(items::id.asc()).limit(most).select(QuotingItem::columns()).load(conn).await?)
}

/// Stores a new body of an item. Returns false if somebody else changed it.
pub async fn change(conn: &mut Conn, was: QuotingItem, body: String, now: Time) -> Result<bool, DbError> {
    let unchanged = items::table.filter(items::id.eq(was.id)).filter(items::body.eq(was.body));
    let changed = diesel::update(unchanged).set((items::body.eq(body), items::updated_at.eq(now)));
    Ok(changed.execute(conn).await? == 1)
}

/// Deletes an item. Returns false if somebody else changed it.
pub async fn remove(conn: &mut Conn, was: QuotingItem) -> Result<bool, DbError> {
    let unchanged = items::table.filter(items::id.eq(was.id)).filter(items::body.eq(was.body));
    Ok(diesel::delete(unchanged).execute(conn).await? == 1)
}

/// Returns the next result of a project's runs that quotes a recording: of a run with an id after `after`.
pub async fn result_quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<Run>,
) -> Result<Option<(Id<Run>, String)>, DbError> {
    let found = runs::table.inner_join(run_results::table.on(run_results::run_id.eq(runs::id)));
    let found = found.filter(runs::project_id.eq(project_id)).filter(runs::id.gt(after));
    let found = found.filter(run_results::result.like(format!("%{recording_id}%"))).order(runs::id.asc());
    Ok(found.select((runs::id, run_results::result)).first(conn).await.optional()?)
}

/// Stores a new result of a run. Returns false if somebody else changed it.
pub async fn change_result(
    conn: &mut Conn,
    run_id: Id<Run>,
    was: String,
    result: String,
    now: Time,
) -> Result<bool, DbError> {
    let unchanged = run_results::table.find(run_id).filter(run_results::result.eq(was));
    let changed = diesel::update(unchanged).set((run_results::result.eq(result), run_results::generated_at.eq(now)));
    Ok(changed.execute(conn).await? == 1)
}
