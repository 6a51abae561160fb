//! Queries that make items of what was in the results of runs alone.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, JoinOnDsl, OptionalExtension, QueryDsl};

use super::note_number;
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::{Facts, FoundKeys};
use crate::db::schema::{items, run_results, runs, unadopted_projects};
use crate::db::{Conn, DbError, RunQueryDsl, many};
use crate::projects::item_kind::ItemKind;

/// An item that was in the results of runs alone.
#[derive(Debug, Clone)]
pub struct AdoptedItem {
    pub item: ProjectItem,
    pub facts: Facts,
    pub keys: FoundKeys,
    pub number: i64,
}

#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = items)]
struct AdoptedRow {
    id: Id<()>,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
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
    touched: bool,
    content_key: String,
}

/// The next project whose risks, questions, actions and decisions are no items yet.
pub async fn unadopted(conn: &mut Conn) -> Result<Option<Id<ids::Project>>, DbError> {
    let next = unadopted_projects::table.order(unadopted_projects::project_id.asc());
    Ok(next.select(unadopted_projects::project_id).first(conn).await.optional()?)
}

/// Notes that the items of a project are made.
pub async fn adopted(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<(), DbError> {
    diesel::delete(unadopted_projects::table.find(project_id)).execute(conn).await?;
    Ok(())
}

/// The ids of a project's runs that have results, the oldest first.
pub async fn ids_with_results(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<Id<Run>>, DbError> {
    let found = runs::table.inner_join(run_results::table.on(run_results::run_id.eq(runs::id)));
    let found = found.filter(runs::project_id.eq(project_id)).order(runs::id.asc());
    Ok(found.select(runs::id).load(conn).await?)
}

/// The stored result of a run, and when it was made.
pub async fn stored_result(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<(String, Time)>, DbError> {
    let found = run_results::table.find(run_id).select((run_results::result, run_results::generated_at));
    Ok(found.first(conn).await.optional()?)
}

/// Stores a result that names items, with its short parts: its text, its summary and its metrics.
pub async fn replace_result(
    conn: &mut Conn,
    run_id: Id<Run>,
    (result, summary, metrics): (String, String, String),
    now: Time,
) -> Result<(), DbError> {
    let parts = (
        run_results::result.eq(result),
        run_results::summary.eq(summary),
        run_results::metrics.eq(metrics),
        run_results::generated_at.eq(now),
    );
    diesel::update(run_results::table.find(run_id)).set(parts).execute(conn).await?;
    Ok(())
}

/// Inserts items of former runs that are not there yet, and notes their numbers as assigned.
pub async fn insert_adopted(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    adopted: &[AdoptedItem],
) -> Result<(), DbError> {
    let row = |AdoptedItem { item, facts, keys, number }: &AdoptedItem| {
        let at = item.updated_at();
        Ok(AdoptedRow {
            id: Id::from_uuid(item.id()),
            project_id,
            run_id: item.run_id(),
            kind: item.kind(),
            number: *number,
            text_key: keys.text.clone(),
            item_type: facts.item_type.to_owned(),
            priority: facts.priority.to_owned(),
            workflow_status: item.workflow_status(),
            search_text: facts.search_text.clone(),
            body: serde_json::to_string(item).map_err(|error| DbError::Broken(error.to_string()))?,
            created_at: at,
            updated_at: at,
            touched: false,
            content_key: keys.content.clone(),
        })
    };
    let rows: Vec<AdoptedRow> = adopted.iter().map(row).collect::<Result<_, DbError>>()?;
    many!(conn, &rows, |some| diesel::insert_into(items::table).values(some).on_conflict_do_nothing());
    for AdoptedItem { item, number, .. } in adopted {
        note_number(conn, project_id, item.kind(), *number).await?;
    }
    Ok(())
}
