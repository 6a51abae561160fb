//! The query of the items that are traced.

use actors::ids::{self, Id};
use diesel::{ExpressionMethods, QueryDsl};

use super::matrix::StoredItems;
use crate::db::schema::items;
use crate::db::{Conn, DbError, Key, RunQueryDsl};

/// All items of a project, as of one moment.
pub async fn all_items(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<StoredItems, DbError> {
    let own = items::table.filter(items::project_id.eq(Key(project_id))).order(items::number.asc());
    let rows: Vec<(String, String)> = own.select((items::kind, items::body)).load(conn).await?;
    let mut found = StoredItems { requirements: Vec::new(), stories: Vec::new() };
    for (kind, body) in rows {
        match kind.as_str() {
            "REQUIREMENT" => found.requirements.push(body),
            "USER_STORY" => found.stories.push(body),
            other => return Err(DbError::Broken(format!("an item is a {other}"))),
        }
    }
    Ok(found)
}
