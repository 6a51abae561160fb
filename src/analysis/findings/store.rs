//! Queries of findings. They are written in batches to draft tables that nothing else reads (`run_items`, `run_drafts`), and are
//! published to the project in the transaction that completes the run.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::upsert::excluded;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, JoinOnDsl, NullableExpressionMethods, OptionalExtension,
    QueryDsl, TextExpressionMethods,
};
use uuid::Uuid;

use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::store::{Facts, FoundKeys};
use crate::db::schema::{item_numbers, items, run_drafts, run_items, run_results, runs};
use crate::db::{Conn, DbError, RunQueryDsl, many};
use crate::projects::item_kind::ItemKind;

/// An item that a run found, before it is published.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_items)]
pub struct DraftItem {
    run_id: Id<Run>,
    id: Id<()>,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    number: i64,
    text_key: String,
    item_type: String,
    priority: String,
    workflow_status: WorkflowStatus,
    search_text: String,
    body: String,
    created_at: Time,
    updated_at: Time,
    content_key: String,
}

impl DraftItem {
    #[must_use]
    pub fn new(run: &Run, facts: Facts, keys: FoundKeys, number: i64, body: String, now: Time) -> Self {
        Self {
            run_id: run.id,
            id: Id::from_uuid(facts.id),
            project_id: run.project_id,
            kind: facts.kind,
            number,
            text_key: keys.text,
            item_type: facts.item_type.to_owned(),
            priority: facts.priority.to_owned(),
            workflow_status: WorkflowStatus::NeedsReview,
            search_text: facts.search_text,
            body,
            created_at: now,
            updated_at: now,
            content_key: keys.content,
        }
    }
}

/// Inserts a batch of draft items.
pub async fn insert_items(conn: &mut Conn, items: &[DraftItem]) -> Result<(), DbError> {
    many!(conn, items, |some| diesel::insert_into(run_items::table).values(some).on_conflict_do_nothing());
    Ok(())
}

/// The complete result of a run, before it is published.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_drafts)]
pub struct ResultsDraft {
    pub run_id: Id<Run>,
    pub attempt: i64,
    pub result: String,
    pub generated_at: Time,
    /// The last numbers of the new items; `None` if there are no new ones.
    pub last_requirement: Option<i64>,
    pub last_story: Option<i64>,
}

/// Inserts the draft, after all of its items.
pub async fn insert_draft(conn: &mut Conn, draft: ResultsDraft) -> Result<(), DbError> {
    diesel::insert_into(run_drafts::table).values(&draft).execute(conn).await?;
    Ok(())
}

/// Publishes an attempt's draft to the project, in a fixed number of statements regardless of its size. Existing items
/// keep their number and code, and are not changed at all once a person has touched them, nor if anything else changed them
/// since the draft was written. Returns `false` if there is no draft.
///
/// # Errors
/// Fails if a concurrent writer assigned the same numbers, or with another database error.
pub async fn publish(conn: &mut Conn, run: &Run) -> Result<bool, DbError> {
    let (run_id, attempt) = (run.id, i64::from(run.attempt));
    let draft = run_drafts::table.find(run_id).filter(run_drafts::attempt.eq(attempt));
    let last = draft.select((run_drafts::last_requirement, run_drafts::last_story));
    let last: Option<(Option<i64>, Option<i64>)> = last.first(conn).await.optional()?;
    let Some((last_requirement, last_story)) = last else { return Ok(false) };

    let found = run_items::table.filter(run_items::run_id.eq(run_id)).select((
        run_items::id,
        run_items::project_id,
        run_items::run_id,
        run_items::kind,
        run_items::number,
        run_items::text_key,
        run_items::item_type,
        run_items::priority,
        run_items::workflow_status,
        run_items::search_text,
        run_items::body,
        run_items::created_at,
        run_items::updated_at,
        run_items::content_key,
    ));
    let upsert = diesel::insert_into(items::table)
        .values(found)
        .into_columns((
            items::id,
            items::project_id,
            items::run_id,
            items::kind,
            items::number,
            items::text_key,
            items::item_type,
            items::priority,
            items::workflow_status,
            items::search_text,
            items::body,
            items::created_at,
            items::updated_at,
            items::content_key,
        ))
        .on_conflict(items::id)
        .do_update()
        .set((
            items::item_type.eq(excluded(items::item_type)),
            items::priority.eq(excluded(items::priority)),
            items::search_text.eq(excluded(items::search_text)),
            items::body.eq(excluded(items::body)),
            items::updated_at.eq(excluded(items::updated_at)),
            items::content_key.eq(excluded(items::content_key)),
        ));
    let as_drafted = items::workflow_status
        .eq(WorkflowStatus::NeedsReview)
        .and(items::touched.eq(false))
        .and(items::updated_at.le(excluded(items::updated_at)));
    // The `filter` of an insert statement; `QueryDsl` has the one for selects.
    diesel::query_dsl::methods::FilterDsl::filter(upsert, as_drafted).execute(conn).await?;

    for (kind, last) in [(ItemKind::Requirement, last_requirement), (ItemKind::UserStory, last_story)] {
        let Some(last) = last else { continue };
        let taken =
            (item_numbers::project_id.eq(run.project_id), item_numbers::kind.eq(kind), item_numbers::last.eq(last));
        diesel::insert_into(item_numbers::table)
            .values(taken)
            .on_conflict((item_numbers::project_id, item_numbers::kind))
            .do_update()
            .set(item_numbers::last.eq(last))
            .execute(conn)
            .await?;
    }

    diesel::delete(run_results::table.find(run_id)).execute(conn).await?;
    let result = run_drafts::table.filter(run_drafts::run_id.eq(run_id));
    let generated_at = run_drafts::generated_at;
    let result = result.select((run_drafts::run_id, run_drafts::result, generated_at, generated_at.nullable()));
    diesel::insert_into(run_results::table)
        .values(result)
        .into_columns((run_results::run_id, run_results::result, run_results::generated_at, run_results::composed_at))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Deletes the draft of a run.
pub async fn forget_draft(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    diesel::delete(run_items::table.filter(run_items::run_id.eq(run_id))).execute(conn).await?;
    diesel::delete(run_drafts::table.find(run_id)).execute(conn).await?;
    Ok(())
}

/// Returns the next result of a project's runs that quotes a recording: of a run with an id after `after`.
pub async fn result_quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<Run>,
) -> Result<Option<(Id<Run>, String)>, DbError> {
    let found = runs::table.inner_join(run_results::table.on(run_results::run_id.eq(runs::id)));
    let found = found.filter(runs::project_id.eq(project_id)).filter(runs::id.gt(after));
    let found = found.filter(run_results::result.like(format!("%{recording_id}%"))).order(runs::id.asc());
    Ok(found.select((runs::id, run_results::result)).first(conn).await.optional()?)
}

/// Stores a new result of a run. Returns false if somebody else changed it.
pub async fn change_result(
    conn: &mut Conn,
    run_id: Id<Run>,
    was: String,
    result: String,
    now: Time,
) -> Result<bool, DbError> {
    let unchanged = run_results::table.find(run_id).filter(run_results::result.eq(was));
    let changed = diesel::update(unchanged).set((run_results::result.eq(result), run_results::generated_at.eq(now)));
    Ok(changed.execute(conn).await? == 1)
}
