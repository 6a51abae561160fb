//! Queries of items.

pub mod change;
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
    };
    item.map_err(|error| DbError::Broken(format!("an item is invalid: {error}")))
}

/// Finds a project's items of a kind by their text keys.
pub async fn known(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    text_keys: Vec<String>,
) -> Result<Vec<Item>, DbError> {
    Ok(items::table
        .filter(items::project_id.eq(project_id))
        .filter(items::kind.eq(kind))
        .filter(items::text_key.eq_any(text_keys))
        // Of several, the first is the one that is kept.
        .order(items::number.desc())
        .select(Item::columns())
        .load(conn)
        .await?)
}

/// Finds items of a project by their ids.
pub async fn find_many(conn: &mut Conn, project_id: Id<ids::Project>, ids: Vec<Uuid>) -> Result<Vec<Item>, DbError> {
    let ids: Vec<Id<()>> = ids.into_iter().map(Id::from_uuid).collect();
    let found = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(ids));
    Ok(found.select(Item::columns()).load(conn).await?)
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

/// Whether a person has touched an item of the project.
pub async fn is_any_touched(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<bool, DbError> {
    let touched = items::table.filter(items::project_id.eq(project_id)).filter(items::touched);
    let first: Option<Id<()>> = touched.select(items::id).first(conn).await.optional()?;
    Ok(first.is_some())
}

/// Returns some of a project's touched items of one kind: those with an id after `after`, in the order of their ids.
pub async fn touched(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    after: Id<()>,
    most: i64,
) -> Result<Vec<Item>, DbError> {
    let touched = items::table
        .filter(items::project_id.eq(project_id))
        .filter(items::kind.eq(kind))
        .filter(items::touched)
        .filter(items::id.gt(after));
    Ok(touched.order(items::id.asc()).limit(most).select(Item::columns()).load(conn).await?)
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
                kind: ItemKind::Requirement,
                item_type: one.kind.into_str(),
                priority: one.priority.into_str(),
                search_text: format!("{} {}", one.title, one.statement).to_lowercase(),
            },
            ProjectItem::UserStory(one) => Self {
                id: one.id,
                kind: ItemKind::UserStory,
                item_type: "",
                priority: one.priority.into_str(),
                search_text: format!("{} {}", one.title, one.description).to_lowercase(),
            },
        }
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
