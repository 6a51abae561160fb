//! Queries of items.

pub mod change;
pub mod comparing;
pub mod quoting;
pub mod spooling;

use actors::ids::{self, Id};
use diesel::{
    EscapeExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, Queryable, Selectable,
    TextExpressionMethods,
};
use uuid::Uuid;

use super::bodies::Filter;
use super::project_item::ProjectItem;
use crate::db::schema::{item_numbers, items};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, is_found, is_wanted, octet_length, page_by_bytes};
use crate::http::budget::Share;
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::http::page::PageQuery;
use crate::projects::item_kind::ItemKind;

/// An item of a project. `body` is the serialized resource, as clients receive it.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = items)]
pub struct Item {
    pub id: Id<()>,
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
pub fn item_of(kind: ItemKind, body: &str) -> Result<ProjectItem, DbError> {
    let item = match kind {
        ItemKind::Requirement => serde_json::from_str(body).map(ProjectItem::Requirement),
        ItemKind::UserStory => serde_json::from_str(body).map(ProjectItem::UserStory),
        ItemKind::Risk => serde_json::from_str(body).map(ProjectItem::Risk),
        ItemKind::OpenQuestion => serde_json::from_str(body).map(ProjectItem::OpenQuestion),
        ItemKind::ActionItem => serde_json::from_str(body).map(ProjectItem::ActionItem),
        ItemKind::Decision => serde_json::from_str(body).map(ProjectItem::Decision),
    };
    item.map_err(|error| DbError::Broken(format!("an item is invalid: {error}")))
}

/// Finds items of a project by their ids.
pub async fn find_many(conn: &mut Conn, project_id: Id<ids::Project>, ids: Vec<Uuid>) -> Result<Vec<Item>, DbError> {
    let ids: Vec<Id<()>> = ids.into_iter().map(Id::from_uuid).collect();
    let found = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(ids));
    Ok(found.select(Item::columns()).load(conn).await?)
}

/// How many of the ids are those of items of the project.
pub async fn count_of(conn: &mut Conn, project_id: Id<ids::Project>, ids: &[Uuid]) -> Result<usize, DbError> {
    let ids: Vec<Id<()>> = ids.iter().copied().map(Id::from_uuid).collect();
    let found = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(ids));
    let count: i64 = found.count().get_result(conn).await?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Whether the project has an item of a kind.
pub async fn exists(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    id: Id<()>,
) -> Result<bool, DbError> {
    let own = items::table.find(id).filter(items::project_id.eq(project_id));
    Ok(own.filter(items::kind.eq(kind)).count().get_result::<i64>(conn).await? > 0)
}

/// The number of a project's item of one kind.
pub async fn number(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    id: Uuid,
) -> Result<Option<i64>, DbError> {
    let found = items::table
        .find(Id::<()>::from_uuid(id))
        .filter(items::project_id.eq(project_id))
        .filter(items::kind.eq(kind));
    Ok(found.select(items::number).first(conn).await.optional()?)
}

/// Returns some of a project's items of one kind: those with a number after `after`, in the order of their numbers.
pub async fn after(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    after: i64,
    most: i64,
) -> Result<Vec<Item>, DbError> {
    let own = items::table.filter(items::project_id.eq(project_id)).filter(items::kind.eq(kind));
    let page = own.filter(items::number.gt(after)).order(items::number.asc()).limit(most);
    Ok(page.select(Item::columns()).load(conn).await?)
}

/// The last number that was assigned to an item of this kind; 0 if there is none.
pub async fn last_number(conn: &mut Conn, project_id: Id<ids::Project>, kind: ItemKind) -> Result<i64, DbError> {
    let last = item_numbers::table.find((project_id, kind)).select(item_numbers::last);
    Ok(last.first(conn).await.optional()?.unwrap_or(0))
}

/// The columns of an item besides its body.
#[derive(Debug, Clone)]
pub struct Facts {
    pub id: Uuid,
    pub kind: ItemKind,
    /// Of a requirement; else empty.
    pub item_type: &'static str,
    /// Of a requirement or a story; else empty.
    pub priority: &'static str,
    /// In lower case.
    pub search_text: String,
}

impl Facts {
    #[must_use]
    pub fn of(item: &ProjectItem) -> Self {
        let (item_type, priority, texts) = match item {
            ProjectItem::Requirement(one) => {
                (one.kind.into_str(), one.priority.into_str(), [&*one.title, &*one.statement])
            }
            ProjectItem::UserStory(one) => ("", one.priority.into_str(), [&*one.title, &*one.description]),
            ProjectItem::Risk(one) => ("", "", [&*one.title, &*one.description]),
            ProjectItem::OpenQuestion(one) => ("", "", [&*one.question, &*one.why]),
            ProjectItem::ActionItem(one) => ("", "", [&*one.text, one.assignee.as_deref().unwrap_or_default()]),
            ProjectItem::Decision(one) => ("", "", [&*one.text, ""]),
        };
        Self { id: item.id(), kind: item.kind(), item_type, priority, search_text: texts.join(" ").to_lowercase() }
    }
}

/// How the analysis found an item, so that it is known when it is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKeys {
    /// Of its words.
    pub text: String,
    /// Of its content.
    pub content: String,
}

/// Lists the bodies of a project's items, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    Listing { filter, page }: Listing<Filter>,
    share: &mut Share,
) -> Result<List<String>, DbError> {
    let listed = items::table
        .filter(items::project_id.eq(project_id))
        .filter(items::kind.eq(kind))
        .filter(is_wanted(items::item_type, filter.item_type))
        .filter(is_wanted(items::priority, filter.priority))
        .filter(is_wanted(items::workflow_status, filter.status))
        .filter(is_found(filter.search.as_ref(), |pattern| items::search_text.like(pattern.to_owned()).escape('\\')));
    let (rows, more, total): (Vec<(Id<()>, String)>, _, _) =
        page_by_bytes!(conn, share, page, listed, items::id, octet_length(items::body), (items::id, items::body));
    Ok(PageQuery::ended(rows, more, total, |(id, _)| id.uuid()).map(|(_, body)| body))
}
