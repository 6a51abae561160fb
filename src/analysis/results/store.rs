//! Items as rows. An item counts once its run's result stands.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{
    BoolExpressionMethods, EscapeExpressionMethods, ExpressionMethods, Insertable, IntoSql, OptionalExtension,
    QueryDsl, Queryable, Selectable, TextExpressionMethods,
};
use uuid::Uuid;

use super::model::{Priority, RequirementType, WorkflowStatus};
use crate::db::schema::{item_numbers, items, run_results};
use crate::db::{At, Columns, Conn, Failed, Key, RunQueryDsl};
use crate::http::page::Page;

/// Kinds of items that a project has under codes.
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

    /// The code of an item's number.
    #[must_use]
    pub fn code(self, number: i64) -> String {
        match self {
            Self::Requirement => format!("REQ-{number:03}"),
            Self::UserStory => format!("US-{number:03}"),
        }
    }
}

/// An item: its body is the resource as its GET gives it.
#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = items)]
pub struct Item {
    pub id: Key<()>,
    pub project_id: Key<ids::Project>,
    pub run_id: Key<Run>,
    pub kind: String,
    pub number: i64,
    pub text_key: String,
    pub item_type: String,
    pub priority: String,
    pub workflow_status: String,
    pub search_text: String,
    pub body: String,
    pub created_at: At,
    pub updated_at: At,
}

/// All items of a kind that a project has, those of unfinished runs among them.
pub async fn all(conn: &mut Conn, project_id: Id<ids::Project>, kind: Kind) -> Result<Vec<Item>, Failed> {
    Ok(items::table
        .filter(items::project_id.eq(Key(project_id)))
        .filter(items::kind.eq(kind.as_str()))
        .select(Item::columns())
        .load(conn)
        .await?)
}

/// Takes the next `many` numbers of a kind; gives the first of them.
pub async fn take_numbers(conn: &mut Conn, project_id: Id<ids::Project>, kind: Kind, many: i64) -> Result<i64, Failed> {
    let first = (
        item_numbers::project_id.eq(Key(project_id)),
        item_numbers::kind.eq(kind.as_str()),
        item_numbers::last.eq(many),
    );
    let last: i64 = diesel::insert_into(item_numbers::table)
        .values(first)
        .on_conflict((item_numbers::project_id, item_numbers::kind))
        .do_update()
        .set(item_numbers::last.eq(item_numbers::last + many))
        .returning(item_numbers::last)
        .get_result(conn)
        .await?;
    Ok(last - many + 1)
}

/// What an item is besides its body.
#[derive(Debug, Clone)]
pub struct Facts {
    pub id: Uuid,
    pub kind: Kind,
    pub text_key: String,
    /// Empty for stories.
    pub item_type: &'static str,
    pub priority: &'static str,
    /// In lower case.
    pub search_text: String,
}

pub async fn insert(
    conn: &mut Conn,
    run: &Run,
    facts: &Facts,
    number: i64,
    body: String,
    now: Time,
) -> Result<(), Failed> {
    let item = Item {
        id: Key(Id::from_uuid(facts.id)),
        project_id: Key(run.project_id),
        run_id: Key(run.id),
        kind: facts.kind.as_str().to_owned(),
        number,
        text_key: facts.text_key.clone(),
        item_type: facts.item_type.to_owned(),
        priority: facts.priority.to_owned(),
        workflow_status: WorkflowStatus::NeedsReview.as_str().to_owned(),
        search_text: facts.search_text.clone(),
        body,
        created_at: At(now),
        updated_at: At(now),
    };
    diesel::insert_into(items::table).values(&item).execute(conn).await?;
    Ok(())
}

/// Puts a body in place that was found again, unless somebody has reviewed the item.
pub async fn refresh(conn: &mut Conn, facts: &Facts, body: String, now: Time) -> Result<(), Failed> {
    diesel::update(items::table.find(Key(Id::<()>::from_uuid(facts.id))))
        .filter(items::workflow_status.eq(WorkflowStatus::NeedsReview.as_str()))
        .set((
            items::item_type.eq(facts.item_type),
            items::priority.eq(facts.priority),
            items::body.eq(body),
            items::updated_at.eq(At(now)),
        ))
        .execute(conn)
        .await?;
    Ok(())
}

/// Which items are listed.
#[derive(Debug, Clone)]
pub struct Filter {
    pub item_type: Option<RequirementType>,
    pub priority: Option<Priority>,
    pub status: Option<WorkflowStatus>,
    pub search: Option<String>,
}

/// A project's items as (id, body), newest first: one more than the page has, and how many there are.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    kind: Kind,
    filter: &Filter,
    page: &Page,
) -> Result<(Vec<(Uuid, String)>, i64), Failed> {
    let pattern = filter.search.as_deref().map(crate::db::like).unwrap_or_default();
    let item_type = filter.item_type.map_or("", RequirementType::as_str);
    let priority = filter.priority.map_or("", Priority::as_str);
    let status = filter.status.map_or("", WorkflowStatus::as_str);
    macro_rules! listed {
        () => {
            items::table
                .filter(items::project_id.eq(Key(project_id)))
                .filter(items::kind.eq(kind.as_str()))
                .filter(items::run_id.eq_any(run_results::table.select(run_results::run_id)))
                .filter(
                    filter.item_type.is_none().into_sql::<diesel::sql_types::Bool>().or(items::item_type.eq(item_type)),
                )
                .filter(
                    filter.priority.is_none().into_sql::<diesel::sql_types::Bool>().or(items::priority.eq(priority)),
                )
                .filter(
                    filter.status.is_none().into_sql::<diesel::sql_types::Bool>().or(items::workflow_status.eq(status)),
                )
                .filter(
                    filter
                        .search
                        .is_none()
                        .into_sql::<diesel::sql_types::Bool>()
                        .or(items::search_text.like(pattern.clone()).escape('\\')),
                )
        };
    }
    let total: i64 = listed!().count().get_result(conn).await?;
    let rows: Vec<(Key<()>, String)> = listed!()
        .filter(items::id.lt(Key(Id::<()>::from_uuid(page.before()))))
        .order(items::id.desc())
        .limit(page.limit + 1)
        .select((items::id, items::body))
        .load(conn)
        .await?;
    Ok((rows.into_iter().map(|(id, body)| (id.0.uuid(), body)).collect(), total))
}

/// Keeps what a run found; what an earlier attempt found is replaced.
pub async fn keep_result(conn: &mut Conn, run_id: Id<Run>, result: String, now: Time) -> Result<(), Failed> {
    diesel::delete(run_results::table.find(Key(run_id))).execute(conn).await?;
    let row =
        (run_results::run_id.eq(Key(run_id)), run_results::result.eq(result), run_results::generated_at.eq(At(now)));
    diesel::insert_into(run_results::table).values(row).execute(conn).await?;
    Ok(())
}

/// What a run found, and when.
pub async fn result(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<(String, Time)>, Failed> {
    let found: Option<(String, At)> = run_results::table
        .find(Key(run_id))
        .select((run_results::result, run_results::generated_at))
        .first(conn)
        .await
        .optional()?;
    Ok(found.map(|(result, at)| (result, at.0)))
}
