//! Operations on glossaries, one function each.

use actors::ids::{self, Id};

use super::model::{Glossary, GlossaryEntry};
use super::store;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects;
use crate::projects::state::Projects;

/// Returns the glossary of a project.
///
/// # Errors
/// Only database errors.
pub async fn read(state: &Projects, project_id: Id<ids::Project>) -> Result<Glossary, ApiError> {
    Ok(state.db.read(move |conn| Box::pin(store::of_project(conn, project_id))).await?)
}

/// Replaces the entries of a project's glossary. Entries that equal the former ones do not count as a change.
///
/// # Errors
/// 412 for a stale version; 409 for an archived project; 404 if the project was deleted in the meantime.
pub async fn replace(
    state: &Projects,
    project_id: Id<ids::Project>,
    entries: Vec<GlossaryEntry>,
    version: Option<i64>,
) -> Result<Glossary, ApiError> {
    state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // Locks the project's row: of two replacements the second sees what the first one wrote, also where
                // there was no glossary to lock before.
                let project = projects::store::find_to_change(conn, project_id).await?;
                let project = project.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
                let before = store::of_project(conn, project_id).await?;
                if version.is_some_and(|version| version != before.version) {
                    return Err(ApiError::of(Code::PRECONDITION_FAILED));
                }
                projects::must_be_active(&project)?;
                if before.entries == entries {
                    return Ok(before);
                }
                let glossary = Glossary { version: before.version + 1, entries };
                store::replace(conn, project_id, &glossary).await?;
                Ok(glossary)
            })
        })
        .await
}
