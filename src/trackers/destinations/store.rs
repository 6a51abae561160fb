//! Destinations as rows.

use actors::ids::{self, Id};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use super::model::StoredDestination;
use crate::db::schema::tracker_destinations as table;
use crate::db::{Conn, DbError, RunQueryDsl};

pub async fn find(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Option<StoredDestination>, DbError> {
    let found: Option<String> =
        table::table.find(project_id).select(table::destination).first(conn).await.optional()?;
    let read = |text: String| {
        serde_json::from_str(&text).map_err(|error| DbError::Broken(format!("a destination is invalid: {error}")))
    };
    found.map(read).transpose()
}

pub async fn put(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    destination: &StoredDestination,
) -> Result<(), DbError> {
    let text = serde_json::to_string(destination).map_err(|error| DbError::Broken(error.to_string()))?;
    diesel::insert_into(table::table)
        .values((table::project_id.eq(project_id), table::destination.eq(text.clone())))
        .on_conflict(table::project_id)
        .do_update()
        .set(table::destination.eq(text))
        .execute(conn)
        .await?;
    Ok(())
}
