//! Queries of the approval trail. Events are only ever appended; the name of a deleted account is all that is ever erased.

use std::collections::HashMap;

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, OptionalExtension, QueryDsl, Queryable, Selectable,
};
use uuid::Uuid;

use super::difference::FieldChange;
use super::model::{ApprovalEvent, Decider, ItemDecision, TrailFilter};
use super::seal::{GENESIS, SealedEvent, StoredEvent, hash, name_digest};
use crate::analysis::items::model::WorkflowStatus;
use crate::db::schema::{approval_events, approval_trails};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, is_wanted, many, octet_length, page_by_bytes};
use crate::http::budget::Share;
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::http::page::PageQuery;
use crate::projects::item_kind::ItemKind;

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = approval_events)]
struct Row {
    id: Id<()>,
    project_id: Id<ids::Project>,
    number: i64,
    /// As text, like the action: what was changed in the table is found by the seals, not refused while it is read.
    target_type: String,
    target_id: Id<()>,
    action: String,
    actor_id: Id<User>,
    actor_name: Option<String>,
    actor_salt: String,
    sealed: String,
    hash: String,
}

impl From<Row> for StoredEvent {
    fn from(row: Row) -> Self {
        Self {
            id: row.id.uuid(),
            project_id: row.project_id,
            number: row.number,
            target_type: row.target_type,
            target_id: row.target_id.uuid(),
            action: row.action,
            actor_id: row.actor_id,
            actor_name: row.actor_name,
            actor_salt: row.actor_salt,
            sealed: row.sealed,
            hash: row.hash,
        }
    }
}

/// A decision about an item, before it has its place in the trail.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub target_type: ItemKind,
    pub target_id: Uuid,
    pub target_code: String,
    pub from: Option<(WorkflowStatus, i64)>,
    pub to: (WorkflowStatus, i64),
    pub diff: Vec<FieldChange>,
    pub decision: ItemDecision,
}

/// The state of a trail: how many events it has, and the hash of the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailHead {
    pub last: i64,
    pub hash: String,
}

/// Appends events to a project's trail, in their order. Locks its head until COMMIT: call it as late as possible.
///
/// # Errors
/// Only database errors.
pub async fn append(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    decider: &Decider,
    now: Time,
    events: Vec<NewEvent>,
) -> Result<(), DbError> {
    if events.is_empty() {
        return Ok(());
    }
    let first =
        (approval_trails::project_id.eq(project_id), approval_trails::last.eq(0), approval_trails::head.eq(GENESIS));
    let (mut last, mut head): (i64, String) = diesel::insert_into(approval_trails::table)
        .values(first)
        .on_conflict(approval_trails::project_id)
        .do_update()
        // Changes nothing but locks the row.
        .set(approval_trails::last.eq(approval_trails::last))
        .returning((approval_trails::last, approval_trails::head))
        .get_result(conn)
        .await?;
    let salt = hex::encode(Id::<()>::generate().uuid().as_bytes()) + &hex::encode(rand::random::<[u8; 16]>());
    let actor_name_digest = name_digest(&salt, &decider.name);
    let mut rows = Vec::with_capacity(events.len());
    for event in events {
        last += 1;
        let sealed = sealed(project_id, last, decider.id, actor_name_digest.clone(), now, event);
        let text = serde_json::to_string(&sealed).map_err(|error| DbError::Broken(error.to_string()))?;
        head = hash(&head, &text);
        rows.push(Row {
            id: Id::from_uuid(sealed.id),
            project_id,
            number: last,
            target_type: sealed.target_type.to_string(),
            target_id: Id::from_uuid(sealed.target_id),
            action: sealed.action.to_string(),
            actor_id: decider.id,
            actor_name: Some(decider.name.clone()),
            actor_salt: salt.clone(),
            sealed: text,
            hash: head.clone(),
        });
    }
    many!(conn, &rows, |some| diesel::insert_into(approval_events::table).values(some));
    diesel::update(approval_trails::table.find(project_id))
        .set((approval_trails::last.eq(last), approval_trails::head.eq(head)))
        .execute(conn)
        .await?;
    Ok(())
}

fn sealed(
    project_id: Id<ids::Project>,
    number: i64,
    actor_id: Id<User>,
    actor_name_digest: String,
    at: Time,
    event: NewEvent,
) -> SealedEvent {
    let NewEvent { target_type, target_id, target_code, from, to, diff, decision } = event;
    SealedEvent {
        project_id,
        number,
        id: Id::<()>::generate().uuid(),
        target_type,
        target_id,
        target_code,
        action: decision.action,
        from_status: from.map(|(status, _)| status),
        to_status: to.0,
        from_version: from.map(|(_, version)| version),
        to_version: to.1,
        diff,
        comment: decision.comment,
        reason_code: decision.reason_code,
        deferred_until: decision.deferred_until,
        signature: decision.signature,
        feedback_ids: decision.feedback_ids,
        caused_by: decision.caused_by,
        actor_id,
        actor_name_digest,
        at,
    }
}

/// The head of a project's trail; that of an empty one if there is none.
pub async fn head(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<TrailHead, DbError> {
    let found = approval_trails::table.find(project_id).select((approval_trails::last, approval_trails::head));
    let found: Option<(i64, String)> = found.first(conn).await.optional()?;
    let (last, hash) = found.unwrap_or_else(|| (0, GENESIS.to_owned()));
    Ok(TrailHead { last, hash })
}

/// The projects that have a trail, in the order of their ids.
pub async fn projects(conn: &mut Conn) -> Result<Vec<Id<ids::Project>>, DbError> {
    Ok(approval_trails::table
        .order(approval_trails::project_id.asc())
        .select(approval_trails::project_id)
        .load(conn)
        .await?)
}

/// Returns some events of a project with numbers above `after`, in the order of their numbers.
pub async fn events_after(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    after: i64,
    most: i64,
) -> Result<Vec<StoredEvent>, DbError> {
    let later = approval_events::table
        .filter(approval_events::project_id.eq(project_id))
        .filter(approval_events::number.gt(after));
    let rows: Vec<Row> =
        later.order(approval_events::number.asc()).limit(most).select(Row::columns()).load(conn).await?;
    Ok(rows.into_iter().map(StoredEvent::from).collect())
}

/// Lists a project's events, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<TrailFilter>,
    share: &mut Share,
) -> Result<List<ApprovalEvent>, DbError> {
    let target_id = filter.target_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil()));
    let actor_id = filter.actor_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil()));
    let listed = approval_events::table
        .filter(approval_events::project_id.eq(project_id))
        .filter(is_wanted(approval_events::target_type, filter.target))
        .filter(is_wanted(approval_events::action, filter.action))
        .filter(filter.target_id.is_none().into_sql::<Bool>().or(approval_events::target_id.eq(target_id)))
        .filter(filter.actor_id.is_none().into_sql::<Bool>().or(approval_events::actor_id.eq(actor_id)));
    let bytes = octet_length(approval_events::sealed);
    let (rows, more, total): (Vec<Row>, _, _) =
        page_by_bytes!(conn, share, page, listed, approval_events::id, bytes, Row::columns());
    let before: Vec<i64> = rows.iter().map(|row| row.number - 1).collect();
    let previous: Vec<(i64, String)> = approval_events::table
        .filter(approval_events::project_id.eq(project_id))
        .filter(approval_events::number.eq_any(before))
        .select((approval_events::number, approval_events::hash))
        .load(conn)
        .await?;
    let previous: HashMap<i64, String> = previous.into_iter().collect();
    PageQuery::ended(rows, more, total, |row| row.id.uuid()).try_map(|row| {
        let hash = previous.get(&(row.number - 1)).cloned().unwrap_or_else(|| GENESIS.to_owned());
        StoredEvent::from(row).shown(hash).map_err(|error| DbError::Broken(format!("an approval event: {error}")))
    })
}

/// Erases the name of a deleted account from at most `most` events. Returns how many there were.
pub async fn erase_name(conn: &mut Conn, user_id: Id<User>, most: i64) -> Result<usize, DbError> {
    let named = approval_events::table
        .filter(approval_events::actor_id.eq(user_id))
        .filter(approval_events::actor_name.is_not_null());
    let ids: Vec<Id<()>> =
        named.order(approval_events::id.asc()).limit(most).select(approval_events::id).load(conn).await?;
    let erased = (approval_events::actor_name.eq(None::<String>), approval_events::actor_salt.eq(""));
    let these = approval_events::table.filter(approval_events::id.eq_any(ids));
    Ok(diesel::update(these).set(erased).execute(conn).await?)
}
