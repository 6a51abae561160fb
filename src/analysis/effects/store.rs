//! Queries of what runs did to items.

use actors::ids::Id;
use actors::run::Run;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use super::FindingEffect;
use crate::analysis::proposals::model::{FindingReason, Proposal};
use crate::db::schema::{run_findings, run_results};
use crate::db::{Conn, DbError, RunQueryDsl};
use crate::projects::item_kind::ItemKind;

/// A finding as it is stored: what it is about, what it does, why, and its proposal.
pub type StoredFinding = (ItemKind, Id<()>, i64, FindingEffect, Option<FindingReason>, Option<Id<Proposal>>);

/// The findings of a run, in the order of their codes.
pub async fn findings_of(conn: &mut Conn, run_id: Id<Run>) -> Result<Vec<StoredFinding>, DbError> {
    let Some(attempt) = published_attempt(conn, run_id).await? else { return Ok(Vec::new()) };
    let found = run_findings::table.filter(run_findings::run_id.eq(run_id)).filter(run_findings::attempt.eq(attempt));
    let found = found.order((run_findings::kind.asc(), run_findings::number.asc()));
    let columns = (
        run_findings::kind,
        run_findings::item_id,
        run_findings::number,
        run_findings::effect,
        run_findings::reason,
        run_findings::proposal_id,
    );
    Ok(found.select(columns).load(conn).await?)
}

/// The attempt of which the result of a run is; 0 for a result of before attempts were noted. `None` if it has no result.
pub async fn published_attempt(conn: &mut Conn, run_id: Id<Run>) -> Result<Option<i64>, DbError> {
    let found = run_results::table.find(run_id).select(run_results::attempt);
    let found: Option<Option<i64>> = found.first(conn).await.optional()?;
    Ok(found.map(Option::unwrap_or_default))
}
