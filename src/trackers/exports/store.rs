//! Exports to trackers, and their items, as rows.

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};
use uuid::Uuid;

use super::model::{
    ExportOptions, ItemOutcome, TrackerExport, TrackerExportItem, TrackerExportItemStatus, TrackerExportStatus,
    estimate,
};
use crate::analysis::items::item_of;
use crate::analysis::items::model::{UserStory, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::clients::trackers::TrackerProvider;
use crate::db::schema::items;
use crate::db::schema::tracker_export_items as item_table;
use crate::db::schema::tracker_exports as table;
use crate::db::{Columns, Conn, DbError, RunQueryDsl, many, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;
use crate::projects::item_kind::ItemKind;
use crate::trackers::destinations::model::TrackerDestination;

/// How many exports of a project are kept: the newest.
const KEPT_EXPORTS: i64 = 100;
/// The statuses of exports that are under way: those of the partial index.
const ACTIVE: [TrackerExportStatus; 2] = [TrackerExportStatus::Queued, TrackerExportStatus::Running];

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = table)]
struct Row {
    id: Id<TrackerExport>,
    project_id: Id<ids::Project>,
    status: TrackerExportStatus,
    provider: TrackerProvider,
    destination: String,
    options: String,
    dry_run: bool,
    total: i64,
    created: i64,
    updated: i64,
    skipped: i64,
    failed: i64,
    error: Option<String>,
    waiting_until: Option<Time>,
    waiting_for: Option<String>,
    started_by_id: Id<User>,
    created_at: Time,
    started_at: Option<Time>,
    completed_at: Option<Time>,
}

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = item_table)]
struct ItemRow {
    export_id: Id<TrackerExport>,
    user_story_id: Id<()>,
    project_id: Id<ids::Project>,
    position: i64,
    code: String,
    version: i64,
    status: TrackerExportItemStatus,
    issue_key: Option<String>,
    issue_url: Option<String>,
    error_code: Option<String>,
    error_message: Option<String>,
    attempts: i64,
}

/// How many items of an export have which status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportTally {
    pub created: i64,
    pub updated: i64,
    pub skipped: i64,
    pub failed: i64,
}

impl ExportTally {
    #[must_use]
    pub const fn done(self) -> i64 {
        self.created + self.updated + self.skipped + self.failed
    }
}

/// An export with what only the server needs to know of it.
#[derive(Debug, Clone)]
pub struct StoredTrackerExport {
    pub id: Id<TrackerExport>,
    pub project_id: Id<ids::Project>,
    pub status: TrackerExportStatus,
    pub provider: TrackerProvider,
    pub destination: TrackerDestination,
    pub options: ExportOptions,
    pub dry_run: bool,
    pub total: i64,
    pub tally: ExportTally,
    pub error: Option<String>,
    pub waiting_until: Option<Time>,
    pub waiting_for: Option<String>,
    pub started_by_id: Id<User>,
    pub created_at: Time,
    pub started_at: Option<Time>,
    pub completed_at: Option<Time>,
}

impl StoredTrackerExport {
    fn of(row: Row) -> Result<Self, DbError> {
        let broken = |what: &str| DbError::Broken(format!("an export to a tracker has the {what}"));
        Ok(Self {
            id: row.id,
            project_id: row.project_id,
            status: row.status,
            provider: row.provider,
            destination: serde_json::from_str(&row.destination)
                .map_err(|_| broken("destination that can't be read"))?,
            options: serde_json::from_str(&row.options).map_err(|_| broken("options that can't be read"))?,
            dry_run: row.dry_run,
            total: row.total,
            tally: ExportTally { created: row.created, updated: row.updated, skipped: row.skipped, failed: row.failed },
            error: row.error,
            waiting_until: row.waiting_until,
            waiting_for: row.waiting_for,
            started_by_id: row.started_by_id,
            created_at: row.created_at,
            started_at: row.started_at,
            completed_at: row.completed_at,
        })
    }

    fn row(&self) -> Result<Row, DbError> {
        let failed = |error: serde_json::Error| DbError::Broken(error.to_string());
        Ok(Row {
            id: self.id,
            project_id: self.project_id,
            status: self.status,
            provider: self.provider,
            destination: serde_json::to_string(&self.destination).map_err(failed)?,
            options: serde_json::to_string(&self.options).map_err(failed)?,
            dry_run: self.dry_run,
            total: self.total,
            created: self.tally.created,
            updated: self.tally.updated,
            skipped: self.tally.skipped,
            failed: self.tally.failed,
            error: self.error.clone(),
            waiting_until: self.waiting_until,
            waiting_for: self.waiting_for.clone(),
            started_by_id: self.started_by_id,
            created_at: self.created_at,
            started_at: self.started_at,
            completed_at: self.completed_at,
        })
    }

    /// The export as clients see it.
    #[must_use]
    pub fn shown(&self, items: Vec<TrackerExportItem>, now: Time) -> TrackerExport {
        let is_active = self.status.is_active();
        let waiting_until = self.waiting_until.filter(|until| is_active && *until > now);
        let estimated = self
            .started_at
            .filter(|_| is_active)
            .and_then(|at| estimate(at, now, self.tally.done(), self.total, waiting_until));
        TrackerExport {
            id: self.id,
            status: self.status,
            provider: self.provider,
            destination: self.destination.clone(),
            dry_run: self.dry_run,
            total: self.total,
            created: self.tally.created,
            updated: self.tally.updated,
            skipped: self.tally.skipped,
            failed: self.tally.failed,
            items,
            error_message: self.error.clone(),
            waiting_until,
            waiting_for: self.waiting_for.clone().filter(|_| waiting_until.is_some()),
            estimated_completion_at: estimated,
            started_by_id: self.started_by_id,
            created_at: self.created_at,
            completed_at: self.completed_at,
        }
    }
}

/// Inserts an export with the stories that it is about, and forgets the oldest ones beyond [`KEPT_EXPORTS`].
pub async fn insert(
    conn: &mut Conn,
    export: &StoredTrackerExport,
    stories: &[(Uuid, String, i64)],
) -> Result<(), DbError> {
    let own = table::table.filter(table::project_id.eq(export.project_id));
    let kept: Vec<Id<TrackerExport>> =
        own.order(table::id.desc()).limit(KEPT_EXPORTS - 1).select(table::id).load(conn).await?;
    if let Some(oldest) = kept.get(usize::try_from(KEPT_EXPORTS - 2).unwrap_or(usize::MAX)) {
        diesel::delete(own.filter(table::id.lt(*oldest))).execute(conn).await?;
    }
    diesel::insert_into(table::table).values(export.row()?).execute(conn).await?;
    let rows: Vec<ItemRow> = (0..)
        .zip(stories)
        .map(|(position, (id, code, version))| ItemRow {
            export_id: export.id,
            user_story_id: Id::from_uuid(*id),
            project_id: export.project_id,
            position,
            code: code.clone(),
            version: *version,
            status: TrackerExportItemStatus::Pending,
            issue_key: None,
            issue_url: None,
            error_code: None,
            error_message: None,
            attempts: 0,
        })
        .collect();
    many!(conn, &rows, |some| diesel::insert_into(item_table::table).values(some));
    Ok(())
}

pub async fn find(conn: &mut Conn, id: Id<TrackerExport>) -> Result<Option<StoredTrackerExport>, DbError> {
    let row: Option<Row> = table::table.find(id).select(Row::columns()).first(conn).await.optional()?;
    row.map(StoredTrackerExport::of).transpose()
}

/// Returns the export of a project that is under way.
pub async fn active(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Option<StoredTrackerExport>, DbError> {
    let own = table::table.filter(table::project_id.eq(project_id));
    let active = own.filter(table::status.eq_any(ACTIVE));
    let row: Option<Row> = active.select(Row::columns()).first(conn).await.optional()?;
    row.map(StoredTrackerExport::of).transpose()
}

/// Lists a project's exports, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<StoredTrackerExport>, DbError> {
    let listed = table::table.filter(table::project_id.eq(project_id));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, table::id, Row::columns());
    page.list(rows, total, |row| row.id.uuid()).try_map(StoredTrackerExport::of)
}

fn item_of_row(row: ItemRow) -> TrackerExportItem {
    TrackerExportItem {
        status: row.status,
        user_story_id: row.user_story_id.uuid(),
        code: row.code,
        version: row.version,
        issue_key: row.issue_key,
        issue_url: row.issue_url,
        error_code: row.error_code,
        error_message: row.error_message,
        attempts: row.attempts,
    }
}

/// Returns the items of an export, in their order.
pub async fn items(conn: &mut Conn, id: Id<TrackerExport>) -> Result<Vec<TrackerExportItem>, DbError> {
    let own = item_table::table.filter(item_table::export_id.eq(id)).order(item_table::position.asc());
    let rows: Vec<ItemRow> = own.select(ItemRow::columns()).load(conn).await?;
    Ok(rows.into_iter().map(item_of_row).collect())
}

/// Returns the next stories of an export that are still to be done, with their positions.
pub async fn pending(
    conn: &mut Conn,
    id: Id<TrackerExport>,
    after: i64,
    most: i64,
) -> Result<Vec<(i64, Uuid)>, DbError> {
    let own = item_table::table
        .filter(item_table::export_id.eq(id))
        .filter(item_table::status.eq(TrackerExportItemStatus::Pending))
        .filter(item_table::position.gt(after));
    let columns = (item_table::position, item_table::user_story_id);
    let rows: Vec<(i64, Id<()>)> = own.order(item_table::position.asc()).limit(most).select(columns).load(conn).await?;
    Ok(rows.into_iter().map(|(position, id)| (position, id.uuid())).collect())
}

/// Saves what became of stories, unless it was saved before.
pub async fn save_outcomes(conn: &mut Conn, id: Id<TrackerExport>, outcomes: &[ItemOutcome]) -> Result<(), DbError> {
    for outcome in outcomes {
        let story = Id::<()>::from_uuid(outcome.user_story_id);
        let own = item_table::table
            .filter(item_table::export_id.eq(id))
            .filter(item_table::user_story_id.eq(story))
            .filter(item_table::status.eq(TrackerExportItemStatus::Pending));
        let (key, url) = outcome.issue.clone().unzip();
        let (code, message) = outcome.note.clone().unzip();
        let saved = (
            item_table::status.eq(outcome.status),
            item_table::issue_key.eq(key),
            item_table::issue_url.eq(url),
            item_table::error_code.eq(code.map(str::to_owned)),
            item_table::error_message.eq(message),
        );
        diesel::update(own).set(saved).execute(conn).await?;
        if let Some(version) = outcome.version {
            let own = item_table::table.find((id, story));
            diesel::update(own).set(item_table::version.eq(version)).execute(conn).await?;
        }
    }
    Ok(())
}

/// Counts an attempt to create or change the issues of stories.
pub async fn count_attempts(conn: &mut Conn, id: Id<TrackerExport>, stories: &[Uuid]) -> Result<(), DbError> {
    let stories: Vec<Id<()>> = stories.iter().map(|story| Id::from_uuid(*story)).collect();
    let own = item_table::table.filter(item_table::export_id.eq(id)).filter(item_table::user_story_id.eq_any(stories));
    diesel::update(own).set(item_table::attempts.eq(item_table::attempts + 1)).execute(conn).await?;
    Ok(())
}

/// Fails all stories that are still to be done.
pub async fn fail_pending(
    conn: &mut Conn,
    id: Id<TrackerExport>,
    code: &'static str,
    message: &str,
) -> Result<(), DbError> {
    let own = item_table::table
        .filter(item_table::export_id.eq(id))
        .filter(item_table::status.eq(TrackerExportItemStatus::Pending));
    let failed = (
        item_table::status.eq(TrackerExportItemStatus::Failed),
        item_table::error_code.eq(code),
        item_table::error_message.eq(message.to_owned()),
    );
    diesel::update(own).set(failed).execute(conn).await?;
    Ok(())
}

async fn tally(conn: &mut Conn, id: Id<TrackerExport>) -> Result<ExportTally, DbError> {
    let own = item_table::table.filter(item_table::export_id.eq(id));
    let counts: Vec<(TrackerExportItemStatus, i64)> =
        own.group_by(item_table::status).select((item_table::status, diesel::dsl::count_star())).load(conn).await?;
    let mut tally = ExportTally::default();
    for (status, count) in counts {
        match status {
            TrackerExportItemStatus::Created => tally.created = count,
            TrackerExportItemStatus::Updated => tally.updated = count,
            TrackerExportItemStatus::SkippedUnchanged => tally.skipped = count,
            TrackerExportItemStatus::Failed => tally.failed = count,
            TrackerExportItemStatus::Pending => {}
        }
    }
    Ok(tally)
}

/// Brings the counts of an export up to date and returns it; `None` if it is gone.
pub async fn counted(conn: &mut Conn, id: Id<TrackerExport>) -> Result<Option<StoredTrackerExport>, DbError> {
    let tally = tally(conn, id).await?;
    let counts = (
        table::created.eq(tally.created),
        table::updated.eq(tally.updated),
        table::skipped.eq(tally.skipped),
        table::failed.eq(tally.failed),
    );
    diesel::update(table::table.find(id)).set(counts).execute(conn).await?;
    find(conn, id).await
}

/// Begins an export that is QUEUED. Returns false if it is not.
pub async fn begin(conn: &mut Conn, id: Id<TrackerExport>, now: Time) -> Result<bool, DbError> {
    let queued = table::table.filter(table::id.eq(id)).filter(table::status.eq(TrackerExportStatus::Queued));
    let begun = (table::status.eq(TrackerExportStatus::Running), table::started_at.eq(now));
    Ok(diesel::update(queued).set(begun).execute(conn).await? == 1)
}

/// Locks an export that is RUNNING for the rest of the transaction. Returns false if it is not.
pub async fn hold_running(conn: &mut Conn, id: Id<TrackerExport>) -> Result<bool, DbError> {
    let running = table::table.filter(table::id.eq(id)).filter(table::status.eq(TrackerExportStatus::Running));
    // Changes nothing but locks the row, in a statement that both databases support.
    Ok(diesel::update(running).set(table::total.eq(table::total)).execute(conn).await? == 1)
}

/// Saves until when an export waits, and for what; nothing, if it goes on.
pub async fn set_waiting(
    conn: &mut Conn,
    id: Id<TrackerExport>,
    waiting: Option<(Time, String)>,
) -> Result<(), DbError> {
    let (until, why) = waiting.unzip();
    let waiting = (table::waiting_until.eq(until), table::waiting_for.eq(why));
    diesel::update(table::table.find(id)).set(waiting).execute(conn).await?;
    Ok(())
}

/// Ends an export that is under way. Returns false if it is not.
pub async fn end(
    conn: &mut Conn,
    id: Id<TrackerExport>,
    status: TrackerExportStatus,
    error: Option<&str>,
    now: Time,
) -> Result<bool, DbError> {
    let active = table::table.filter(table::id.eq(id)).filter(table::status.eq_any(ACTIVE));
    let ended = (
        table::status.eq(status),
        table::error.eq(error.map(str::to_owned)),
        table::waiting_until.eq(None::<Time>),
        table::waiting_for.eq(None::<String>),
        table::completed_at.eq(now),
    );
    Ok(diesel::update(active).set(ended).execute(conn).await? == 1)
}

/// Returns the ids of the stories of an export that failed or were not done.
pub async fn undone(conn: &mut Conn, id: Id<TrackerExport>) -> Result<Vec<Uuid>, DbError> {
    let statuses = [TrackerExportItemStatus::Pending, TrackerExportItemStatus::Failed];
    let own = item_table::table.filter(item_table::export_id.eq(id)).filter(item_table::status.eq_any(statuses));
    let found: Vec<Id<()>> = own.select(item_table::user_story_id).load(conn).await?;
    Ok(found.into_iter().map(|id| id.uuid()).collect())
}

fn story_of(body: &str) -> Result<UserStory, DbError> {
    match item_of(ItemKind::UserStory, body)? {
        ProjectItem::UserStory(story) => Ok(story),
        _ => Err(DbError::Broken("a story is something else".to_owned())),
    }
}

/// The approved stories of a project, in the order of their codes.
pub async fn approved_stories(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<UserStory>, DbError> {
    let own = items::table
        .filter(items::project_id.eq(project_id))
        .filter(items::kind.eq(ItemKind::UserStory))
        .filter(items::workflow_status.eq(WorkflowStatus::Approved));
    let bodies: Vec<String> = own.order(items::number.asc()).select(items::body).load(conn).await?;
    bodies.iter().map(|body| story_of(body)).collect()
}

/// Stories of a project by their ids, in the order of their codes.
pub async fn stories(conn: &mut Conn, project_id: Id<ids::Project>, ids: &[Uuid]) -> Result<Vec<UserStory>, DbError> {
    let mut found: Vec<(i64, String)> = Vec::with_capacity(ids.len());
    // Databases limit the parameters of a statement.
    for some in ids.chunks(500) {
        let some: Vec<Id<()>> = some.iter().map(|id| Id::from_uuid(*id)).collect();
        let own = items::table
            .filter(items::project_id.eq(project_id))
            .filter(items::kind.eq(ItemKind::UserStory))
            .filter(items::id.eq_any(some));
        let rows: Vec<(i64, String)> = own.select((items::number, items::body)).load(conn).await?;
        found.extend(rows);
    }
    found.sort_by_key(|(number, _)| *number);
    found.iter().map(|(_, body)| story_of(body)).collect()
}
