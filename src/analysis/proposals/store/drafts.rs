//! Queries of the proposals that a run or an import drafts and publishes, and of those that earlier ones made.

use std::collections::HashSet;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{BoolExpressionMethods, ExpressionMethods, Insertable, OptionalExtension, QueryDsl};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{DRAFT, Row};
use crate::analysis::proposals::model::{FindingReason, Proposal, ProposalKind, ProposalStatus};
use crate::db::schema::{proposal_texts, proposals, run_supersedes};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, many};
use crate::projects::item_kind::ItemKind;

/// The drafts that a run made. An import to the dashboard of the run has its own.
macro_rules! drafts_of {
    ($run_id:expr) => {
        proposals::table
            .filter(proposals::run_id.eq($run_id))
            .filter(proposals::import_id.is_null())
            .filter(proposals::status.eq(DRAFT))
    };
}

#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = proposals)]
struct DraftRow {
    #[diesel(embed)]
    row: Row,
    status: &'static str,
}

#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = proposal_texts)]
struct TextRow {
    proposal_id: Id<Proposal>,
    before_body: Option<String>,
    after_body: Option<String>,
}

/// How many proposals are named in one statement.
const AT_ONCE: usize = 500;

/// Who drafts proposals.
#[derive(Debug, Clone, Copy)]
pub struct Drafter {
    pub project_id: Id<ids::Project>,
    pub run_id: Id<Run>,
    /// `None` if the run does.
    pub import_id: Option<Uuid>,
}

impl Drafter {
    #[must_use]
    pub const fn run(run: &Run) -> Self {
        Self { project_id: run.project_id, run_id: run.id, import_id: None }
    }
}

/// A proposal that is made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProposalDraft {
    pub id: Id<Proposal>,
    pub item_id: Uuid,
    pub kind: ProposalKind,
    pub text_key: String,
    pub content_key: String,
    pub target_version: Option<i64>,
    pub before: Option<String>,
    pub after: Option<String>,
    /// `None` for what an import proposes.
    pub reason: Option<FindingReason>,
}

/// Inserts a batch of drafts.
pub async fn insert_drafts(
    conn: &mut Conn,
    drafter: Drafter,
    target: ItemKind,
    drafts: Vec<ProposalDraft>,
    now: Time,
) -> Result<(), DbError> {
    let (mut rows, mut texts) = (Vec::with_capacity(drafts.len()), Vec::with_capacity(drafts.len()));
    for draft in drafts {
        let row = Row {
            id: draft.id,
            project_id: drafter.project_id,
            run_id: drafter.run_id,
            item_id: Id::from_uuid(draft.item_id),
            target_type: target,
            kind: draft.kind,
            text_key: draft.text_key,
            content_key: draft.content_key,
            target_version: draft.target_version,
            created_at: now,
            import_id: drafter.import_id.map(Id::from_uuid),
            reason: draft.reason,
        };
        rows.push(DraftRow { row, status: DRAFT });
        texts.push(TextRow { proposal_id: draft.id, before_body: draft.before, after_body: draft.after });
    }
    many!(conn, &rows, |some| diesel::insert_into(proposals::table).values(some));
    many!(conn, &texts, |some| diesel::insert_into(proposal_texts::table).values(some));
    Ok(())
}

/// Notes open proposals, which are superseded once the run is complete.
pub async fn note_superseded(conn: &mut Conn, run_id: Id<Run>, superseded: &[Uuid]) -> Result<(), DbError> {
    let row = |id: &Uuid| SupersededRow { run_id, proposal_id: Id::from_uuid(*id) };
    let rows: Vec<SupersededRow> = superseded.iter().map(row).collect();
    many!(conn, &rows, |some| diesel::insert_into(run_supersedes::table).values(some).on_conflict_do_nothing());
    Ok(())
}

#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = run_supersedes)]
struct SupersededRow {
    run_id: Id<Run>,
    proposal_id: Id<Proposal>,
}

/// Publishes the drafts of a run, in a fixed number of statements: it supersedes what it noted, which stays noted for as long as
/// the run can be undone, and opens its own.
pub async fn publish(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    let becomes = |status: ProposalStatus| proposals::status.eq(status);
    let noted = run_supersedes::table.filter(run_supersedes::run_id.eq(run_id));
    let open = proposals::table
        .filter(proposals::id.eq_any(noted.select(run_supersedes::proposal_id)))
        .filter(proposals::status.eq(ProposalStatus::Open));
    diesel::update(open).set(becomes(ProposalStatus::Superseded)).execute(conn).await?;
    diesel::update(drafts_of!(run_id)).set(becomes(ProposalStatus::Open)).execute(conn).await?;
    Ok(())
}

/// Whether a run has drafts.
pub async fn has_drafts(conn: &mut Conn, run_id: Id<Run>) -> Result<bool, DbError> {
    let first: Option<Id<Proposal>> = drafts_of!(run_id).select(proposals::id).first(conn).await.optional()?;
    Ok(first.is_some())
}

/// Deletes a page of the drafts of a run, and what they would have superseded stays; returns how many.
pub async fn forget_page(conn: &mut Conn, run_id: Id<Run>, most: i64) -> Result<usize, DbError> {
    diesel::delete(run_supersedes::table.filter(run_supersedes::run_id.eq(run_id))).execute(conn).await?;
    let page: Vec<Id<Proposal>> = drafts_of!(run_id).select(proposals::id).limit(most).load(conn).await?;
    let deleted = diesel::delete(proposals::table.filter(proposals::id.eq_any(page))).execute(conn).await?;
    Ok(deleted)
}

/// Deletes a page of a project's superseded proposals, and of drafts that a failed import left, that were made by then; returns
/// how many.
pub async fn prune_page(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    then: Time,
    most: i64,
) -> Result<usize, DbError> {
    let is_superseded = proposals::status.eq(ProposalStatus::Superseded);
    let is_left = proposals::status.eq(DRAFT).and(proposals::import_id.is_not_null());
    let former = proposals::table
        .filter(proposals::project_id.eq(project_id))
        .filter(is_superseded.or(is_left))
        .filter(proposals::created_at.le(then));
    let page: Vec<Id<Proposal>> = former.select(proposals::id).limit(most).load(conn).await?;
    let deleted = diesel::delete(proposals::table.filter(proposals::id.eq_any(page))).execute(conn).await?;
    Ok(deleted)
}

/// Deletes a page of the drafts of an import; returns how many.
pub async fn forget_page_of_import(conn: &mut Conn, import_id: Uuid, most: i64) -> Result<usize, DbError> {
    let own = proposals::table
        .filter(proposals::import_id.eq(Id::<()>::from_uuid(import_id)))
        .filter(proposals::status.eq(DRAFT));
    let page: Vec<Id<Proposal>> = own.select(proposals::id).limit(most).load(conn).await?;
    Ok(diesel::delete(proposals::table.filter(proposals::id.eq_any(page))).execute(conn).await?)
}

/// What is compared of two proposals of imports: the target, the item, the words, and whether it is NEW.
type ProposedRow = (ItemKind, Id<()>, String, ProposalKind);

/// Publishes the drafts of an import: they become OPEN, and what earlier imports propose for the same items, or as NEW with the
/// same words, is superseded. The caller holds the lock of the project's row.
pub async fn publish_import(conn: &mut Conn, project_id: Id<ids::Project>, import_id: Uuid) -> Result<(), DbError> {
    let import_id: Id<()> = Id::from_uuid(import_id);
    let own = || proposals::table.filter(proposals::import_id.eq(import_id)).filter(proposals::status.eq(DRAFT));
    let proposed = (proposals::target_type, proposals::item_id, proposals::text_key, proposals::kind);
    let drafts: Vec<ProposedRow> = own().select(proposed).load(conn).await?;
    let open = proposals::table
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::import_id.is_not_null())
        .filter(proposals::status.eq(ProposalStatus::Open));
    let open: Vec<(Id<Proposal>, ProposedRow)> = open.select((proposals::id, proposed)).load(conn).await?;
    let items: HashSet<Uuid> = drafts.iter().map(|(_, item, _, _)| item.uuid()).collect();
    let texts: HashSet<(ItemKind, &str)> = drafts
        .iter()
        .filter(|(.., kind)| *kind == ProposalKind::New)
        .map(|(target, _, text, _)| (*target, text.as_str()))
        .collect();
    let is_superseded = |(target, item, text, kind): &ProposedRow| match kind {
        ProposalKind::New => texts.contains(&(*target, text.as_str())),
        ProposalKind::Changed | ProposalKind::Gone => items.contains(&item.uuid()),
    };
    let superseded: Vec<Id<Proposal>> =
        open.iter().filter(|(_, proposed)| is_superseded(proposed)).map(|(id, _)| *id).collect();
    for some in superseded.chunks(AT_ONCE) {
        let some = proposals::table.filter(proposals::id.eq_any(some.to_vec()));
        diesel::update(some).set(proposals::status.eq(ProposalStatus::Superseded)).execute(conn).await?;
    }
    diesel::update(own()).set(proposals::status.eq(ProposalStatus::Open)).execute(conn).await?;
    Ok(())
}

/// A proposal of a run, without its texts.
#[derive(Debug, Clone)]
pub struct PastProposal {
    pub id: Id<Proposal>,
    pub item_id: Uuid,
    pub kind: ProposalKind,
    pub status: ProposalStatus,
    pub reason: Option<FindingReason>,
    pub text_key: String,
    pub content_key: String,
}

/// Returns some of the open, accepted and dismissed proposals that runs made for one kind of a project's items: those with an id after
/// `after`, in the order of their ids.
pub async fn past(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    target: ItemKind,
    after: Id<Proposal>,
    most: i64,
) -> Result<Vec<PastProposal>, DbError> {
    let wanted = [ProposalStatus::Open, ProposalStatus::Accepted, ProposalStatus::Dismissed];
    let found = proposals::table
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::id.gt(after))
        .filter(proposals::target_type.eq(target))
        .filter(proposals::import_id.is_null())
        .filter(proposals::status.eq_any(wanted));
    let rows: Vec<(Row, ProposalStatus)> =
        found.order(proposals::id.asc()).limit(most).select((Row::columns(), proposals::status)).load(conn).await?;
    let past = |(row, status): (Row, ProposalStatus)| PastProposal {
        id: row.id,
        item_id: row.item_id.uuid(),
        kind: row.kind,
        status,
        reason: row.reason,
        text_key: row.text_key,
        content_key: row.content_key,
    };
    Ok(rows.into_iter().map(past).collect())
}

/// Returns the items as they were before some proposals, as bodies.
pub async fn before_bodies(
    conn: &mut Conn,
    ids: Vec<Id<Proposal>>,
) -> Result<Vec<(Id<Proposal>, Option<String>)>, DbError> {
    let found = proposal_texts::table.filter(proposal_texts::proposal_id.eq_any(ids));
    Ok(found.select((proposal_texts::proposal_id, proposal_texts::before_body)).load(conn).await?)
}

/// Returns the items that some proposals would make of their targets, as bodies.
pub async fn after_bodies(
    conn: &mut Conn,
    ids: Vec<Id<Proposal>>,
) -> Result<Vec<(Id<Proposal>, Option<String>)>, DbError> {
    let found = proposal_texts::table.filter(proposal_texts::proposal_id.eq_any(ids));
    Ok(found.select((proposal_texts::proposal_id, proposal_texts::after_body)).load(conn).await?)
}
