//! Queries of proposals: their drafts, their publication with the run that made them, and the decisions of people.

pub mod drafts;
pub mod quoting;

use std::collections::HashSet;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, JoinOnDsl, NullableExpressionMethods,
    OptionalExtension, QueryDsl, Queryable, Selectable,
};
use uuid::Uuid;

use super::bodies::Filter;
use super::model::{FindingReason, Proposal, ProposalKind, ProposalStatus};
use crate::analysis::items::project_item::ReferenceKind;
use crate::analysis::items::store::item_of;
use crate::db::schema::{items, proposal_links, proposal_texts, proposals};
use crate::db::{Columns, Conn, DbError, RunQueryDsl, coalesce, is_wanted, octet_length, page_by_bytes};
use crate::http::budget::Share;
use crate::http::envelope::List;
use crate::http::list::Listing;
use crate::http::page::PageQuery;
use crate::projects::item_kind::ItemKind;

/// The status of a proposal whose run is not complete: nobody sees it.
const DRAFT: &str = "DRAFT";

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = proposals)]
struct Row {
    id: Id<Proposal>,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
    item_id: Id<()>,
    target_type: ItemKind,
    kind: ProposalKind,
    text_key: String,
    content_key: String,
    target_version: Option<i64>,
    created_at: Time,
    import_id: Option<Id<()>>,
    reason: Option<FindingReason>,
}

/// A row of one whose run is complete, with its status and the texts before and after.
type RowWithTexts = (Row, ProposalStatus, Option<String>, Option<String>);

/// A proposal as it is stored, with its texts: the bodies of items.
#[derive(Debug, Clone)]
pub struct StoredProposal {
    pub id: Id<Proposal>,
    pub run_id: Id<Run>,
    pub import_id: Option<Uuid>,
    pub item_id: Id<()>,
    pub target: ItemKind,
    pub kind: ProposalKind,
    pub status: ProposalStatus,
    pub text_key: String,
    pub content_key: String,
    /// The version of the item for which it was made; `None` for a NEW one.
    pub target_version: Option<i64>,
    pub created_at: Time,
    pub before: Option<String>,
    pub after: Option<String>,
    pub reason: Option<FindingReason>,
}

impl StoredProposal {
    fn of((row, status, before, after): RowWithTexts) -> Self {
        Self {
            id: row.id,
            run_id: row.run_id,
            import_id: row.import_id.map(|id| id.uuid()),
            item_id: row.item_id,
            target: row.target_type,
            kind: row.kind,
            status,
            text_key: row.text_key,
            content_key: row.content_key,
            target_version: row.target_version,
            created_at: row.created_at,
            before,
            after,
            reason: row.reason,
        }
    }

    /// The proposal as clients get it.
    ///
    /// # Errors
    /// A stored body is no item.
    pub fn shown(self) -> Result<Proposal, DbError> {
        let item = |body: Option<String>| body.map(|body| item_of(self.target, &body)).transpose();
        let is_item = self.kind != ProposalKind::New || self.status == ProposalStatus::Accepted;
        Ok(Proposal {
            id: self.id,
            run_id: self.run_id,
            import_id: self.import_id,
            target_type: self.target,
            target_id: is_item.then(|| self.item_id.uuid()),
            kind: self.kind,
            before: item(self.before)?,
            after: item(self.after)?,
            status: self.status,
            created_at: self.created_at,
            reason: self.reason,
        })
    }
}

/// A reference of an item to the requirement that a proposal would add.
#[derive(Debug, Clone, PartialEq, Eq, Insertable)]
#[diesel(table_name = proposal_links)]
struct ReferenceRow {
    proposal_id: Id<Proposal>,
    from_id: Id<()>,
    reference: ReferenceKind,
}

/// Lists a project's proposals, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
    share: &mut Share,
) -> Result<List<StoredProposal>, DbError> {
    let run_id = filter.run_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil()));
    let import_id = filter.import_id.unwrap_or_else(|| Id::from_uuid(Uuid::nil()));
    let of_import =
        filter.import_id.is_none().into_sql::<Bool>().or(proposals::import_id.assume_not_null().eq(import_id));
    let of_run = filter.run_id.is_none().into_sql::<Bool>().or(proposals::run_id.eq(run_id));
    let listed = proposals::table
        .inner_join(proposal_texts::table.on(proposal_texts::proposal_id.eq(proposals::id)))
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::status.ne(DRAFT))
        .filter(is_wanted(proposals::status, filter.status))
        .filter(is_wanted(proposals::kind, filter.kind))
        .filter(is_wanted(proposals::target_type, filter.target))
        .filter(of_run)
        .filter(of_import);
    let columns = (Row::columns(), proposals::status, proposal_texts::before_body, proposal_texts::after_body);
    let bytes = octet_length(coalesce(proposal_texts::before_body, ""))
        + octet_length(coalesce(proposal_texts::after_body, ""));
    let (rows, more, total): (Vec<RowWithTexts>, _, _) =
        page_by_bytes!(conn, share, page, listed, proposals::id, bytes, columns);
    Ok(PageQuery::ended(rows, more, total, |(row, ..)| row.id.uuid()).map(StoredProposal::of))
}

/// Whether a project has a proposal of this id that people see.
pub async fn exists(conn: &mut Conn, project_id: Id<ids::Project>, id: Id<Proposal>) -> Result<bool, DbError> {
    let own = proposals::table.find(id).filter(proposals::project_id.eq(project_id));
    Ok(own.filter(proposals::status.ne(DRAFT)).count().get_result::<i64>(conn).await? > 0)
}

/// Returns a proposal for a transaction that goes on to decide it: locks the row, so that a second transaction waits and sees
/// what the first one wrote.
pub async fn find_to_decide(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    id: Id<Proposal>,
) -> Result<Option<StoredProposal>, DbError> {
    // Changes nothing but locks the row, in a statement that both databases support.
    diesel::update(proposals::table.find(id)).set(proposals::status.eq(proposals::status)).execute(conn).await?;
    let found = proposals::table
        .inner_join(proposal_texts::table.on(proposal_texts::proposal_id.eq(proposals::id)))
        .filter(proposals::id.eq(id))
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::status.ne(DRAFT));
    let columns = (Row::columns(), proposals::status, proposal_texts::before_body, proposal_texts::after_body);
    Ok(found.select(columns).first(conn).await.optional()?.map(StoredProposal::of))
}

/// Saves the decision about a proposal, with its texts as they are then.
pub async fn decide(conn: &mut Conn, decided: &StoredProposal) -> Result<(), DbError> {
    let own = diesel::update(proposals::table.find(decided.id));
    own.set(proposals::status.eq(decided.status)).execute(conn).await?;
    let texts =
        (proposal_texts::before_body.eq(decided.before.clone()), proposal_texts::after_body.eq(decided.after.clone()));
    diesel::update(proposal_texts::table.find(decided.id)).set(texts).execute(conn).await?;
    Ok(())
}

/// Stores references of an item to requirements that are proposed; those to others are left out.
pub async fn link(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    from: Uuid,
    references: Vec<(ReferenceKind, Uuid)>,
) -> Result<(), DbError> {
    let still_proposed = [ProposalStatus::Open, ProposalStatus::Superseded];
    for (reference, to) in references {
        let newest = proposals::table
            .filter(proposals::project_id.eq(project_id))
            .filter(proposals::item_id.eq(Id::<()>::from_uuid(to)))
            .filter(proposals::status.eq_any(still_proposed))
            .order(proposals::id.desc());
        let newest: Option<Id<Proposal>> = newest.select(proposals::id).first(conn).await.optional()?;
        let Some(proposal) = newest else { continue };
        let link = ReferenceRow { proposal_id: proposal, from_id: Id::from_uuid(from), reference };
        diesel::insert_into(proposal_links::table).values(&link).on_conflict_do_nothing().execute(conn).await?;
    }
    Ok(())
}

/// Returns what refers to an item that is added now, and how: at most `most`.
pub async fn references_to(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    item_id: Id<()>,
    most: i64,
) -> Result<Vec<(Id<()>, ReferenceKind)>, DbError> {
    let links = proposal_links::table
        .inner_join(proposals::table.on(proposals::id.eq(proposal_links::proposal_id)))
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::item_id.eq(item_id))
        .order((proposal_links::from_id.asc(), proposal_links::reference.asc()))
        .select((proposal_links::from_id, proposal_links::reference))
        .distinct()
        .limit(most);
    Ok(links.load(conn).await?)
}

/// Returns which of some ids are items of a project.
pub async fn existing_items(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    ids: Vec<Uuid>,
) -> Result<HashSet<Uuid>, DbError> {
    let ids: Vec<Id<()>> = ids.into_iter().map(Id::from_uuid).collect();
    let found = items::table.filter(items::project_id.eq(project_id)).filter(items::id.eq_any(ids));
    let found: Vec<Id<()>> = found.select(items::id).load(conn).await?;
    Ok(found.into_iter().map(|id| id.uuid()).collect())
}

#[cfg(test)]
mod tests;
