//! Operations on versions of documents, one function each.

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::RequestId;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::comparison::TextComparison;
use super::model::DocumentComparison;
use super::store;
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::budget::Share;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::projects::documents::events::record_event;
use crate::projects::documents::model::{Document, DocumentStatus, DocumentText};
use crate::projects::documents::operations::{lock_uploads, stored_text};
use crate::projects::documents::reading;
use crate::projects::documents::store as documents;
use crate::projects::documents::upload::DocumentUpload;
use crate::projects::state::Projects;
use crate::projects::{must_be_active, store as projects};
use crate::quotas::model::CountedKind;

/// Maximum number of versions of one document.
const MAX_VERSIONS: i64 = 100;

/// Stores a file as the newest version of a document and enqueues parsing it. If the newest version has the same content, returns that
/// one, unless it could not be read.
///
/// # Errors
/// 409 in an archived project, for a document with as many versions as it may have, and in a project with as many documents; 429 while
/// the caller has reached the limit of unread documents; 503 when the file cannot be stored, 507 when the disk is full.
pub async fn upload(
    state: &Projects,
    caller: Caller,
    document: Document,
    upload: DocumentUpload,
    request: RequestId,
) -> Result<Document, ApiError> {
    let now = state.now();
    let draft = upload.document(document.id, document.project_id, caller, now);
    let most = state.config.limits.unread_documents;
    let (kind, id, sha256) = (CountedKind::DocumentsOfProject, document.id, draft.sha256.clone());
    let counted = state.quotas.count_unless_made(kind, document.project_id.uuid(), 1, move |conn| {
        Box::pin(async move {
            let Some(present) = documents::find_anywhere(conn, id).await? else { return Ok(None) };
            newest_with(conn, &present, &sha256).await
        })
    });
    let counted = counted.await?;
    let stored = state.files.store(upload.file).await.map_err(|error| ApiError::of_write(&error))?;
    let held = (stored, upload.permit, counted);
    let (version, record, held) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let unread = lock_uploads(conn, caller, most).await?;
                let gone = || ApiError::of(Code::NOT_FOUND);
                let project = projects::find(conn, draft.project_id).await?.ok_or_else(gone)?;
                must_be_active(&project)?;
                let mut present = store::find_to_change(conn, draft.id).await?.ok_or_else(gone)?;
                if let Some(same) = newest_with(conn, &present, &draft.sha256).await? {
                    return Ok((same, None, held));
                }
                if present.newest_version >= MAX_VERSIONS {
                    let full =
                        format!("A document has at most {MAX_VERSIONS} versions. Upload it as another document.");
                    return Err(ApiError::with_message(Code::LIMIT_REACHED, full));
                }
                unread?;
                let newest_version = present.newest_version + 1;
                let version =
                    Document { version: newest_version, newest_version, created_at: present.created_at, ..draft };
                store::insert(conn, &version).await?;
                reading::enqueue(conn, &version, now, &request).await?;
                present.newest_version = newest_version;
                let record = record_event(conn, &present, EventKind::DocumentUpdated, now, &request).await?;
                // As in an upload of a document, what the result carries is dropped only after COMMIT.
                Ok::<_, ApiError>((version, Some(record), held))
            })
        })
        .await?;
    drop(held);
    state.jobs.wake();
    state.hub.publish(record.into_iter().collect());
    Ok(version)
}

/// The newest version of a document, if it has this content and has been or will be read.
async fn newest_with(
    conn: &mut crate::db::Conn,
    present: &Document,
    sha256: &str,
) -> Result<Option<Document>, DbError> {
    let newest = store::find(conn, present.id, present.newest_version).await?;
    Ok(newest.filter(|newest| newest.sha256 == sha256 && newest.status != DocumentStatus::Failed))
}

/// Lists the versions of a document, newest first. There are at most [`MAX_VERSIONS`].
///
/// # Errors
/// Only database errors.
pub async fn list(state: &Projects, id: Id<ids::Document>) -> Result<List<Document>, ApiError> {
    let items = state.db.read(move |conn| Box::pin(store::list(conn, id))).await.map_err(ApiError::from)?;
    let total_count = i64::try_from(items.len()).unwrap_or(i64::MAX);
    Ok(List { items, next_cursor: None, total_count })
}

/// Returns a document in one of its versions.
///
/// # Errors
/// 404 if it has no such version.
pub async fn in_version(state: &Projects, document: Document, version: Option<u32>) -> Result<Document, ApiError> {
    let Some(version) = version.map(i64::from).filter(|version| *version != document.version) else {
        return Ok(document);
    };
    let found = state.db.read(move |conn| Box::pin(store::find(conn, document.id, version))).await;
    found.map_err(|failed: DbError| ApiError::from(failed))?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// How many comparisons are made at once: each has two texts in memory.
static COMPARING: Semaphore = Semaphore::const_new(1);
/// How many times the characters of its texts a comparison takes, in bytes.
const BYTES_OF_CHARACTER: usize = 4;

/// Compares the text of a version with that of another one: by default of the one before it that could be read.
///
/// # Errors
/// 404 if there is no such version with a text; 422 if it is to be compared with itself; 503 while too many bytes are in flight.
pub async fn compare(
    state: &Projects,
    id: Id<ids::Document>,
    version: i64,
    with: Option<u32>,
    share: &mut Share,
) -> Result<DocumentComparison, ApiError> {
    if with.map(i64::from) == Some(version) {
        return Err(ApiError::field("with", Reason::InvalidValue, "This must be another version."));
    }
    let versions = list(state, id).await?.items;
    let readable: Vec<&Document> = versions.iter().filter(|one| one.status == DocumentStatus::Ready).collect();
    let find = |wanted: i64| readable.iter().find(|one| one.version == wanted).copied();
    let missing = || ApiError::with_message(Code::NOT_FOUND, "The document has no such version with a text.");
    let later = find(version).ok_or_else(missing)?;
    let former = match with {
        Some(with) => Some(find(with.into()).ok_or_else(missing)?),
        None => readable.iter().find(|one| one.version < version).copied(),
    };
    let characters = |one: &Document| one.character_count.and_then(|count| count.try_into().ok()).unwrap_or(0usize);
    share.grow_to(BYTES_OF_CHARACTER * (characters(later) + former.map_or(0, characters)))?;
    let permit = COMPARING.acquire().await.map_err(ApiError::internal)?;
    let mut texts = Vec::new();
    for one in former.into_iter().chain([later]) {
        let stored = stored_text(&state.db, id, one.version).await.map_err(ApiError::from)?;
        // Deleted in the meantime.
        texts.push(stored.ok_or_else(missing)?);
    }
    let compared = spawn_blocking(move || {
        // The caller may be gone: the next comparison waits all the same.
        let _permit = permit;
        let texts: Vec<DocumentText> = texts.iter().map(|text| serde_json::from_str(text)).collect::<Result<_, _>>()?;
        let texts: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let (former, later) = match texts.as_slice() {
            [later] => ("", *later),
            [former, later, ..] => (*former, *later),
            [] => ("", ""),
        };
        Ok::<_, serde_json::Error>(TextComparison::of(former, later).spans())
    });
    let spans = compared.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    Ok(DocumentComparison { document_id: id, version, former_version: former.map(|one| one.version), spans })
}

/// How parts of one version of a document stand in another one; `None` if one of them has no text.
///
/// # Errors
/// Only database errors.
pub async fn comparison(
    db: &crate::db::Db,
    id: Id<ids::Document>,
    (former, later): (i64, i64),
) -> Result<Option<TextComparison>, DbError> {
    let permit = COMPARING.acquire().await.map_err(|closed| DbError::Unavailable(closed.to_string()))?;
    let (Some(former), Some(later)) = (stored_text(db, id, former).await?, stored_text(db, id, later).await?) else {
        return Ok(None);
    };
    let compared = spawn_blocking(move || {
        let _permit = permit;
        let parsed = |text: &str| serde_json::from_str::<DocumentText>(text).map(|text| text.text);
        Ok::<_, serde_json::Error>(TextComparison::of(&parsed(&former)?, &parsed(&later)?))
    });
    let compared = compared.await.map_err(|error| DbError::Broken(error.to_string()))?;
    compared.map(Some).map_err(|error| DbError::Broken(format!("the text of the document {id}: {error}")))
}
