//! Queries of items. The findings of a run are written in batches to draft tables that nothing else reads (`run_items`,
//! `run_drafts`), and are published to the project in the transaction that completes the run.

pub mod change;
pub mod quoting;
pub mod spooling;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::upsert::excluded;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, Insertable, NullableExpressionMethods,
    OptionalExtension, QueryDsl, Queryable, Selectable, TextExpressionMethods,
};
use uuid::Uuid;

use super::bodies::Filter;
use super::model::WorkflowStatus;
use super::project_item::ProjectItem;
use crate::db::schema::{item_numbers, items, run_drafts, run_items, run_results};
use crate::db::{
    At, Columns, Conn, DbError, Key, RunQueryDsl, bytes_of, is_found, is_wanted, many, octet_length, page_by_bytes,
};
use crate::http::budget::Share;
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::http::page::PageQuery;

/// The kinds of items that have codes within a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Requirement,
    UserStory,
}

impl Kind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requirement => "REQUIREMENT",
            Self::UserStory => "USER_STORY",
        }
    }

    #[must_use]
    pub const fn of_item(item: &ProjectItem) -> Self {
        match item {
            ProjectItem::Requirement(_) => Self::Requirement,
            ProjectItem::UserStory(_) => Self::UserStory,
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
    /// Whether a person has judged, edited or accepted it.
    pub touched: bool,
    /// Of the content that the analysis last found; empty if it is not known.
    pub content_key: String,
}

/// Parses the body of an item.
///
/// # Errors
/// It is not one of this kind.
pub fn item_of(kind: Kind, body: &str) -> Result<ProjectItem, DbError> {
    let item = match kind {
        Kind::Requirement => serde_json::from_str(body).map(ProjectItem::Requirement),
        Kind::UserStory => serde_json::from_str(body).map(ProjectItem::UserStory),
    };
    item.map_err(|error| DbError::Broken(format!("an item is invalid: {error}")))
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
        // Of several, the first is the one that is kept.
        .order(items::number.desc())
        .select(Item::columns())
        .load(conn)
        .await?)
}

/// Finds items of a project by their ids.
pub async fn some(conn: &mut Conn, project_id: Id<ids::Project>, ids: Vec<Uuid>) -> Result<Vec<Item>, DbError> {
    let ids: Vec<Key<()>> = ids.into_iter().map(|id| Key(Id::from_uuid(id))).collect();
    let found = items::table.filter(items::project_id.eq(Key(project_id))).filter(items::id.eq_any(ids));
    Ok(found.select(Item::columns()).load(conn).await?)
}

/// Whether the project has an item of a kind.
pub async fn exists(conn: &mut Conn, project_id: Id<ids::Project>, kind: Kind, id: Id<()>) -> Result<bool, DbError> {
    let own = items::table.find(Key(id)).filter(items::project_id.eq(Key(project_id)));
    Ok(own.filter(items::kind.eq(kind.as_str())).count().get_result::<i64>(conn).await? > 0)
}

/// The number of a project's item of one kind.
pub async fn number(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: Kind,
    id: Uuid,
) -> Result<Option<i64>, DbError> {
    let found = items::table
        .find(Key(Id::<()>::from_uuid(id)))
        .filter(items::project_id.eq(Key(project_id)))
        .filter(items::kind.eq(kind.as_str()));
    Ok(found.select(items::number).first(conn).await.optional()?)
}

/// Whether a person has touched an item of the project.
pub async fn is_any_touched(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<bool, DbError> {
    let touched = items::table.filter(items::project_id.eq(Key(project_id))).filter(items::touched);
    let first: Option<Key<()>> = touched.select(items::id).first(conn).await.optional()?;
    Ok(first.is_some())
}

/// Returns some of a project's touched items of one kind: those with an id after `after`, in the order of their ids.
pub async fn touched(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: Kind,
    after: Id<()>,
    most: i64,
) -> Result<Vec<Item>, DbError> {
    let touched = items::table
        .filter(items::project_id.eq(Key(project_id)))
        .filter(items::kind.eq(kind.as_str()))
        .filter(items::touched)
        .filter(items::id.gt(Key(after)));
    Ok(touched.order(items::id.asc()).limit(most).select(Item::columns()).load(conn).await?)
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

impl Facts {
    #[must_use]
    pub fn of(item: &ProjectItem) -> Self {
        match item {
            ProjectItem::Requirement(one) => Self {
                id: one.id,
                kind: Kind::Requirement,
                item_type: one.kind.into_str(),
                priority: one.priority.into_str(),
                search_text: format!("{} {}", one.title, one.statement).to_lowercase(),
            },
            ProjectItem::UserStory(one) => Self {
                id: one.id,
                kind: Kind::UserStory,
                item_type: "",
                priority: one.priority.into_str(),
                search_text: format!("{} {}", one.title, one.description).to_lowercase(),
            },
        }
    }
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
    content_key: String,
}

/// How the analysis found an item, so that it is known when it is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKeys {
    /// Of its words.
    pub text: String,
    /// Of its content.
    pub content: String,
}

impl DraftItem {
    #[must_use]
    pub fn new(run: &Run, facts: Facts, keys: FoundKeys, number: i64, body: String, now: Time) -> Self {
        Self {
            run_id: Key(run.id),
            id: Key(Id::from_uuid(facts.id)),
            project_id: Key(run.project_id),
            kind: facts.kind.as_str().to_owned(),
            number,
            text_key: keys.text,
            item_type: facts.item_type.to_owned(),
            priority: facts.priority.to_owned(),
            workflow_status: WorkflowStatus::NeedsReview.into_str().to_owned(),
            search_text: facts.search_text,
            body,
            created_at: At(now),
            updated_at: At(now),
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
/// keep their number and code, and are not changed at all once a person has touched them, nor if anything else changed them
/// since the draft was written. Returns `false` if there is no draft.
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
        .eq(WorkflowStatus::NeedsReview.into_str())
        .and(items::touched.eq(false))
        .and(items::updated_at.le(excluded(items::updated_at)));
    // The `filter` of an insert statement; `QueryDsl` has the one for selects.
    diesel::query_dsl::methods::FilterDsl::filter(upsert, as_drafted).execute(conn).await?;

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
    diesel::delete(run_items::table.filter(run_items::run_id.eq(Key(run_id)))).execute(conn).await?;
    diesel::delete(run_drafts::table.find(Key(run_id))).execute(conn).await?;
    Ok(())
}

/// Lists the bodies of a project's items, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: Kind,
    Listing { filter, page }: Listing<Filter>,
    share: &mut Share,
) -> Result<List<String>, DbError> {
    let listed = items::table
        .filter(items::project_id.eq(Key(project_id)))
        .filter(items::kind.eq(kind.as_str()))
        .filter(is_wanted(items::item_type, filter.item_type))
        .filter(is_wanted(items::priority, filter.priority))
        .filter(is_wanted(items::workflow_status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| items::search_text.like(pattern.to_owned()).escape('\\')));
    let (rows, more, total): (Vec<(Key<()>, String)>, _, _) =
        page_by_bytes!(conn, share, page, listed, items::id, octet_length(items::body), (items::id, items::body));
    Ok(PageQuery::ended(rows, more, total, |(id, _)| id.0.uuid()).map(|(_, body)| body))
}

/// What is known of the stored result of a run without reading it.
#[derive(Debug, Clone, Copy)]
pub struct StoredResult {
    /// The size of the serialized dashboard.
    pub bytes: usize,
    pub generated_at: Time,
    /// As of when it shows the items of its project.
    pub composed_at: Time,
}

/// The result of a run, without its text.
pub async fn result(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<StoredResult>, DbError> {
    let found: Option<(i32, At, Option<At>)> = run_results::table
        .find(Key(run_id))
        .select((octet_length(run_results::result), run_results::generated_at, run_results::composed_at))
        .first(conn)
        .await
        .optional()?;
    Ok(found.map(|(bytes, generated_at, composed_at)| StoredResult {
        bytes: bytes_of(bytes),
        generated_at: generated_at.0,
        composed_at: composed_at.unwrap_or(generated_at).0,
    }))
}

/// The serialized dashboard of a run. Reserve memory for it first.
pub async fn result_text(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<String>, DbError> {
    Ok(run_results::table.find(Key(run_id)).select(run_results::result).first(conn).await.optional()?)
}

/// Whether a run has a result.
pub async fn has_result(conn: &mut Conn, run_id: Id<Run>) -> Result<bool, DbError> {
    let found: i64 = run_results::table.filter(run_results::run_id.eq(Key(run_id))).count().get_result(conn).await?;
    Ok(found > 0)
}
