//! Queries that undo a run.

use std::collections::HashSet;

use actors::ids::{self, Id, User};
use actors::run::Run;
use actors::time::Time;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl,
};
use uuid::Uuid;

use crate::analysis::items::content_key::content_key;
use crate::analysis::items::store::{Facts, item_of};
use crate::analysis::proposals::model::{Proposal, ProposalStatus};
use crate::db::schema::{feedback, items, proposals, run_findings, run_results, run_supersedes, run_undos, runs};
use crate::db::{Conn, DbError, RunQueryDsl, coalesce, kept};
use crate::projects::item_kind::ItemKind;

/// How many items are named in one statement.
const AT_ONCE: usize = 500;

/// When the attempt of a run that has a result was published; the items that it wrote are of this time.
pub async fn ended_at(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<Time>, DbError> {
    let found = run_results::table.find(run_id).select(run_results::composed_at.assume_not_null());
    Ok(found.first(conn).await.optional()?)
}

/// When a run was undone.
pub async fn undone_at(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<Time>, DbError> {
    Ok(run_undos::table.find(run_id).select(run_undos::undone_at).first(conn).await.optional()?)
}

/// Notes that a run was undone.
pub async fn note(conn: &mut Conn, run_id: Id<Run>, by: Id<User>, now: Time) -> Result<(), DbError> {
    let row = (run_undos::run_id.eq(run_id), run_undos::undone_at.eq(now), run_undos::undone_by_id.eq(by));
    diesel::insert_into(run_undos::table).values(row).execute(conn).await?;
    Ok(())
}

/// Locks items of a project until the end of the transaction.
pub async fn lock(conn: &mut Conn, project_id: Id<ids::Project>, ids: &[Id<()>]) -> Result<(), DbError> {
    for some in ids.chunks(AT_ONCE) {
        let own = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(some.to_vec()));
        // Changes nothing but locks the rows, in a statement that both databases support.
        kept(diesel::update(own).set(items::number.eq(items::number))).execute(conn).await?;
    }
    Ok(())
}

/// The items that were touched since a run: changed, found by a later run that was not undone, proposed to change by another run
/// or an import, or commented on.
pub async fn touched_since(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
    ended: Time,
) -> Result<HashSet<Uuid>, DbError> {
    let changed = items::table.filter(items::project_id.eq(project_id)).filter(items::updated_at.gt(ended));
    let mut touched: Vec<Id<()>> = changed.select(items::id).load(conn).await?;
    let by_another = proposals::run_id.ne(run_id).or(proposals::import_id.is_not_null());
    let proposed = proposals::table
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::created_at.ge(ended))
        .filter(by_another)
        .select(proposals::item_id);
    touched.extend(proposed.load::<Id<()>>(conn).await?);
    let found = run_findings::table
        .inner_join(run_results::table.on(run_results::run_id.eq(run_findings::run_id)))
        .filter(run_findings::project_id.eq(project_id))
        .filter(run_findings::run_id.ne(run_id))
        .filter(run_results::composed_at.ge(ended))
        .filter(run_findings::run_id.ne_all(run_undos::table.select(run_undos::run_id)))
        .select(run_findings::item_id);
    touched.extend(found.load::<Id<()>>(conn).await?);
    let commented = feedback::table
        .filter(feedback::project_id.eq(project_id))
        .filter(feedback::created_at.ge(ended))
        .select(feedback::target_id);
    touched.extend(commented.load::<Option<Id<()>>>(conn).await?.into_iter().flatten());
    Ok(touched.into_iter().map(|id| id.uuid()).collect())
}

/// The bodies of some items, with their kinds.
pub async fn bodies(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    ids: &[Uuid],
) -> Result<Vec<(ItemKind, String)>, DbError> {
    let mut bodies = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let some: Vec<Id<()>> = some.iter().map(|id| Id::from_uuid(*id)).collect();
        let found = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(some));
        bodies.extend(found.select((items::kind, items::body)).load::<(ItemKind, String)>(conn).await?);
    }
    Ok(bodies)
}

/// The ids of the items whose former states are still known.
pub async fn restorable(conn: &mut Conn, run_id: Id<Run>) -> Result<HashSet<Uuid>, DbError> {
    let found = run_findings::table.filter(run_findings::run_id.eq(run_id));
    let found = found.filter(run_findings::before_body.is_not_null());
    let found: Vec<Id<()>> = found.select(run_findings::item_id).load(conn).await?;
    Ok(found.into_iter().map(|id| id.uuid()).collect())
}

/// Gives items the places and references back that they had before a run confirmed them.
pub async fn restore_confirmed(conn: &mut Conn, run_id: Id<Run>, ids: &[Id<()>], now: Time) -> Result<(), DbError> {
    for some in ids.chunks(AT_ONCE) {
        let former = run_findings::table
            .filter(run_findings::run_id.eq(run_id))
            .filter(run_findings::item_id.eq(items::id))
            .select(run_findings::before_body)
            .single_value();
        let own = items::table.filter(items::id.eq_any(some.to_vec()));
        let columns = (items::body.eq(coalesce(former, items::body)), items::updated_at.eq(now));
        diesel::update(own).set(columns).execute(conn).await?;
    }
    Ok(())
}

/// Gives an item the content back that it had before a run refreshed it.
pub async fn restore_refreshed(
    conn: &mut Conn,
    run_id: Id<Run>,
    kind: ItemKind,
    id: Id<()>,
    now: Time,
) -> Result<(), DbError> {
    let former = run_findings::table.filter(run_findings::run_id.eq(run_id)).filter(run_findings::item_id.eq(id));
    let former: Option<Option<String>> = former.select(run_findings::before_body).first(conn).await.optional()?;
    let Some(former) = former.flatten() else { return Ok(()) };
    let mut item = item_of(kind, &former)?;
    item.changed_at(now);
    let facts = Facts::of(&item);
    let columns = (
        items::item_type.eq(facts.item_type),
        items::priority.eq(facts.priority),
        items::search_text.eq(facts.search_text),
        items::body.eq(serde_json::to_string(&item).map_err(|error| DbError::Broken(error.to_string()))?),
        items::content_key.eq(content_key(&item)),
        items::updated_at.eq(now),
    );
    kept(diesel::update(items::table.find(id)).set(columns)).execute(conn).await?;
    Ok(())
}

/// Deletes items of a project.
pub async fn remove(conn: &mut Conn, project_id: Id<ids::Project>, ids: &[Id<()>]) -> Result<(), DbError> {
    for some in ids.chunks(AT_ONCE) {
        let own = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(some.to_vec()));
        diesel::delete(own).execute(conn).await?;
    }
    Ok(())
}

/// Deletes the proposals of a run that nobody has decided, and opens those again that it has superseded, unless another one about
/// the same item is open.
pub async fn withdraw_proposals(conn: &mut Conn, project_id: Id<ids::Project>, run_id: Id<Run>) -> Result<(), DbError> {
    let own = proposals::table
        .filter(proposals::run_id.eq(run_id))
        .filter(proposals::import_id.is_null())
        .filter(proposals::status.eq_any([ProposalStatus::Open, ProposalStatus::Superseded]));
    diesel::delete(own).execute(conn).await?;
    let open = proposals::table
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::status.eq(ProposalStatus::Open))
        .select(proposals::item_id);
    let open: Vec<Id<()>> = open.load(conn).await?;
    let open: HashSet<Id<()>> = open.into_iter().collect();
    let noted = run_supersedes::table.filter(run_supersedes::run_id.eq(run_id)).select(run_supersedes::proposal_id);
    let superseded = proposals::table
        .filter(proposals::id.eq_any(noted))
        .filter(proposals::status.eq(ProposalStatus::Superseded))
        .select((proposals::id, proposals::item_id));
    let superseded: Vec<(Id<Proposal>, Id<()>)> = superseded.load(conn).await?;
    let again: Vec<Id<Proposal>> =
        superseded.into_iter().filter(|(_, item)| !open.contains(item)).map(|(id, _)| id).collect();
    for some in again.chunks(AT_ONCE) {
        let some = proposals::table.filter(proposals::id.eq_any(some.to_vec()));
        diesel::update(some).set(proposals::status.eq(ProposalStatus::Open)).execute(conn).await?;
    }
    Ok(())
}

/// Forgets what undoing the runs of a project needs that ended by a time.
pub async fn forget(conn: &mut Conn, project_id: Id<ids::Project>, then: Time) -> Result<(), DbError> {
    let over = run_results::table.inner_join(runs::table.on(runs::id.eq(run_results::run_id)));
    let over = over.filter(runs::project_id.eq(project_id)).filter(run_results::composed_at.le(then));
    let over: Vec<Id<Run>> = over.select(runs::id).load(conn).await?;
    let superseded = run_supersedes::table.filter(run_supersedes::run_id.eq_any(over.clone()));
    diesel::delete(superseded).execute(conn).await?;
    let noted = run_findings::table
        .filter(run_findings::project_id.eq(project_id))
        .filter(run_findings::before_body.is_not_null())
        .filter(run_findings::run_id.eq_any(over));
    diesel::update(noted).set(run_findings::before_body.eq(None::<String>)).execute(conn).await?;
    Ok(())
}
