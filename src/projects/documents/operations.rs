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
use super::{reading, store, versions};
use crate::access::principal::Caller;
use crate::accounts::operations::lock_account;
use crate::db::{Conn, Db, DbError};
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
    let document = upload.document(id, project.id, caller, now);
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
                let unread = lock_uploads(conn, caller, most).await?;
                if !store::insert(conn, &document).await? {
                    let found = store::find(conn, document.project_id, id).await?;
                    return Ok((found.ok_or_else(|| ApiError::of(Code::CONFLICT))?, None, held));
                }
                unread?;
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

/// Locks the account's row, so that concurrent uploads of one account are counted one after the other. The inner error is that of an
/// account at its limit, for which nothing more may be read.
///
/// # Errors
/// 401 if the account was deleted.
pub async fn lock_uploads(conn: &mut Conn, caller: Caller, most: usize) -> Result<Result<(), ApiError>, ApiError> {
    if !lock_account(conn, caller.user_id).await? {
        return Err(ApiError::of(Code::UNAUTHORIZED));
    }
    let is_full = store::open_of(conn, caller.user_id, most).await? >= most;
    Ok(if is_full { Err(too_many_unread(most)) } else { Ok(()) })
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
/// 409 while this version is not READY; 404 if the document was deleted in the meantime.
pub async fn text(state: &Projects, document: &Document) -> Result<DocumentText, ApiError> {
    if let Some(reason) = unreadable(document) {
        return Err(ApiError::with_message(Code::SOURCE_NOT_READY, reason));
    }
    let _permit = DESERIALIZING.acquire().await.map_err(ApiError::internal)?;
    let stored = stored_text(&state.db, document.id, document.version).await.map_err(ApiError::from)?;
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

/// Returns those of some documents, each in a version, that are of the project, in the same order. Their texts are loaded one by one
/// with [`stored_text`].
///
/// # Errors
/// Only database errors.
pub async fn sources(
    db: &Db,
    project_id: Id<ids::Project>,
    wanted: Vec<(Id<ids::Document>, i64)>,
) -> Result<Vec<DocumentSource>, DbError> {
    let found = db.read(move |conn| {
        Box::pin(async move {
            let mut found = Vec::with_capacity(wanted.len());
            for (id, version) in wanted {
                found.extend(versions::store::find(conn, id, version).await?);
            }
            Ok::<_, DbError>(found)
        })
    });
    let found = found.await?.into_iter().filter(|document| document.project_id == project_id);
    let source = |document: Document| {
        let unreadable = unreadable(&document);
        DocumentSource { id: document.id, file_name: document.file_name, unreadable }
    };
    Ok(found.map(source).collect())
}

/// Returns the parser's output for a version of a document as JSON; `None` if it has no text or was deleted.
///
/// # Errors
/// Only database errors.
pub async fn stored_text(db: &Db, id: Id<ids::Document>, version: i64) -> Result<Option<String>, DbError> {
    db.read(move |conn| Box::pin(versions::store::text(conn, id, version))).await
}

/// Deletes a document and its content, unless another document refers to it. A job deletes its former versions behind it.
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
                // Locked and read again: a parser may have finished in the meantime, and a version may be on its way.
                let document = versions::store::find_to_change(conn, document.id).await?.ok_or_else(gone)?;
                if store::is_in_use(conn, &document).await? {
                    let busy = "An analysis run is using the document. Wait until it ends, or cancel it.";
                    return Err(ApiError::with_message(Code::INVALID_STATE, busy));
                }
                store::delete(conn, document.id).await?;
                versions::deletion::enqueue_deletion(conn, &document, now, &request).await?;
                let orphans = store::orphans(conn, vec![document.sha256.clone()]).await?;
                let record = record_event(conn, &document, EventKind::DocumentRemoved, now, &request).await?;
                Ok((record, orphans))
            })
        })
        .await?;
    state.jobs.wake();
    state.hub.publish(vec![record]);
    delete_contents(state, orphans).await;
    Ok(())
}
