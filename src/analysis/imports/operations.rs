//! Operations on imports, one function each.

use actors::ids::{self, Id};
use actors::live::RequestId;

use super::model::{ImportStatus, ItemImport};
use super::reading::ReadImport;
use super::store::{self, MAX_IMPORTS, StoredImport};
use super::upload::ImportUpload;
use crate::analysis::state::Analysis;
use crate::analysis::store as runs;
use crate::db::number;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::{jobs, projects};

/// Imports a file. If the id exists already, returns that import.
///
/// # Errors
/// 404 if the project was deleted in the meantime; 409 in an archived project, if no run of the project has a result, or if the
/// project keeps [`MAX_IMPORTS`].
pub async fn create(
    state: &Analysis,
    project_id: Id<ids::Project>,
    id: Id<ItemImport>,
    upload: ImportUpload,
    request: RequestId,
) -> Result<ItemImport, ApiError> {
    let ended = state.imports.ended.subscribe();
    let now = state.now();
    let ImportUpload { file, file_name, format, permit } = upload;
    let size_bytes = number(file.size);
    let sha256 = file.sha256.clone();
    let guard = state.imports.files.store(file).await.map_err(|error| ApiError::of_write(&error))?;
    let created = state.db.write(move |conn| {
        let (file_name, sha256, request) = (file_name.clone(), sha256.clone(), request.clone());
        Box::pin(async move {
            let gone = || ApiError::of(Code::NOT_FOUND);
            // Locks the project's row: imports that are counted at once can't exceed their number together.
            let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
            if let Some(stored) = store::find(conn, id).await? {
                return Ok(stored.import);
            }
            projects::must_be_active(&project)?;
            let Some(run) = runs::newest_successful(conn, project_id).await? else {
                let why = "No analysis of the project has a result yet, to which new items could be added.";
                return Err(ApiError::with_message(Code::INVALID_STATE, why));
            };
            if store::count(conn, project_id).await? >= MAX_IMPORTS {
                let full = format!("A project keeps at most {MAX_IMPORTS} imports, each for 90 days.");
                return Err(ApiError::with_message(Code::IMPORT_LIMIT_REACHED, full));
            }
            let import = ItemImport {
                id,
                project_id,
                run_id: run.id,
                status: ImportStatus::Reading,
                format,
                file_name,
                report: None,
                error_message: None,
                created_at: now,
            };
            let stored = StoredImport { import, sha256: Some(sha256), size_bytes };
            store::insert(conn, &stored).await?;
            jobs::enqueue_in_turn(conn, &project_id.to_string(), &ReadImport { import_id: id }, now, &request).await?;
            Ok(stored.import)
        })
    });
    let created: ItemImport = created.await?;
    drop((guard, permit));
    if created.status != ImportStatus::Reading {
        return Ok(created);
    }
    state.jobs.wake();
    ended.wait(id).await;
    let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await.map_err(ApiError::from)?;
    Ok(found.map_or(created, |stored| stored.import))
}

/// Lists a project's imports, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Analysis,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<ItemImport>, ApiError> {
    let found = state.db.read(move |conn| Box::pin(store::list(conn, project_id, page))).await;
    Ok(found.map_err(ApiError::from)?.map(|stored| stored.import))
}
