//! Operations on pairs, one function each.

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use pipeline::engine::requirement_key;

use super::bodies::{Filter, PairToSettle, SettleItemPairs};
use super::comparing::pairs_changed;
use super::links::follow_pairs;
use super::merging::{merge, take_back};
use super::model::{ItemPair, MovedParts, PairKind, PairSettlement, PairStatus, SettledPair, SettledPairs};
use super::store::{self, PairWithItems, StoredPair};
use crate::access::principal::Caller;
use crate::analysis::changes::ItemChanges;
use crate::analysis::items::comparing;
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::change::find_to_change;
use crate::analysis::items::store::item_of;
use crate::analysis::state::Analysis;
use crate::analysis::trail::decider;
use crate::analysis::trail::model::{ApprovalAction, ItemDecision, RejectionReason};
use crate::db::{Conn, DbError};
use crate::http::answer::CountedAnswer;
use crate::http::budget::Share;
use crate::http::code::Code;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::http::patch::Patch;
use crate::projects;
use crate::projects::item_kind::ItemKind;

/// Lists a project's pairs, newest first.
///
/// # Errors
/// Only database errors, 503 if the client holds too many bytes already, or 500 for a stored pair that cannot be deserialized.
pub async fn list(
    state: &Analysis,
    project_id: Id<ids::Project>,
    listing: Listing<Filter>,
    mut share: Share,
) -> Result<CountedAnswer<List<ItemPair>>, ApiError> {
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let page = store::list(conn, project_id, listing, &mut share).await?;
            Ok((page, share))
        })
    });
    let (found, share) = found.await.map_err(|failed: DbError| ApiError::from(failed))?;
    Ok(CountedAnswer { reply: Reply::ok(found.try_map(shown)?), share })
}

fn shown((pair, first, second): PairWithItems) -> Result<ItemPair, DbError> {
    let mut items = Vec::with_capacity(2);
    for body in [first, second] {
        match item_of(ItemKind::Requirement, &body)? {
            ProjectItem::Requirement(requirement) => items.push(requirement),
            _ => return Err(DbError::Broken(format!("the pair {} is none of requirements", pair.id))),
        }
    }
    let spans: Vec<Vec<_>> =
        serde_json::from_str(&pair.spans).map_err(|error| DbError::Broken(format!("a pair is invalid: {error}")))?;
    let keys = [&pair.first_key, &pair.second_key];
    let spans = spans.into_iter().zip(keys.into_iter().zip(&items));
    let spans =
        spans.map(|(spans, (key, item))| if requirement_key(&item.statement) == *key { spans } else { Vec::new() });
    Ok(ItemPair {
        id: pair.id,
        kind: pair.kind,
        spans: spans.collect(),
        items,
        reason: pair.reason,
        strength: pair.strength,
        #[expect(clippy::cast_precision_loss, reason = "at most 100")]
        confidence: pair.confidence as f64 / 100.0,
        status: pair.status,
        settlement: pair.settlement,
        settled_by_id: pair.settled_by_id,
        settled_at: pair.settled_at,
        run_id: pair.run_id,
        created_at: pair.created_at,
    })
}

/// Settles pairs, or opens them again, in one transaction, each for itself: one that does not take it is named, and hinders no
/// other.
///
/// # Errors
/// 409 in an archived project.
pub async fn settle(
    state: &Analysis,
    project_id: Id<ids::Project>,
    caller: Caller,
    body: SettleItemPairs,
    request: RequestId,
) -> Result<SettledPairs, ApiError> {
    let now = state.now();
    let settled = state.db.write(move |conn| {
        Box::pin(async move {
            let gone = || ApiError::of(Code::NOT_FOUND);
            let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
            projects::must_be_active(&project)?;
            let changes = ItemChanges::new(project_id, decider(conn, caller).await?, now);
            let mut settling = PairSettling { project_id, caller, changes };
            let comment = body.comment.map(|comment| comment.0);
            let mut pairs = Vec::with_capacity(body.pairs.len());
            for PairToSettle { id, kept_id } in body.pairs {
                let settled = match (&body.settlement, store::find(conn, project_id, id).await?) {
                    (_, None) => Err(Refusal::Pair(Code::NOT_FOUND)),
                    (Patch::Set(settlement), Some(pair)) => {
                        settling.settle(conn, pair, (*settlement, kept_id), comment.as_deref()).await
                    }
                    (_, Some(pair)) => settling.open(conn, pair).await,
                };
                let error = match settled {
                    Ok(()) => None,
                    Err(Refusal::Pair(code)) => Some(code.name.to_owned()),
                    Err(Refusal::All(error)) => return Err(error),
                };
                pairs.push(SettledPair { id, ok: error.is_none(), error_code: error });
            }
            let mut records = settling.changes.finish(conn, &request).await?;
            if pairs.iter().any(|pair| pair.ok) {
                // What is open again may be claimed no more.
                comparing::enqueue(conn, project_id, now, &request).await?;
                records.extend(pairs_changed(conn, project_id, now, &request).await?);
            }
            Ok::<_, ApiError>((SettledPairs { pairs }, records))
        })
    });
    let (settled, records): (SettledPairs, Vec<EventRecord>) = settled.await?;
    state.hub.publish(records);
    Ok(settled)
}

/// Why a pair stays as it was, or all of them.
enum Refusal {
    Pair(Code),
    All(ApiError),
}

impl<E: Into<ApiError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::All(error.into())
    }
}

/// A transaction that settles pairs.
struct PairSettling {
    project_id: Id<ids::Project>,
    caller: Caller,
    changes: ItemChanges,
}

impl PairSettling {
    async fn settle(
        &mut self,
        conn: &mut Conn,
        pair: StoredPair,
        (settlement, kept_id): (PairSettlement, Option<Id<()>>),
        comment: Option<&str>,
    ) -> Result<(), Refusal> {
        if pair.status != PairStatus::Open {
            return Err(Refusal::Pair(Code::INVALID_STATE));
        }
        let (first, second) = (self.standing(conn, pair.first_id).await?, self.standing(conn, pair.second_id).await?);
        let moved = match (settlement, kept_id) {
            (PairSettlement::Merged | PairSettlement::RejectedOne, Some(kept_id)) => {
                if key_of(&first) != pair.first_key || key_of(&second) != pair.second_key {
                    return Err(Refusal::Pair(Code::PRECONDITION_FAILED));
                }
                let both = match kept_id {
                    id if id == pair.first_id => (first, second),
                    id if id == pair.second_id => (second, first),
                    _ => return Err(Refusal::Pair(Code::NOT_FOUND)),
                };
                Some(self.reject(conn, (settlement, pair.kind), both, comment).await?)
            }
            _ => None,
        };
        let settled = StoredPair {
            status: PairStatus::Settled,
            settlement: Some(settlement),
            settled_by_id: Some(self.caller.user_id),
            settled_at: Some(self.changes.now()),
            moved: moved.map(|moved| serde_json::to_string(&moved)).transpose().map_err(ApiError::internal)?,
            ..pair.clone()
        };
        self.replace(conn, &pair, &settled).await
    }

    /// Rejects the second one of both, after what it has was moved to the first one if they are merged.
    async fn reject(
        &mut self,
        conn: &mut Conn,
        (settlement, kind): (PairSettlement, PairKind),
        (kept, other): (ProjectItem, ProjectItem),
        comment: Option<&str>,
    ) -> Result<MovedParts, Refusal> {
        let (moved, why) = if settlement == PairSettlement::Merged {
            let moved = merge(conn, self.project_id, &mut self.changes, &kept, &other).await?;
            (moved, format!("Merged into {}.", kept.code()))
        } else {
            (MovedParts { kept_id: kept.id(), ..MovedParts::default() }, format!("{} stays.", kept.code()))
        };
        let is_repeated = settlement == PairSettlement::Merged || kind == PairKind::Duplicate;
        let reason_code = if is_repeated { RejectionReason::Duplicate } else { RejectionReason::Other };
        let decision = ItemDecision {
            comment: Some(comment.map_or(why, str::to_owned)),
            reason_code: Some(reason_code),
            ..ItemDecision::of(ApprovalAction::Reject)
        };
        let rejected = other.clone().judged(WorkflowStatus::Rejected, self.changes.now());
        self.changes.change(conn, &other, &rejected, None, decision).await?;
        Ok(moved)
    }

    /// Takes a settlement back. A requirement that was rejected with it is to be reviewed again.
    async fn open(&mut self, conn: &mut Conn, pair: StoredPair) -> Result<(), Refusal> {
        if pair.status != PairStatus::Settled {
            return Err(Refusal::Pair(Code::INVALID_STATE));
        }
        if let Some(moved) = &pair.moved {
            let moved: MovedParts = serde_json::from_str(moved).map_err(ApiError::internal)?;
            let other = if pair.first_id.uuid() == moved.kept_id { pair.second_id } else { pair.first_id };
            let found = find_to_change(conn, self.project_id, other).await?;
            if let Some(before) = found.filter(|item| item.workflow_status() == WorkflowStatus::Rejected) {
                let after = before.clone().judged(WorkflowStatus::NeedsReview, self.changes.now());
                let decision = ItemDecision::of(ApprovalAction::Reopen);
                self.changes.change(conn, &before, &after, None, decision).await?;
            }
            take_back(conn, self.project_id, &mut self.changes, &moved, other).await?;
        }
        let open = StoredPair {
            status: PairStatus::Open,
            settlement: None,
            settled_by_id: None,
            settled_at: None,
            moved: None,
            ..pair.clone()
        };
        self.replace(conn, &pair, &open).await
    }

    /// Stores the pair, and has both requirements say what their pairs are now.
    async fn replace(&mut self, conn: &mut Conn, was: &StoredPair, is: &StoredPair) -> Result<(), Refusal> {
        store::replace(conn, was, is).await?;
        follow_pairs(conn, self.project_id, &mut self.changes, &[is.first_id, is.second_id]).await?;
        Ok(())
    }

    /// A requirement that was not rejected.
    async fn standing(&self, conn: &mut Conn, id: Id<()>) -> Result<ProjectItem, Refusal> {
        let found = find_to_change(conn, self.project_id, id).await?.ok_or(Refusal::Pair(Code::NOT_FOUND))?;
        if found.workflow_status() == WorkflowStatus::Rejected {
            return Err(Refusal::Pair(Code::INVALID_STATE));
        }
        Ok(found)
    }
}

/// The key of the words of a requirement, as they are compared; of anything else that of no words.
fn key_of(item: &ProjectItem) -> String {
    match item {
        ProjectItem::Requirement(one) => requirement_key(&one.statement),
        _ => String::new(),
    }
}
