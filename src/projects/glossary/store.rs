//! Queries of glossaries.

use actors::ids::{self, Id};
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use super::model::Glossary;
use crate::db::schema::glossaries;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Returns the glossary of a project; one that was never written is empty.
pub async fn of_project(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Glossary, DbError> {
    let found: Option<(i64, String)> = glossaries::table
        .find(project_id)
        .select((glossaries::version, glossaries::entries))
        .first(conn)
        .await
        .optional()?;
    let Some((version, entries)) = found else { return Ok(Glossary::default()) };
    let broken = |error| DbError::Broken(format!("the glossary of the project {project_id} can't be read: {error}"));
    Ok(Glossary { version, entries: serde_json::from_str(&entries).map_err(broken)? })
}

/// Stores a glossary in place of the former one.
pub async fn replace(conn: &mut Conn, project_id: Id<ids::Project>, glossary: &Glossary) -> Result<(), DbError> {
    let Glossary { version, entries } = glossary;
    let entries = serde_json::to_string(entries).map_err(|error| DbError::Broken(error.to_string()))?;
    let values = (glossaries::version.eq(*version), glossaries::entries.eq(entries));
    diesel::insert_into(glossaries::table)
        .values((glossaries::project_id.eq(project_id), values.clone()))
        .on_conflict(glossaries::project_id)
        .do_update()
        .set(values)
        .execute(conn)
        .await?;
    Ok(())
}
