//! Queries of items. The findings of a run are written in batches to draft tables that nothing else reads (`run_items`,
//! `run_drafts`), and are published to the project in the transaction that completes the run.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::upsert::excluded;
use diesel::{
    EscapeExpressionMethods, ExpressionMethods, Insertable, JoinOnDsl, OptionalExtension, QueryDsl, Queryable,
    Selectable, TextExpressionMethods,
};
use pipeline::result::{Priority, RequirementType};
use uuid::Uuid;

use super::model::WorkflowStatus;
use crate::db::schema::{item_numbers, items, run_drafts, run_items, run_results, runs};
use crate::db::{At, Columns, Conn, DbError, Key, RunQueryDsl, is_found, is_wanted, many, page_of};
use crate::http::envelope::List;
use crate::http::list::{Listing, Search};

/// The kinds of items that have codes within a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Requirement,
    UserStory,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Requirement => "REQUIREMENT",
            Self::UserStory => "USER_STORY",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Requirement, Self::UserStory].into_iter().find(|kind| kind.as_str() == name)
    }

    /// The code of the item with this number.
    #[must_use]
    pub fn code(self, number: i64) -> String {
        match self {
            Self::Requirement => format!("REQ-{number:03}"),
            Self::UserStory => format!("US-{number:03}"),
        }
    }
}

/// An item of a project. `body` is the serialized resource, as clients receive it.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = items)]
pub struct Item {
    pub id: Key<()>,
    pub number: i64,
    pub text_key: String,
    pub body: String,
}

/// Finds a project's items of a kind by their text keys.
pub async fn known(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: Kind,
    text_keys: Vec<String>,
) -> Result<Vec<Item>, DbError> {
    Ok(items::table
        .filter(items::project_id.eq(Key(project_id)))
        .filter(items::kind.eq(kind.as_str()))
        .filter(items::text_key.eq_any(text_keys))
        .select(Item::columns())
        .load(conn)
        .await?)
}

/// The last number that was assigned to an item of this kind; 0 if there is none.
pub async fn last_number(conn: &mut Conn, project_id: Id<ids::Project>, kind: Kind) -> Result<i64, DbError> {
    let last = item_numbers::table.find((Key(project_id), kind.as_str())).select(item_numbers::last);
    Ok(last.first(conn).await.optional()?.unwrap_or(0))
}

/// The columns of an item besides its body.
#[derive(Debug, Clone)]
pub struct Facts {
    pub id: Uuid,
    pub kind: Kind,
    /// Empty for stories.
    pub item_type: &'static str,
    pub priority: &'static str,
    /// In lower case.
    pub search_text: String,
}

/// An item that a run found, before it is published.
#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_items)]
pub struct DraftItem {
    run_id: Key<Run>,
    id: Key<()>,
    project_id: Key<ids::Project>,
    kind: String,
    number: i64,
    text_key: String,
    item_type: String,
    priority: String,
    workflow_status: String,
    search_text: String,
    body: String,
    created_at: At,
    updated_at: At,
}

impl DraftItem {
    #[must_use]
    pub fn new(run: &Run, facts: Facts, text_key: String, number: i64, body: String, now: Time) -> Self {
        Self {
            run_id: Key(run.id),
            id: Key(Id::from_uuid(facts.id)),
            project_id: Key(run.project_id),
            kind: facts.kind.as_str().to_owned(),
            number,
            text_key,
            item_type: facts.item_type.to_owned(),
            priority: facts.priority.to_owned(),
            workflow_status: WorkflowStatus::NeedsReview.into_str().to_owned(),
            search_text: facts.search_text,
            body,
            created_at: At(now),
            updated_at: At(now),
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
    pub run_id: Key<Run>,
    pub attempt: i64,
    pub result: String,
    pub generated_at: At,
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
/// keep their number and code, and are not changed at all once they have been reviewed. Returns `false` if there is no
/// draft.
///
/// # Errors
/// Fails if a concurrent writer assigned the same numbers, or with another database error.
pub async fn publish(conn: &mut Conn, run: &Run) -> Result<bool, DbError> {
    let (run_id, attempt) = (Key(run.id), i64::from(run.attempt));
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
        ))
        .on_conflict(items::id)
        .do_update()
        .set((
            items::item_type.eq(excluded(items::item_type)),
            items::priority.eq(excluded(items::priority)),
            items::body.eq(excluded(items::body)),
            items::updated_at.eq(excluded(items::updated_at)),
        ));
    let unreviewed = items::workflow_status.eq(WorkflowStatus::NeedsReview.into_str());
    // The `filter` of an insert statement; `QueryDsl` has the one for selects.
    diesel::query_dsl::methods::FilterDsl::filter(upsert, unreviewed).execute(conn).await?;

    for (kind, last) in [(Kind::Requirement, last_requirement), (Kind::UserStory, last_story)] {
        let Some(last) = last else { continue };
        let taken = (
            item_numbers::project_id.eq(Key(run.project_id)),
            item_numbers::kind.eq(kind.as_str()),
            item_numbers::last.eq(last),
        );
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
    let result = result.select((run_drafts::run_id, run_drafts::result, run_drafts::generated_at));
    diesel::insert_into(run_results::table)
        .values(result)
        .into_columns((run_results::run_id, run_results::result, run_results::generated_at))
        .execute(conn)
        .await?;
    Ok(true)
}

/// Deletes the draft of a run.
pub async fn forget_draft(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    diesel::delete(run_items::table.filter(run_items::run_id.eq(Key(run_id)))).execute(conn).await?;
    diesel::delete(run_drafts::table.find(Key(run_id))).execute(conn).await?;
    Ok(())
}

/// The filter of the list of items.
#[derive(Debug, Clone)]
pub struct Filter {
    pub item_type: Option<RequirementType>,
    pub priority: Option<Priority>,
    pub status: Option<WorkflowStatus>,
    pub search: Option<Search>,
}

/// Lists the bodies of a project's items, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: Kind,
    Listing { filter, page }: Listing<Filter>,
) -> Result<List<String>, DbError> {
    let listed = items::table
        .filter(items::project_id.eq(Key(project_id)))
        .filter(items::kind.eq(kind.as_str()))
        .filter(is_wanted(items::item_type, filter.item_type))
        .filter(is_wanted(items::priority, filter.priority))
        .filter(is_wanted(items::workflow_status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| items::search_text.like(pattern.to_owned()).escape('\\')));
    let (rows, total): (Vec<(Key<()>, String)>, _) = page_of!(conn, page, listed, items::id, (items::id, items::body));
    Ok(page.list(rows, total, |(id, _)| id.0.uuid()).map(|(_, body)| body))
}

/// The result of a run, and when it was generated.
pub async fn result(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<(String, Time)>, DbError> {
    let found: Option<(String, At)> = run_results::table
        .find(Key(run_id))
        .select((run_results::result, run_results::generated_at))
        .first(conn)
        .await
        .optional()?;
    Ok(found.map(|(result, at)| (result, at.0)))
}

/// An item that quotes something.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = items)]
pub struct QuotingItem {
    pub id: Key<()>,
    kind: String,
    pub body: String,
}

impl QuotingItem {
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        Kind::of(&self.kind)
    }
}

/// Returns some of a project's items that quote a recording: those with an id after `after`, in the order of their ids.
pub async fn quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<()>,
    most: i64,
) -> Result<Vec<QuotingItem>, DbError> {
    let found = items::table.filter(items::project_id.eq(Key(project_id))).filter(items::id.gt(Key(after)));
    let found = found.filter(items::body.like(format!("%{recording_id}%")));
    Ok(found.order(items::id.asc()).limit(most).select(QuotingItem::columns()).load(conn).await?)
}

/// Stores a new body of an item. Returns false if somebody else changed it.
pub async fn change(conn: &mut Conn, was: QuotingItem, body: String, now: Time) -> Result<bool, DbError> {
    let unchanged = items::table.filter(items::id.eq(was.id)).filter(items::body.eq(was.body));
    let changed = diesel::update(unchanged).set((items::body.eq(body), items::updated_at.eq(At(now))));
    Ok(changed.execute(conn).await? == 1)
}

/// Deletes an item. Returns false if somebody else changed it.
pub async fn remove(conn: &mut Conn, was: QuotingItem) -> Result<bool, DbError> {
    let unchanged = items::table.filter(items::id.eq(was.id)).filter(items::body.eq(was.body));
    Ok(diesel::delete(unchanged).execute(conn).await? == 1)
}

/// Returns the next result of a project's runs that quotes a recording: of a run with an id after `after`.
pub async fn result_quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<Run>,
) -> Result<Option<(Id<Run>, String)>, DbError> {
    let found = runs::table.inner_join(run_results::table.on(run_results::run_id.eq(runs::id)));
    let found = found.filter(runs::project_id.eq(Key(project_id))).filter(runs::id.gt(Key(after)));
    let found = found.filter(run_results::result.like(format!("%{recording_id}%"))).order(runs::id.asc());
    let found: Option<(Key<Run>, String)> =
        found.select((runs::id, run_results::result)).first(conn).await.optional()?;
    Ok(found.map(|(id, result)| (id.0, result)))
}

/// Stores a new result of a run. Returns false if somebody else changed it.
pub async fn change_result(
    conn: &mut Conn,
    run_id: Id<Run>,
    was: String,
    result: String,
    now: Time,
) -> Result<bool, DbError> {
    let unchanged = run_results::table.find(Key(run_id)).filter(run_results::result.eq(was));
    let changed =
        diesel::update(unchanged).set((run_results::result.eq(result), run_results::generated_at.eq(At(now))));
    Ok(changed.execute(conn).await? == 1)
}
