//! Queries of the proposals that a run drafts and publishes, and of those that earlier runs made.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, QueryDsl};
use uuid::Uuid;

use super::{DRAFT, ReferenceDraft, Row};
use crate::analysis::proposals::model::{Proposal, ProposalKind, ProposalStatus, ProposalTarget};
use crate::db::schema::{items, proposal_links, proposal_texts, proposals};
use crate::db::{At, Columns, Conn, DbError, Key, RunQueryDsl, many};

#[derive(Debug, Clone, Insertable)]
#[diesel(table_name = proposal_texts)]
struct TextRow {
    proposal_id: Key<Proposal>,
    before_body: Option<String>,
    after_body: Option<String>,
}

/// A proposal that a run makes.
#[derive(Debug, Clone)]
pub struct ProposalDraft {
    pub id: Id<Proposal>,
    pub item_id: Uuid,
    pub kind: ProposalKind,
    pub text_key: String,
    pub content_key: String,
    pub target_version: Option<i64>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Inserts a batch of drafts.
pub async fn insert_drafts(
    conn: &mut Conn,
    run: &Run,
    target: ProposalTarget,
    drafts: Vec<ProposalDraft>,
    now: Time,
) -> Result<(), DbError> {
    let (mut rows, mut texts) = (Vec::with_capacity(drafts.len()), Vec::with_capacity(drafts.len()));
    for draft in drafts {
        rows.push(Row {
            id: Key(draft.id),
            project_id: Key(run.project_id),
            run_id: Key(run.id),
            item_id: Key(Id::from_uuid(draft.item_id)),
            target_type: target.into_str().to_owned(),
            kind: draft.kind.into_str().to_owned(),
            status: DRAFT.to_owned(),
            text_key: draft.text_key,
            content_key: draft.content_key,
            target_version: draft.target_version,
            created_at: At(now),
        });
        texts.push(TextRow { proposal_id: Key(draft.id), before_body: draft.before, after_body: draft.after });
    }
    many!(conn, &rows, |some| diesel::insert_into(proposals::table).values(some));
    many!(conn, &texts, |some| diesel::insert_into(proposal_texts::table).values(some));
    Ok(())
}

/// Inserts a batch of references, after the proposals that they refer to.
pub async fn insert_references(conn: &mut Conn, references: &[ReferenceDraft]) -> Result<(), DbError> {
    many!(conn, references, |some| diesel::insert_into(proposal_links::table).values(some).on_conflict_do_nothing());
    Ok(())
}

/// Marks open proposals, which are superseded once the run is complete.
pub async fn mark_superseded(conn: &mut Conn, run_id: Id<Run>, superseded: &[Uuid]) -> Result<(), DbError> {
    let superseded: Vec<Key<Proposal>> = superseded.iter().map(|id| Key(Id::from_uuid(*id))).collect();
    let these = proposals::table.filter(proposals::id.eq_any(superseded));
    diesel::update(these).set(proposals::superseded_by.eq(Some(Key(run_id)))).execute(conn).await?;
    Ok(())
}

/// Publishes the drafts of a run, in a fixed number of statements: it supersedes what it marked, and opens its own, but those
/// that would add an item which was added meanwhile.
pub async fn publish(conn: &mut Conn, project_id: Id<ids::Project>, run_id: Id<Run>, now: Time) -> Result<(), DbError> {
    let superseded =
        (proposals::status.eq(ProposalStatus::Superseded.into_str()), proposals::superseded_at.eq(Some(At(now))));
    let marked = proposals::table
        .filter(proposals::superseded_by.eq(Some(Key(run_id))))
        .filter(proposals::status.eq(ProposalStatus::Open.into_str()));
    diesel::update(marked).set(superseded.clone()).execute(conn).await?;
    let added = items::table.filter(items::project_id.eq(Key(project_id))).select(items::id);
    let outdated = proposals::table
        .filter(proposals::run_id.eq(Key(run_id)))
        .filter(proposals::status.eq(DRAFT))
        .filter(proposals::kind.eq(ProposalKind::New.into_str()))
        .filter(proposals::item_id.eq_any(added));
    diesel::update(outdated).set(superseded).execute(conn).await?;
    let own = proposals::table.filter(proposals::run_id.eq(Key(run_id))).filter(proposals::status.eq(DRAFT));
    diesel::update(own).set(proposals::status.eq(ProposalStatus::Open.into_str())).execute(conn).await?;
    Ok(())
}

/// Deletes the drafts of a run that are not published, and what they would have superseded stays.
pub async fn forget_drafts(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    let own = proposals::table.filter(proposals::run_id.eq(Key(run_id))).filter(proposals::status.eq(DRAFT));
    diesel::delete(own).execute(conn).await?;
    let marked = proposals::table
        .filter(proposals::superseded_by.eq(Some(Key(run_id))))
        .filter(proposals::status.eq(ProposalStatus::Open.into_str()));
    diesel::update(marked).set(proposals::superseded_by.eq(None::<Key<Run>>)).execute(conn).await?;
    Ok(())
}

/// A proposal that nobody accepted, without its texts.
#[derive(Debug, Clone)]
pub struct PastProposal {
    pub id: Id<Proposal>,
    pub item_id: Uuid,
    pub kind: ProposalKind,
    pub is_open: bool,
    pub text_key: String,
    pub content_key: String,
}

/// Returns some of a project's open and dismissed proposals for one kind of items: those with an id after `after`, in the
/// order of their ids.
pub async fn undecided_or_dismissed(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    target: ProposalTarget,
    after: Id<Proposal>,
    most: i64,
) -> Result<Vec<PastProposal>, DbError> {
    let wanted = [ProposalStatus::Open.into_str(), ProposalStatus::Dismissed.into_str()];
    let found = proposals::table
        .filter(proposals::project_id.eq(Key(project_id)))
        .filter(proposals::id.gt(Key(after)))
        .filter(proposals::target_type.eq(target.into_str()))
        .filter(proposals::status.eq_any(wanted));
    let rows: Vec<Row> = found.order(proposals::id.asc()).limit(most).select(Row::columns()).load(conn).await?;
    let past = |row: Row| {
        let kind = row.kind.parse().map_err(|_| DbError::Broken(format!("the proposal {:?} has no kind", row.id)))?;
        Ok(PastProposal {
            id: row.id.0,
            item_id: row.item_id.0.uuid(),
            kind,
            is_open: row.status == ProposalStatus::Open.into_str(),
            text_key: row.text_key,
            content_key: row.content_key,
        })
    };
    rows.into_iter().map(past).collect()
}

/// Returns the items that some proposals would make of their targets, as bodies.
pub async fn after_bodies(
    conn: &mut Conn,
    ids: Vec<Id<Proposal>>,
) -> Result<Vec<(Id<Proposal>, Option<String>)>, DbError> {
    let ids: Vec<Key<Proposal>> = ids.into_iter().map(Key).collect();
    let found = proposal_texts::table.filter(proposal_texts::proposal_id.eq_any(ids));
    let found: Vec<(Key<Proposal>, Option<String>)> =
        found.select((proposal_texts::proposal_id, proposal_texts::after_body)).load(conn).await?;
    Ok(found.into_iter().map(|(id, body)| (id.0, body)).collect())
}
