//! Queries of the proposals that quote a recording.

use actors::ids::{self, Id};
use diesel::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, QueryDsl, TextExpressionMethods};
use uuid::Uuid;

use crate::analysis::proposals::model::Proposal;
use crate::db::schema::{proposal_texts, proposals};
use crate::db::{Conn, DbError, RunQueryDsl};
use crate::projects::item_kind::ItemKind;

/// The id of a proposal, its target, and its texts.
type QuotingRow = (Id<Proposal>, ItemKind, Option<String>, Option<String>);

/// Returns some of a project's proposals that quote a recording: those with an id after `after`, in the order of their ids.
/// Drafts are among them.
pub async fn quoting(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Uuid,
    after: Id<Proposal>,
    most: i64,
) -> Result<Vec<QuotingProposal>, DbError> {
    let pattern = format!("%{recording_id}%");
    let quotes = proposal_texts::before_body.like(pattern.clone()).or(proposal_texts::after_body.like(pattern));
    let found = proposals::table
        .inner_join(proposal_texts::table.on(proposal_texts::proposal_id.eq(proposals::id)))
        .filter(proposals::project_id.eq(project_id))
        .filter(proposals::id.gt(after))
        .filter(quotes)
        .order(proposals::id.asc())
        .limit(most)
        .select((proposals::id, proposals::target_type, proposal_texts::before_body, proposal_texts::after_body));
    let found: Vec<QuotingRow> = found.load(conn).await?;
    let quoting = |(id, kind, before, after): QuotingRow| QuotingProposal { id, kind, before, after };
    Ok(found.into_iter().map(quoting).collect())
}

/// Replaces the texts of a proposal. Returns false if somebody else changed them.
pub async fn replace(conn: &mut Conn, was: QuotingProposal, is: QuotingProposal) -> Result<bool, DbError> {
    let unchanged = proposal_texts::table
        .find(was.id)
        .filter(proposal_texts::before_body.is_null().or(proposal_texts::before_body.eq(was.before)))
        .filter(proposal_texts::after_body.is_null().or(proposal_texts::after_body.eq(was.after)));
    let texts = (proposal_texts::before_body.eq(is.before), proposal_texts::after_body.eq(is.after));
    Ok(diesel::update(unchanged).set(texts).execute(conn).await? == 1)
}

/// The texts of a proposal that quotes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotingProposal {
    pub id: Id<Proposal>,
    pub kind: ItemKind,
    pub before: Option<String>,
    pub after: Option<String>,
}

pub async fn delete(conn: &mut Conn, id: Id<Proposal>) -> Result<(), DbError> {
    diesel::delete(proposals::table.find(id)).execute(conn).await?;
    Ok(())
}
