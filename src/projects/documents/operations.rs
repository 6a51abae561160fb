//! Documents, one function an operation.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::contents::forget_contents;
use super::events::tell;
use super::model::{Document, DocumentStatus, DocumentText, Source};
use super::reading;
use super::store::{self, Filter};
use super::upload::Upload;
use crate::access::caller::Caller;
use crate::accounts::operations::hold;
use crate::db::{Db, Failed};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::projects::model::Project;
use crate::projects::state::Projects;
use crate::projects::{must_be_active, store as projects};

/// When somebody with too many unread documents may come again.
const UNTIL_READ: Duration = Duration::from_secs(10);

/// Keeps an uploaded file and has it read. Under an id that was made before, gives that document.
///
/// # Errors
/// 409 in an archived project, 429 while the caller has as many unread documents as one may have, 503 where the disk takes
/// no more.
pub async fn upload(
    state: &Projects,
    caller: Caller,
    project: &Project,
    id: Id<ids::Document>,
    upload: Upload,
    request: RequestId,
) -> Result<Document, Failure> {
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
    let kept = state.files.keep(upload.file).await.map_err(Failure::unavailable)?;
    let (document, told, kept) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                // Uploads of one account one by one, so that those that come at once are counted too.
                if !hold(conn, caller.user_id).await? {
                    return Err(Failure::of(Code::UNAUTHORIZED));
                }
                let is_full = store::open_of(conn, caller.user_id, most).await? >= most;
                if !store::insert(conn, &document).await? {
                    let found = store::find(conn, document.project_id, id).await?;
                    return Ok((found.ok_or_else(|| Failure::of(Code::CONFLICT))?, None, kept));
                }
                if is_full {
                    return Err(too_many_unread(most));
                }
                reading::enqueue(conn, &document, now, &request).await?;
                let told = tell(conn, &document, "document.added", now, &request).await?;
                // The answer holds what was kept, and comes after COMMIT, even where nobody waits for it any more.
                Ok::<_, Failure>((document, Some(told), kept))
            })
        })
        .await?;
    drop(kept);
    state.jobs.wake();
    state.hub.tell(told.into_iter().collect());
    Ok(document)
}

/// Each waits for its reader in memory and time, so that nobody can pile them up.
fn too_many_unread(most: usize) -> Failure {
    let message = format!(
        "You have {most} documents that are still to be read, as many as one may have. Upload this one when some have been."
    );
    Failure { message, ..Failure::too_many(UNTIL_READ) }
}

/// A project's documents, newest first.
///
/// # Errors
/// The database's own.
pub async fn list(
    state: &Projects,
    project_id: Id<ids::Project>,
    filter: Filter,
    page: Page,
) -> Result<List<Document>, Failure> {
    state
        .db
        .read(move |conn| {
            Box::pin(async move {
                let (found, total_count) = store::list(conn, project_id, &filter, &page).await?;
                let (items, next_cursor) = page.cut(found, |document| document.id.uuid());
                Ok(List { items, next_cursor, total_count })
            })
        })
        .await
}

/// How many texts are taken apart at once, for people to read: each is in memory several times then.
static TAKEN_APART: Semaphore = Semaphore::const_new(2);

/// The text in which quotes are found.
///
/// # Errors
/// 409 while the document is not READY.
pub async fn text(state: &Projects, document: &Document) -> Result<DocumentText, Failure> {
    if let Some(reason) = unreadable(document) {
        return Err(Failure::saying(Code::SOURCE_NOT_READY, reason));
    }
    let id = document.id;
    let _turn = TAKEN_APART.acquire().await.map_err(Failure::internal)?;
    let kept = state.db.read(move |conn| Box::pin(store::text(conn, id))).await.map_err(Failure::from)?;
    // Deleted meanwhile.
    let kept = kept.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
    let read = spawn_blocking(move || serde_json::from_str(&kept)).await.map_err(Failure::internal)?;
    read.map_err(Failure::internal)
}

/// Why a document has no text; `None`: it is READY.
fn unreadable(document: &Document) -> Option<String> {
    match document.status {
        DocumentStatus::Ready => None,
        DocumentStatus::Failed => Some(document.error_message.clone().unwrap_or_default()),
        DocumentStatus::Pending | DocumentStatus::Processing => Some("The document is still being read.".to_owned()),
    }
}

/// Those of `ids` that are documents of the project, in the order of `ids`; their texts come one by one, see [`kept_text`].
///
/// # Errors
/// The database's own.
pub async fn sources(
    db: &Db,
    project_id: Id<ids::Project>,
    ids: Vec<Id<ids::Document>>,
) -> Result<Vec<Source>, Failed> {
    let found = db.read(move |conn| Box::pin(async move { store::some(conn, project_id, &ids).await })).await?;
    let source = |document: Document| {
        let unreadable = unreadable(&document);
        Source { id: document.id, file_name: document.file_name, unreadable }
    };
    Ok(found.into_iter().map(source).collect())
}

/// What a reader made of a document, as JSON; `None`: it has no text, or is gone.
///
/// # Errors
/// The database's own.
pub async fn kept_text(db: &Db, id: Id<ids::Document>) -> Result<Option<String>, Failed> {
    db.read(move |conn| Box::pin(store::text(conn, id))).await
}

/// Deletes a document, and its content where no other document has the same.
///
/// # Errors
/// 409 in an archived project, or while an unfinished run reads it.
pub async fn delete(state: &Projects, document: Document, request: RequestId) -> Result<(), Failure> {
    let now = state.now();
    let (told, orphans) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let gone = || Failure::of(Code::NOT_FOUND);
                let project = projects::find(conn, document.project_id).await?.ok_or_else(gone)?;
                must_be_active(&project)?;
                // What it is now: a reader may have come to its end meanwhile.
                let document = store::find(conn, document.project_id, document.id).await?.ok_or_else(gone)?;
                if store::is_in_use(conn, &document).await? {
                    let busy = "An analysis run reads it. Wait for its end, or cancel it.";
                    return Err(Failure::saying(Code::INVALID_STATE, busy));
                }
                store::delete(conn, document.id).await?;
                let orphans = store::orphans(conn, vec![document.sha256.clone()]).await?;
                let told = tell(conn, &document, "document.removed", now, &request).await?;
                Ok((told, orphans))
            })
        })
        .await?;
    state.hub.tell(vec![told]);
    forget_contents(state, orphans).await;
    Ok(())
}
