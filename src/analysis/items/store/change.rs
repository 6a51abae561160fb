//! Queries that change single items by a decision of a person.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl, TextExpressionMethods};
use uuid::Uuid;

use super::{Facts, FoundKeys, item_of};
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::project_item::ProjectItem;
use crate::db::schema::{item_numbers, items};
use crate::db::{Conn, DbError, RunQueryDsl, kept};
use crate::projects::item_kind::ItemKind;

/// Stories that are read at once.
const STORIES: i64 = 500;

/// Assigns the next number of an item of this kind.
pub async fn next_number(conn: &mut Conn, project_id: Id<ids::Project>, kind: ItemKind) -> Result<i64, DbError> {
    let first = (item_numbers::project_id.eq(project_id), item_numbers::kind.eq(kind), item_numbers::last.eq(1));
    Ok(diesel::insert_into(item_numbers::table)
        .values(first)
        .on_conflict((item_numbers::project_id, item_numbers::kind))
        .do_update()
        .set(item_numbers::last.eq(item_numbers::last + 1))
        .returning(item_numbers::last)
        .get_result(conn)
        .await?)
}

/// Inserts an item that a person wants. Returns false if there is one of its id.
pub async fn insert(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    item: &ProjectItem,
    number: i64,
    keys: FoundKeys,
    now: Time,
) -> Result<bool, DbError> {
    let facts = Facts::of(item);
    let run_id: Id<Run> = item.run_id();
    let row = (
        items::id.eq(Id::<()>::from_uuid(facts.id)),
        items::project_id.eq(project_id),
        items::run_id.eq(run_id),
        items::kind.eq(facts.kind),
        items::number.eq(number),
        items::text_key.eq(keys.text),
        items::item_type.eq(facts.item_type),
        items::priority.eq(facts.priority),
        items::workflow_status.eq(item.workflow_status()),
        items::search_text.eq(facts.search_text),
        items::body.eq(body(item)?),
        items::created_at.eq(now),
        items::updated_at.eq(now),
        items::touched.eq(true),
        items::content_key.eq(keys.content),
    );
    Ok(diesel::insert_into(items::table).values(row).on_conflict_do_nothing().execute(conn).await? == 1)
}

/// Returns an item for a transaction that goes on to change it: locks the row, so that a second transaction waits and sees
/// what the first one wrote.
pub async fn find_to_change(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<()>,
) -> Result<Option<ProjectItem>, DbError> {
    let own = items::table.filter(items::id.eq(id)).filter(items::project_id.eq(project_id));
    // Changes nothing but locks the row, in a statement that both databases support.
    kept(diesel::update(own).set(items::number.eq(items::number))).execute(conn).await?;
    let found: Option<(ItemKind, String)> = own.select((items::kind, items::body)).first(conn).await.optional()?;
    found.map(|(kind, body)| item_of(kind, &body)).transpose()
}

/// Stores an item as a person changed it, and with `keys` how the analysis found its new content.
pub async fn update(conn: &mut Conn, item: &ProjectItem, keys: Option<FoundKeys>, now: Time) -> Result<(), DbError> {
    let facts = Facts::of(item);
    let own = items::table.find(Id::<()>::from_uuid(facts.id));
    let columns = (
        items::item_type.eq(facts.item_type),
        items::priority.eq(facts.priority),
        items::workflow_status.eq(item.workflow_status()),
        items::search_text.eq(facts.search_text),
        items::body.eq(body(item)?),
        items::updated_at.eq(now),
        items::touched.eq(true),
    );
    kept(diesel::update(own).set(columns)).execute(conn).await?;
    if let Some(keys) = keys {
        let found = (items::text_key.eq(keys.text), items::content_key.eq(keys.content));
        diesel::update(own).set(found).execute(conn).await?;
    }
    Ok(())
}

/// Stores an item after a change of what it refers to, or rests on, which nobody made to the item itself.
pub async fn follow(conn: &mut Conn, item: &ProjectItem, now: Time) -> Result<(), DbError> {
    let own = items::table.find(Id::<()>::from_uuid(item.id()));
    let columns = (items::body.eq(body(item)?), items::updated_at.eq(now));
    kept(diesel::update(own).set(columns)).execute(conn).await?;
    Ok(())
}

/// Stores a requirement that says something else of its pairs now: nobody touched it, so that its time stays.
pub async fn relink(conn: &mut Conn, item: &ProjectItem) -> Result<(), DbError> {
    let own = items::table.find(Id::<()>::from_uuid(item.id()));
    kept(diesel::update(own).set(items::body.eq(body(item)?))).execute(conn).await?;
    Ok(())
}

/// Returns the approved stories that may name one of some requirements, at most `most`, in the order of their ids.
pub async fn approved_stories_naming(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    requirements: &[Uuid],
    most: i64,
) -> Result<Vec<Id<()>>, DbError> {
    let approved = items::table
        .filter(items::project_id.eq(project_id))
        .filter(items::kind.eq(ItemKind::UserStory))
        .filter(items::workflow_status.eq(WorkflowStatus::Approved));
    if let [requirement] = requirements {
        let stories = approved.filter(items::body.like(format!("%{requirement}%")));
        return Ok(stories.order(items::id.asc()).limit(most).select(items::id).load(conn).await?);
    }
    // Of many, the stories are searched here: once for all.
    let wanted: Vec<String> = requirements.iter().map(Uuid::to_string).collect();
    let (mut found, mut after) = (Vec::new(), Id::<()>::from_uuid(Uuid::nil()));
    loop {
        let later = approved.filter(items::id.gt(after));
        let page: Vec<(Id<()>, String)> =
            later.order(items::id.asc()).limit(STORIES).select((items::id, items::body)).load(conn).await?;
        let Some((last, _)) = page.last() else { return Ok(found) };
        after = *last;
        let naming = page.iter().filter(|(_, body)| wanted.iter().any(|id| body.contains(id.as_str())));
        found.extend(naming.map(|(id, _)| id));
        if found.len() >= usize::try_from(most).unwrap_or(usize::MAX) {
            found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            return Ok(found);
        }
    }
}

fn body(item: &ProjectItem) -> Result<String, DbError> {
    serde_json::to_string(item).map_err(|error| DbError::Broken(error.to_string()))
}
