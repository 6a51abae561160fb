//! Queries of pairs of requirements.

use std::collections::HashSet;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, JoinOnDsl, OptionalExtension, QueryDsl, Queryable,
    Selectable, TextExpressionMethods,
};
use uuid::Uuid;

use super::bodies::Filter;
use super::model::{ItemPair, PairKind, PairSettlement, PairStatus, PairStrength};
use crate::analysis::items::model::WorkflowStatus;
use crate::db::schema::{item_pairs, items};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, is_wanted, many, octet_length, page_by_bytes};
use crate::http::budget::Share;
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::http::page::PageQuery;
use crate::projects::item_kind::ItemKind;

diesel::alias!(items as second_items: SecondItems);

/// How many pairs are named in one statement.
const AT_ONCE: usize = 500;

/// A pair as it is stored.
#[derive(Debug, Clone, PartialEq, Queryable, Selectable, Insertable)]
#[diesel(table_name = item_pairs)]
pub struct StoredPair {
    pub id: Id<ItemPair>,
    pub project_id: Id<ids::Project>,
    pub kind: PairKind,
    /// Of the requirement with the lower number.
    pub first_id: Id<()>,
    pub second_id: Id<()>,
    /// The words of both when they were compared.
    pub first_key: String,
    pub second_key: String,
    pub strength: PairStrength,
    /// In hundredths.
    pub confidence: i64,
    pub reason: String,
    /// As JSON.
    pub spans: String,
    pub status: PairStatus,
    pub settlement: Option<PairSettlement>,
    pub settled_by_id: Option<Id<ids::User>>,
    pub settled_at: Option<Time>,
    /// [`super::model::MovedParts`] as JSON.
    pub moved: Option<String>,
    pub run_id: Id<Run>,
    pub created_at: Time,
}

/// A pair with the bodies of both requirements.
pub type PairWithItems = (StoredPair, String, String);

/// Lists a project's pairs, newest first. Open ones with a requirement that was rejected wait for nobody, and are left out.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
    share: &mut Share,
) -> Result<List<PairWithItems>, DbError> {
    let run_id = filter.run_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil()));
    let item_id = filter.item_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil()));
    let of_run = filter.run_id.is_none().into_sql::<Bool>().or(item_pairs::run_id.eq(run_id));
    let of_item = item_pairs::first_id.eq(item_id).or(item_pairs::second_id.eq(item_id));
    let of_item = filter.item_id.is_none().into_sql::<Bool>().or(of_item);
    let second_status = second_items.field(items::workflow_status);
    let both_stand =
        items::workflow_status.ne(WorkflowStatus::Rejected).and(second_status.ne(WorkflowStatus::Rejected));
    let listed = item_pairs::table
        .inner_join(items::table.on(items::id.eq(item_pairs::first_id)))
        .inner_join(second_items.on(second_items.field(items::id).eq(item_pairs::second_id)))
        .filter(item_pairs::project_id.eq(project_id))
        .filter(item_pairs::status.eq(PairStatus::Settled).or(both_stand))
        .filter(is_wanted(item_pairs::status, filter.status))
        .filter(is_wanted(item_pairs::kind, filter.kind))
        .filter(is_wanted(item_pairs::strength, filter.strength))
        .filter(of_run)
        .filter(of_item);
    let second_body = second_items.field(items::body);
    let bytes = octet_length(items::body) + octet_length(second_body);
    let columns = (StoredPair::columns(), items::body, second_body);
    let (rows, more, total): (Vec<PairWithItems>, _, _) =
        page_by_bytes!(conn, share, page, listed, item_pairs::id, bytes, columns);
    Ok(PageQuery::ended(rows, more, total, |(pair, ..)| pair.id.uuid()))
}

/// All pairs of a project.
pub async fn all(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<StoredPair>, DbError> {
    let own = item_pairs::table.filter(item_pairs::project_id.eq(project_id)).order(item_pairs::id.asc());
    Ok(own.select(StoredPair::columns()).load(conn).await?)
}

/// Returns a pair for a transaction that goes on to settle it. Whoever settles pairs holds the lock of the project.
pub async fn find(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<ItemPair>,
) -> Result<Option<StoredPair>, DbError> {
    let own = item_pairs::table.find(id).filter(item_pairs::project_id.eq(project_id));
    Ok(own.select(StoredPair::columns()).first(conn).await.optional()?)
}

/// The pairs of some requirements that are open, and strong.
pub async fn shown_of(conn: &mut Conn, items: &[Id<()>]) -> Result<Vec<StoredPair>, DbError> {
    let mut found = Vec::new();
    for some in items.chunks(AT_ONCE) {
        let of_items = item_pairs::first_id.eq_any(some).or(item_pairs::second_id.eq_any(some));
        let shown = item_pairs::table.filter(of_items).filter(item_pairs::status.eq(PairStatus::Open));
        let shown = shown.filter(item_pairs::strength.eq(PairStrength::High)).order(item_pairs::id.asc());
        let some: Vec<StoredPair> = shown.select(StoredPair::columns()).load(conn).await?;
        found.extend(some);
    }
    Ok(found)
}

/// The requirements that are open and strong pairs with one of some requirements, but these themselves.
pub async fn partners(conn: &mut Conn, items: &[Id<()>]) -> Result<Vec<Id<()>>, DbError> {
    let own: HashSet<Id<()>> = items.iter().copied().collect();
    let pairs = shown_of(conn, items).await?;
    let partners: HashSet<Id<()>> = pairs.into_iter().flat_map(|pair| [pair.first_id, pair.second_id]).collect();
    let mut partners: Vec<Id<()>> = partners.difference(&own).copied().collect();
    partners.sort_unstable_by_key(|id| id.uuid());
    Ok(partners)
}

/// The strong contradictions that wait for people, of requirements that a run added with those that were there: the numbers of
/// both, by those of the run.
pub async fn contradictions_of_run(conn: &mut Conn, run_id: Id<Run>, most: i64) -> Result<Vec<(i64, i64)>, DbError> {
    let second_number = second_items.field(items::number);
    let both_stand = items::workflow_status
        .ne(WorkflowStatus::Rejected)
        .and(second_items.field(items::workflow_status).ne(WorkflowStatus::Rejected));
    let found = item_pairs::table
        .inner_join(items::table.on(items::id.eq(item_pairs::first_id)))
        .inner_join(second_items.on(second_items.field(items::id).eq(item_pairs::second_id)))
        .filter(item_pairs::run_id.eq(run_id))
        .filter(items::run_id.ne(run_id))
        .filter(item_pairs::kind.eq(PairKind::Conflict))
        .filter(item_pairs::strength.eq(PairStrength::High))
        .filter(item_pairs::status.eq(PairStatus::Open))
        .filter(both_stand)
        .order(second_number.asc())
        .limit(most);
    Ok(found.select((second_number, items::number)).load(conn).await?)
}

/// Inserts pairs. One that another job has inserted meanwhile stays as it is.
pub async fn insert(conn: &mut Conn, pairs: &[StoredPair]) -> Result<(), DbError> {
    many!(conn, pairs, |some| diesel::insert_into(item_pairs::table).values(some).on_conflict_do_nothing());
    Ok(())
}

/// Replaces a pair by what it has become, unless somebody settled it, or opened it again, in the meantime.
pub async fn replace(conn: &mut Conn, was: &StoredPair, is: &StoredPair) -> Result<(), DbError> {
    let own = item_pairs::table.find(was.id).filter(item_pairs::status.eq(was.status));
    let claim = (
        item_pairs::kind.eq(is.kind),
        item_pairs::first_key.eq(is.first_key.clone()),
        item_pairs::second_key.eq(is.second_key.clone()),
        item_pairs::strength.eq(is.strength),
        item_pairs::confidence.eq(is.confidence),
        item_pairs::reason.eq(is.reason.clone()),
        item_pairs::spans.eq(is.spans.clone()),
    );
    let settled = (
        item_pairs::status.eq(is.status),
        item_pairs::settlement.eq(is.settlement),
        item_pairs::settled_by_id.eq(is.settled_by_id),
        item_pairs::settled_at.eq(is.settled_at),
        item_pairs::moved.eq(is.moved.clone()),
    );
    diesel::update(own).set((claim, settled)).execute(conn).await?;
    Ok(())
}

/// Deletes pairs that are open.
pub async fn delete_open(conn: &mut Conn, pairs: &[Id<ItemPair>]) -> Result<(), DbError> {
    let own = item_pairs::table.filter(item_pairs::id.eq_any(pairs));
    diesel::delete(own.filter(item_pairs::status.eq(PairStatus::Open))).execute(conn).await?;
    Ok(())
}

/// Returns the stories that may cover a requirement, at most `most`, in the order of their ids.
pub async fn stories_naming(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    requirement: Id<()>,
    most: i64,
) -> Result<Vec<Id<()>>, DbError> {
    let stories = items::table.filter(items::project_id.eq(project_id)).filter(items::kind.eq(ItemKind::UserStory));
    let naming = stories.filter(items::body.like(format!("%{requirement}%")));
    Ok(naming.order(items::id.asc()).limit(most).select(items::id).load(conn).await?)
}
