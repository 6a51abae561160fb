//! Queries of many items at once, whose sizes are asked for before they are read.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::dsl::sum;
use diesel::{ExpressionMethods, QueryDsl};
use uuid::Uuid;

use crate::analysis::items::spooled::ListedItem;
use crate::db::schema::items;
use crate::db::{Conn, DbError, RunQueryDsl, bytes_of, octet_length};
use crate::projects::item_kind::ItemKind;

type ListedItemRow = (Id<()>, ItemKind, Id<Run>, i64, Time, i32);

fn listed((id, kind, run_id, number, updated_at, bytes): ListedItemRow) -> ListedItem {
    ListedItem { id: id.uuid(), kind, run_id, number, updated_at, bytes: bytes_of(bytes) }
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
    let changed = items::table.filter(items::project_id.eq(project_id)).filter(items::updated_at.gt(then));
    let rows: Vec<ListedItemRow> = changed.order(items::number.asc()).select(columns!()).load(conn).await?;
    Ok(rows.into_iter().map(listed).collect())
}

/// Reads a project's items that changed after a time, at most `most`: as of one moment.
pub async fn items_since(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    then: Time,
    most: i64,
) -> Result<Vec<(ListedItem, String)>, DbError> {
    let changed = items::table.filter(items::project_id.eq(project_id)).filter(items::updated_at.gt(then));
    let rows: Vec<(ListedItemRow, String)> =
        changed.order(items::number.asc()).limit(most).select((columns!(), items::body)).load(conn).await?;
    Ok(rows.into_iter().map(|(row, body)| (listed(row), body)).collect())
}

/// Reads items of a project by their ids.
pub async fn items_of(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    ids: Vec<Uuid>,
) -> Result<Vec<(ListedItem, String)>, DbError> {
    let ids: Vec<Id<()>> = ids.into_iter().map(Id::from_uuid).collect();
    let some = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(ids));
    let rows: Vec<(ListedItemRow, String)> = some.select((columns!(), items::body)).load(conn).await?;
    Ok(rows.into_iter().map(|(row, body)| (listed(row), body)).collect())
}

/// How many bytes the bodies of a project's items have together.
pub async fn items_bytes(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<usize, DbError> {
    let own = items::table.filter(items::project_id.eq(project_id));
    let bytes: Option<i64> = own.select(sum(octet_length(items::body))).first(conn).await?;
    Ok(usize::try_from(bytes.unwrap_or_default()).unwrap_or_default())
}
