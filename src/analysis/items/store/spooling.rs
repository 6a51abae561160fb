//! Queries of many items at once, whose sizes are asked for before they are read.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::dsl::sum;
use diesel::{ExpressionMethods, QueryDsl};
use uuid::Uuid;

use super::Kind;
use crate::analysis::items::spooled::ListedItem;
use crate::db::schema::items;
use crate::db::{At, Conn, DbError, Key, RunQueryDsl, bytes_of, octet_length};

type ListedItemRow = (Key<()>, String, Key<Run>, i64, At, i32);

fn listed((id, kind, run_id, number, updated_at, bytes): ListedItemRow) -> Result<ListedItem, DbError> {
    let kind = Kind::of(&kind).ok_or_else(|| DbError::Broken(format!("an item is a {kind}")))?;
    let (id, run_id, updated_at) = (id.0.uuid(), run_id.0, updated_at.0);
    Ok(ListedItem { id, kind, run_id, number, updated_at, bytes: bytes_of(bytes) })
}

macro_rules! columns {
    () => {
        (items::id, items::kind, items::run_id, items::number, items::updated_at, octet_length(items::body))
    };
}

/// Lists a project's items that changed after a time, in the order of their numbers, without their bodies.
pub async fn listed_since(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    then: Time,
) -> Result<Vec<ListedItem>, DbError> {
    let changed = items::table.filter(items::project_id.eq(Key(project_id))).filter(items::updated_at.gt(At(then)));
    let rows: Vec<ListedItemRow> = changed.order(items::number.asc()).select(columns!()).load(conn).await?;
    rows.into_iter().map(listed).collect()
}

/// Reads a project's items that changed after a time, at most `most`: as of one moment.
pub async fn items_since(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    then: Time,
    most: i64,
) -> Result<Vec<(ListedItem, String)>, DbError> {
    let changed = items::table.filter(items::project_id.eq(Key(project_id))).filter(items::updated_at.gt(At(then)));
    let rows: Vec<(ListedItemRow, String)> =
        changed.order(items::number.asc()).limit(most).select((columns!(), items::body)).load(conn).await?;
    rows.into_iter().map(|(row, body)| Ok((listed(row)?, body))).collect()
}

/// Reads items of a project by their ids.
pub async fn items_of(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    ids: Vec<Uuid>,
) -> Result<Vec<(ListedItem, String)>, DbError> {
    let ids: Vec<Key<()>> = ids.into_iter().map(|id| Key(Id::from_uuid(id))).collect();
    let some = items::table.filter(items::project_id.eq(Key(project_id))).filter(items::id.eq_any(ids));
    let rows: Vec<(ListedItemRow, String)> = some.select((columns!(), items::body)).load(conn).await?;
    rows.into_iter().map(|(row, body)| Ok((listed(row)?, body))).collect()
}

/// How many bytes the bodies of a project's items have together.
pub async fn items_bytes(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<usize, DbError> {
    let own = items::table.filter(items::project_id.eq(Key(project_id)));
    let bytes: Option<i64> = own.select(sum(octet_length(items::body))).first(conn).await?;
    Ok(usize::try_from(bytes.unwrap_or_default()).unwrap_or_default())
}
