//! Queries of the items that quote a recording.

use actors::ids::{self, Id};
use actors::time::Time;
use diesel::{ExpressionMethods, QueryDsl, Queryable, Selectable, TextExpressionMethods};
use uuid::Uuid;

use crate::db::schema::items;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};
use crate::projects::item_kind::ItemKind;

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
