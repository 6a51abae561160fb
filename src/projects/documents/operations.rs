//! Operations on documents, one function each.

use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::RequestId;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::bodies::Filter;
use super::contents::delete_contents;
use super::events::record_event;
use super::model::{Document, DocumentSource, DocumentStatus, DocumentText};
use super::upload::DocumentUpload;
use super::{reading, store};
use crate::access::principal::Caller;
use crate::accounts::operations::lock_account;
use crate::db::{Db, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::projects::model::Project;
use crate::projects::state::Projects;
use crate::projects::{must_be_active, store as projects};
use crate::quotas::model::CountedKind;

/// `Retry-After` of a user who has reached the limit of unread documents.
const UNTIL_READ: Duration = Duration::from_secs(10);

/// Stores an uploaded file and enqueues parsing it. If the id exists already, returns that document.
///
/// # Errors
/// 409 in an archived project, and in one that has as many documents as it may have; 429 while the caller has reached the
/// limit of unread documents; 503 when the file cannot be stored, 507 when the disk is full.
pub async fn upload(
    state: &Projects,
    caller: Caller,
    project: &Project,
    id: Id<ids::Document>,
    upload: DocumentUpload,
    request: RequestId,
) -> Result<Document, ApiError> {
    must_be_active(project)?;
    let now = state.now();
    let document = Document {
        id,
        project_id: project.id,
        file_name: upload.file_name.0,
        mime_type: upload.format.mime_type().to_owned(),
        size_bytes: i64::try_from(upload.file.size).unwrap_or(i64::MAX),
        sha256: upload.file.sha256.clone(),
        status: DocumentStatus::Pending,
        page_count: None,
        character_count: None,
        language: upload.language,
        error_message: None,
        uploaded_by_id: caller.user_id,
        created_at: now,
    };
    let most = state.config.limits.unread_documents;
    let (kind, project_id) = (CountedKind::DocumentsOfProject, project.id);
    let counted = state
        .quotas
        .count_unless_made(kind, project_id.uuid(), 1, move |conn| Box::pin(store::find(conn, project_id, id)));
    let counted = counted.await?;
    let stored = state.files.store(upload.file).await.map_err(|error| ApiError::of_write(&error))?;
    let held = (stored, upload.permit, counted);
    let (document, record, held) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // Locks the account's row, so that concurrent uploads of one account are counted one after the other.
                if !lock_account(conn, caller.user_id).await? {
                    return Err(ApiError::of(Code::UNAUTHORIZED));
                }
                let is_full = store::open_of(conn, caller.user_id, most).await? >= most;
                if !store::insert(conn, &document).await? {
                    let found = store::find(conn, document.project_id, id).await?;
                    return Ok((found.ok_or_else(|| ApiError::of(Code::CONFLICT))?, None, held));
                }
                if is_full {
                    return Err(too_many_unread(most));
                }
                reading::enqueue(conn, &document, now, &request).await?;
                let record = record_event(conn, &document, EventKind::DocumentAdded, now, &request).await?;
                // The result carries the guard of the stored file and the permits, which are thus dropped only after
                // COMMIT, even if the caller no longer waits.
                Ok::<_, ApiError>((document, Some(record), held))
            })
        })
        .await?;
    drop(held);
    state.jobs.wake();
    state.hub.publish(record.into_iter().collect());
    Ok(document)
}

/// The error for an account at its limit. Each unread document waits for a parser and costs memory and time, so the
/// number per account is limited.
fn too_many_unread(most: usize) -> ApiError {
    let message = format!(
        "You have {most} documents that are still being read, which is the maximum. Upload this one when some are done."
    );
    ApiError { message, ..ApiError::too_many(UNTIL_READ) }
}

/// Lists a project's documents, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Projects,
    project_id: Id<ids::Project>,
    listing: Listing<Filter>,
) -> Result<List<Document>, ApiError> {
    state.db.read(move |conn| Box::pin(store::list(conn, project_id, listing))).await.map_err(ApiError::from)
}

/// How many texts are deserialized at once for responses: each is in memory several times meanwhile.
static DESERIALIZING: Semaphore = Semaphore::const_new(2);

/// Returns the text in which quotes are located.
///
/// # Errors
/// 409 while the document is not READY; 404 if it was deleted in the meantime.
pub async fn text(state: &Projects, document: &Document) -> Result<DocumentText, ApiError> {
    if let Some(reason) = unreadable(document) {
        return Err(ApiError::with_message(Code::SOURCE_NOT_READY, reason));
    }
    let id = document.id;
    let _permit = DESERIALIZING.acquire().await.map_err(ApiError::internal)?;
    let stored = state.db.read(move |conn| Box::pin(store::text(conn, id))).await.map_err(ApiError::from)?;
    // Deleted in the meantime.
    let stored = stored.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    let read = spawn_blocking(move || serde_json::from_str(&stored)).await.map_err(ApiError::internal)?;
    read.map_err(ApiError::internal)
}

/// Why a document has no text; `None` if it is READY.
fn unreadable(document: &Document) -> Option<String> {
    match document.status {
        DocumentStatus::Ready => None,
        DocumentStatus::Failed => Some(document.error_message.clone().unwrap_or_default()),
        DocumentStatus::Pending | DocumentStatus::Processing => Some("The document is still being read.".to_owned()),
    }
}

/// Returns those of `ids` that are documents of the project, in the order of `ids`. Their texts are loaded one by one
/// with [`stored_text`].
///
/// # Errors
/// Only database errors.
pub async fn sources(
    db: &Db,
    project_id: Id<ids::Project>,
    ids: Vec<Id<ids::Document>>,
) -> Result<Vec<DocumentSource>, DbError> {
    let found = db.read(move |conn| Box::pin(async move { store::find_many(conn, project_id, &ids).await })).await?;
    let source = |document: Document| {
        let unreadable = unreadable(&document);
        DocumentSource { id: document.id, file_name: document.file_name, unreadable }
    };
    Ok(found.into_iter().map(source).collect())
}

/// Returns the parser's output as JSON; `None` if the document has no text or was deleted.
///
/// # Errors
/// Only database errors.
pub async fn stored_text(db: &Db, id: Id<ids::Document>) -> Result<Option<String>, DbError> {
    db.read(move |conn| Box::pin(store::text(conn, id))).await
}

/// Deletes a document, and its content unless another document refers to it.
///
/// # Errors
/// 409 in an archived project, or while an unfinished run uses the document.
pub async fn delete(state: &Projects, document: Document, request: RequestId) -> Result<(), ApiError> {
    let now = state.now();
    let (record, orphans) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let gone = || ApiError::of(Code::NOT_FOUND);
                let project = projects::find(conn, document.project_id).await?.ok_or_else(gone)?;
                must_be_active(&project)?;
                // Re-read, because a parser may have finished in the meantime.
                let document = store::find(conn, document.project_id, document.id).await?.ok_or_else(gone)?;
                if store::is_in_use(conn, &document).await? {
                    let busy = "An analysis run is using the document. Wait until it ends, or cancel it.";
                    return Err(ApiError::with_message(Code::INVALID_STATE, busy));
                }
                store::delete(conn, document.id).await?;
                let orphans = store::orphans(conn, vec![document.sha256.clone()]).await?;
                let record = record_event(conn, &document, EventKind::DocumentRemoved, now, &request).await?;
                Ok((record, orphans))
            })
        })
        .await?;
    state.hub.publish(vec![record]);
    delete_contents(state, orphans).await;
    Ok(())
}
