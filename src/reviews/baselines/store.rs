//! Baselines as rows.

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::dsl::sum;
use diesel::sql_types::BigInt;
use diesel::{ExpressionMethods, Insertable, IntoSql, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::comparison::ComparedRow;
use super::model::{Baseline, BaselineCounts, ComparedType};
use crate::db::schema::{baseline_items, baselines, items};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, Uuid as SqlUuid, each, octet_length, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;
use crate::projects::item_kind::ItemKind;

/// The kinds of items that a baseline copies.
const COPIED: [ItemKind; 2] = [ItemKind::Requirement, ItemKind::UserStory];

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = baselines)]
struct Row {
    id: Id<Baseline>,
    project_id: Id<ids::Project>,
    number: i64,
    name: String,
    note: Option<String>,
    requirements: i64,
    user_stories: i64,
    acceptance_criteria: i64,
    created_by_id: Id<User>,
    created_at: Time,
}

/// A baseline without the name of who took it.
#[derive(Debug, Clone)]
pub struct StoredBaseline {
    pub id: Id<Baseline>,
    pub number: i64,
    pub name: String,
    pub note: Option<String>,
    pub counts: BaselineCounts,
    pub created_by: Id<User>,
    pub created_at: Time,
}

impl From<Row> for StoredBaseline {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            number: row.number,
            name: row.name,
            note: row.note,
            counts: BaselineCounts {
                requirements: row.requirements,
                user_stories: row.user_stories,
                acceptance_criteria: row.acceptance_criteria,
            },
            created_by: row.created_by_id,
            created_at: row.created_at,
        }
    }
}

/// A baseline of a project.
pub async fn find(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<Baseline>,
) -> Result<Option<StoredBaseline>, DbError> {
    let own = baselines::table.find(id).filter(baselines::project_id.eq(project_id));
    let row: Option<Row> = own.select(Row::columns()).first(conn).await.optional()?;
    Ok(row.map(StoredBaseline::from))
}

/// Lists a project's baselines, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    page: PageQuery,
) -> Result<List<StoredBaseline>, DbError> {
    let listed = baselines::table.filter(baselines::project_id.eq(project_id));
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, listed, baselines::id, Row::columns());
    Ok(page.list(rows, total, |row| row.id.uuid()).map(StoredBaseline::from))
}

/// How many baselines a project has: also the number of the last one, as none is ever deleted.
pub async fn count(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<i64, DbError> {
    Ok(baselines::table.filter(baselines::project_id.eq(project_id)).count().get_result(conn).await?)
}

/// Copies the items of the project, in one statement, and stores the baseline with what was copied. The caller holds the
/// lock of the project's row, so that no other baseline takes its number.
pub async fn take(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    mut baseline: StoredBaseline,
) -> Result<StoredBaseline, DbError> {
    let now = items::table.filter(items::project_id.eq(project_id)).filter(items::kind.eq_any(COPIED)).select((
        items::project_id,
        baseline.id.into_sql::<SqlUuid>(),
        items::id,
        items::kind,
        items::number,
        items::body,
    ));
    diesel::insert_into(baseline_items::table)
        .values(now)
        .into_columns((
            baseline_items::project_id,
            baseline_items::baseline_id,
            baseline_items::item_id,
            baseline_items::kind,
            baseline_items::number,
            baseline_items::body,
        ))
        .execute(conn)
        .await?;
    baseline.counts = BaselineCounts {
        requirements: copied(conn, project_id, baseline.id, ItemKind::Requirement).await?,
        user_stories: copied(conn, project_id, baseline.id, ItemKind::UserStory).await?,
        acceptance_criteria: criteria(conn, project_id, baseline.id).await?,
    };
    let row = Row {
        id: baseline.id,
        project_id,
        number: baseline.number,
        name: baseline.name.clone(),
        note: baseline.note.clone(),
        requirements: baseline.counts.requirements,
        user_stories: baseline.counts.user_stories,
        acceptance_criteria: baseline.counts.acceptance_criteria,
        created_by_id: baseline.created_by,
        created_at: baseline.created_at,
    };
    diesel::insert_into(baselines::table).values(&row).execute(conn).await?;
    Ok(baseline)
}

async fn copied(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<Baseline>,
    kind: ItemKind,
) -> Result<i64, DbError> {
    let copied = baseline_items::table
        .filter(baseline_items::project_id.eq(project_id))
        .filter(baseline_items::baseline_id.eq(id))
        .filter(baseline_items::kind.eq(kind));
    Ok(copied.count().get_result(conn).await?)
}

#[derive(diesel::QueryableByName)]
struct CriteriaCount {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

async fn criteria(conn: &mut Conn, project_id: Id<ids::Project>, id: Id<Baseline>) -> Result<i64, DbError> {
    let length = match conn {
        Conn::Pg(_) => "json_array_length(body::json -> 'acceptanceCriteria')",
        Conn::Sqlite(_) => "json_array_length(body, '$.acceptanceCriteria')",
    };
    let sql = format!(
        "SELECT CAST(coalesce(sum({length}), 0) AS BIGINT) AS count FROM baseline_items \
         WHERE project_id = $1 AND baseline_id = $2 AND kind = '{}'",
        ItemKind::UserStory.into_str()
    );
    let query = diesel::sql_query(sql).bind::<SqlUuid, _>(project_id).bind::<SqlUuid, _>(id);
    let counted: CriteriaCount = each!(conn, get_result, query)?;
    Ok(counted.count)
}

/// How many bytes the items of a baseline have together.
pub async fn copied_bytes(conn: &mut Conn, project_id: Id<ids::Project>, id: Id<Baseline>) -> Result<usize, DbError> {
    let own = baseline_items::table
        .filter(baseline_items::project_id.eq(project_id))
        .filter(baseline_items::baseline_id.eq(id));
    let bytes: Option<i64> = own.select(sum(octet_length(baseline_items::body))).first(conn).await?;
    Ok(usize::try_from(bytes.unwrap_or_default()).unwrap_or_default())
}

/// How many bytes the items of a project have together.
pub async fn present_bytes(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<usize, DbError> {
    let own = items::table.filter(items::project_id.eq(project_id));
    let bytes: Option<i64> = own.select(sum(octet_length(items::body))).first(conn).await?;
    Ok(usize::try_from(bytes.unwrap_or_default()).unwrap_or_default())
}

/// The items of a baseline, requirements first, in the order of their numbers.
pub async fn copied_items(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<Baseline>,
) -> Result<Vec<ComparedRow>, DbError> {
    let own = baseline_items::table
        .filter(baseline_items::project_id.eq(project_id))
        .filter(baseline_items::baseline_id.eq(id))
        .order((baseline_items::kind.asc(), baseline_items::number.asc()));
    let own = own.select((baseline_items::kind, baseline_items::number, baseline_items::body));
    Ok(rows(own.load(conn).await?))
}

/// The items of a project as they are now, in the same order.
pub async fn present_items(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<ComparedRow>, DbError> {
    let own = items::table.filter(items::project_id.eq(project_id)).filter(items::kind.eq_any(COPIED));
    let own = own.order((items::kind.asc(), items::number.asc()));
    Ok(rows(own.select((items::kind, items::number, items::body)).load(conn).await?))
}

fn rows(found: Vec<(ItemKind, i64, String)>) -> Vec<ComparedRow> {
    let row = |(kind, number, body)| {
        let target_type = match kind {
            ItemKind::UserStory => ComparedType::UserStory,
            _ => ComparedType::Requirement,
        };
        ComparedRow { target_type, number, body }
    };
    found.into_iter().map(row).collect()
}
