//! Finds the names of a project's sources.

use std::collections::HashMap;

use actors::ids::{self, Id};
use diesel::{ExpressionMethods, JoinOnDsl, QueryDsl};
use uuid::Uuid;

use crate::db::schema::{documents, meetings, recordings};
use crate::db::{Conn, DbError, Key, RunQueryDsl};

/// The names of the project's documents, and the titles of its meetings by their recordings.
pub async fn source_names(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<HashMap<Uuid, String>, DbError> {
    let documents: Vec<(Key<()>, String)> = documents::table
        .filter(documents::project_id.eq(Key(project_id)))
        .select((documents::id, documents::file_name))
        .load(conn)
        .await?;
    let recordings: Vec<(Key<()>, String)> = recordings::table
        .inner_join(meetings::table.on(meetings::id.eq(recordings::meeting_id)))
        .filter(meetings::project_id.eq(Key(project_id)))
        .select((recordings::id, meetings::title))
        .load(conn)
        .await?;
    Ok(documents.into_iter().chain(recordings).map(|(id, name)| (id.0.uuid(), name)).collect())
}
