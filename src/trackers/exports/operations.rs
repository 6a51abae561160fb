//! Operations on exports to trackers, one function each.

use actors::ids::{self, Id, User};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use uuid::Uuid;

use super::MAX_STORIES;
use super::events::progress_event;
use super::exporting::ExportStories;
use super::model::{ExportOptions, TrackerExport, TrackerExportStatus};
use super::store::{self, ExportTally, StoredTrackerExport};
use crate::analysis::items::model::UserStory;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::{ApiError, FieldError};
use crate::http::page::PageQuery;
use crate::http::reason::Reason;
use crate::trackers::connections::model::TrackerConnectionStatus;
use crate::trackers::state::Trackers;
use crate::trackers::{connections, destinations};
use crate::{jobs, projects};

/// Which stories are to be exported.
#[derive(Debug, Clone)]
pub enum ChosenStories {
    /// All that are approved and not suspect.
    Approved,
    Some(Vec<Uuid>),
    /// Those that an earlier export failed to export.
    FailedOf(Id<TrackerExport>),
}

/// An export as it is wished.
#[derive(Debug, Clone)]
pub struct WishedExport {
    pub id: Id<TrackerExport>,
    pub stories: ChosenStories,
    pub dry_run: bool,
    pub options: ExportOptions,
}

/// Exports user stories to the connected tracker. If the id exists already, returns that export.
///
/// # Errors
/// 404 if the project was deleted in the meantime; 409 while another export of the project is under way, if it is not connected or
/// has no destination, and if there is nothing to export; 422 for stories that there are not, and for too many.
pub async fn create(
    state: &Trackers,
    project_id: Id<ids::Project>,
    user_id: Id<User>,
    wished: WishedExport,
    request: RequestId,
) -> Result<TrackerExport, ApiError> {
    let now = state.now();
    let created = state.db.write(move |conn| {
        let (wished, request) = (wished.clone(), request.clone());
        Box::pin(async move {
            let gone = || ApiError::of(Code::NOT_FOUND);
            // Locks the project's row: of exports that are begun at once, one is.
            projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
            if let Some(stored) = store::find(conn, wished.id).await? {
                return Ok((stored, None));
            }
            if store::active(conn, project_id).await?.is_some() {
                let why = "An export of the project is under way. Wait for its end, or cancel it.";
                return Err(ApiError::with_message(Code::INVALID_STATE, why));
            }
            let destination = destination(conn, project_id).await?;
            let stories = chosen(conn, project_id, &wished.stories).await?;
            let export = StoredTrackerExport {
                id: wished.id,
                project_id,
                status: TrackerExportStatus::Queued,
                provider: destination.provider,
                destination: destination.destination,
                options: wished.options,
                dry_run: wished.dry_run,
                total: i64::try_from(stories.len()).unwrap_or(i64::MAX),
                tally: ExportTally::default(),
                error: None,
                waiting_until: None,
                waiting_for: None,
                started_by_id: user_id,
                created_at: now,
                started_at: None,
                completed_at: None,
            };
            let stories: Vec<(Uuid, String, i64)> =
                stories.into_iter().map(|story| (story.id, story.code, story.version)).collect();
            store::insert(conn, &export, &stories).await?;
            let job = ExportStories { export_id: export.id };
            jobs::enqueue_in_turn(conn, &project_id.to_string(), &job, now, &request).await?;
            let record = progress_event(conn, &export, now, &request).await?;
            Ok::<_, ApiError>((export, Some(record)))
        })
    });
    let (export, record): (StoredTrackerExport, Option<EventRecord>) = created.await?;
    state.hub.publish(record.into_iter().collect());
    state.jobs.wake();
    details(state, export).await
}

/// Returns where the project's stories go, if they can go there.
async fn destination(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
) -> Result<destinations::model::StoredDestination, ApiError> {
    let connection = connections::store::find(conn, project_id).await?;
    let connection = connection.ok_or_else(|| ApiError::of(Code::TRACKER_NOT_CONNECTED))?;
    match connection.status {
        TrackerConnectionStatus::Active => {}
        TrackerConnectionStatus::NeedsReauth => return Err(ApiError::of(Code::TRACKER_REAUTH_REQUIRED)),
        TrackerConnectionStatus::Pending | TrackerConnectionStatus::Disconnected => {
            return Err(ApiError::of(Code::TRACKER_NOT_CONNECTED));
        }
    }
    let stored = destinations::store::find(conn, project_id).await?;
    let is_there = |site_id: &str| connection.sites.iter().any(|site| site.id == site_id);
    // One that was saved for another tracker, or for a site of another account, is of no use.
    let usable = stored.filter(|one| one.provider == connection.provider && is_there(&one.destination.site_id));
    usable.ok_or_else(|| ApiError::of(Code::TRACKER_DESTINATION_REQUIRED))
}

async fn chosen(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    wished: &ChosenStories,
) -> Result<Vec<UserStory>, ApiError> {
    let stories = match wished {
        ChosenStories::Approved => {
            let approved = store::approved_stories(conn, project_id).await?;
            approved.into_iter().filter(|story| !story.suspect).collect()
        }
        ChosenStories::Some(ids) => {
            let found = store::stories(conn, project_id, ids).await?;
            let is_missing = |id: &&Uuid| !found.iter().any(|story| story.id == **id);
            let missing: Vec<FieldError> = ids
                .iter()
                .enumerate()
                .filter(|(_, id)| is_missing(id))
                .map(|(index, _)| {
                    let path = format!("userStoryIds[{index}]");
                    FieldError::value(Reason::InvalidValue, Some(path), "The project has no such user story.")
                })
                .collect();
            if !missing.is_empty() {
                return Err(ApiError::invalid(missing));
            }
            found
        }
        ChosenStories::FailedOf(export_id) => {
            let former = store::find(conn, *export_id).await?.filter(|former| former.project_id == project_id);
            if former.is_none() {
                let why = "The project has no such export.";
                return Err(ApiError::field("retryOf", Reason::InvalidValue, why));
            }
            let undone = store::undone(conn, *export_id).await?;
            store::stories(conn, project_id, &undone).await?
        }
    };
    if stories.is_empty() {
        return Err(ApiError::of(Code::NOTHING_TO_EXPORT));
    }
    if stories.len() > MAX_STORIES {
        let why = format!("An export has at most {MAX_STORIES} stories; these are {}. Name some.", stories.len());
        return Err(ApiError::invalid_request(Reason::TooLong, why));
    }
    Ok(stories)
}

/// Lists a project's exports, newest first, without their items.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Trackers,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<TrackerExport>, ApiError> {
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::list(conn, project_id, page))).await;
    Ok(found.map_err(|failed: DbError| ApiError::from(failed))?.map(|export| export.shown(Vec::new(), now)))
}

/// Returns an export with its items.
///
/// # Errors
/// Only database errors.
pub async fn details(state: &Trackers, export: StoredTrackerExport) -> Result<TrackerExport, ApiError> {
    let (id, now) = (export.id, state.now());
    let read = async move |conn: &mut Conn| {
        let export = store::find(conn, id).await?;
        Ok::<_, DbError>((export, store::items(conn, id).await?))
    };
    let found = state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)?;
    let (found, items) = found;
    Ok(found.unwrap_or(export).shown(items, now))
}

/// Cancels an export: what the tracker has already stays there, and what is under way is still recorded.
///
/// # Errors
/// 409 if it has ended.
pub async fn cancel(
    state: &Trackers,
    export: StoredTrackerExport,
    request: RequestId,
) -> Result<TrackerExport, ApiError> {
    let (id, now) = (export.id, state.now());
    let cancelled = state.db.write(move |conn| {
        let request = request.clone();
        Box::pin(async move {
            if !store::end(conn, id, TrackerExportStatus::Cancelled, None, now).await? {
                return Ok::<_, DbError>(None);
            }
            let Some(export) = store::counted(conn, id).await? else { return Ok(None) };
            progress_event(conn, &export, now, &request).await.map(Some)
        })
    });
    let record = cancelled.await.map_err(ApiError::from)?;
    let record = record.ok_or_else(|| ApiError::with_message(Code::INVALID_STATE, "The export has ended."))?;
    state.hub.publish(vec![record]);
    details(state, export).await
}

/// Cancels the export of a project that is under way, if there is one.
///
/// # Errors
/// Only database errors.
pub async fn cancel_active(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    now: Time,
    request: &RequestId,
) -> Result<Vec<EventRecord>, DbError> {
    let Some(active) = store::active(conn, project_id).await? else { return Ok(Vec::new()) };
    let why = "The project was disconnected from the tracker.";
    store::end(conn, active.id, TrackerExportStatus::Cancelled, Some(why), now).await?;
    let Some(export) = store::counted(conn, active.id).await? else { return Ok(Vec::new()) };
    Ok(vec![progress_event(conn, &export, now, request).await?])
}
