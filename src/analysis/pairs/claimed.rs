//! Decides what becomes of the pairs of a project after its requirements were compared. Nothing is read or written here.
//!
//! ```text
//! claimed, not known ────────────────────────> OPEN
//! OPEN, claimed ─────────────────────────────> OPEN, with the claim of now
//! OPEN, not claimed, words changed ──────────> SETTLED (EDITED)
//! OPEN, not claimed, same words ─────────────> deleted: the analysis does not claim it any more
//! SETTLED, claimed of other words ───────────> OPEN: what was settled is another pair
//! SETTLED by a rejection, and both stand ────> OPEN
//! ```
//! A pair with a requirement that was rejected is left as it is: nothing is claimed of it.

use std::collections::HashMap;

use actors::ids::{self, Id};
use actors::time::Time;
use pipeline::engine::claims::PairClaim;
use pipeline::engine::sameness::DemandRelation;

use super::model::{PairKind, PairSettlement, PairStatus, PairStrength};
use super::store::StoredPair;
use crate::projects::documents::versions::model::TextSpan;

/// A requirement that stands, as it was compared.
#[derive(Debug, Clone)]
pub struct ComparedRequirement {
    pub id: Id<()>,
    /// Of its words.
    pub key: String,
    /// The run that added it.
    pub run_id: Id<actors::run::Run>,
}

/// What becomes of the pairs of a project.
#[derive(Debug, Default, PartialEq)]
pub struct PairPlan {
    pub new: Vec<StoredPair>,
    /// What they were and what they are.
    pub changed: Vec<(StoredPair, StoredPair)>,
    /// Open ones that are deleted.
    pub dropped: Vec<Id<super::model::ItemPair>>,
}

impl PairPlan {
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.dropped.is_empty()
    }
}

/// Plans what becomes of the pairs. `items` are the requirements that stand, in the order of their numbers; the claims name them by
/// their positions.
pub fn plan(
    project_id: Id<ids::Project>,
    items: &[ComparedRequirement],
    claims: &[PairClaim],
    stored: Vec<StoredPair>,
    now: Time,
) -> PairPlan {
    let by_id: HashMap<Id<()>, &ComparedRequirement> = items.iter().map(|item| (item.id, item)).collect();
    let mut claimed: HashMap<(Id<()>, Id<()>), StoredPair> = HashMap::new();
    let mut order = Vec::with_capacity(claims.len());
    for claim in claims {
        let (Some(one), Some(other)) = (items.get(claim.one), items.get(claim.other)) else { continue };
        order.push((one.id, other.id));
        claimed.insert((one.id, other.id), pair_of(project_id, claim, (one, other), now));
    }
    let mut plan = PairPlan::default();
    for was in stored {
        let both = by_id.get(&was.first_id).zip(by_id.get(&was.second_id));
        let claim = claimed.remove(&(was.first_id, was.second_id));
        let Some((first, second)) = both else { continue };
        let has_same_words = first.key == was.first_key && second.key == was.second_key;
        let is = match (was.status, claim) {
            (PairStatus::Open, None) if has_same_words => {
                plan.dropped.push(was.id);
                continue;
            }
            (PairStatus::Open, None) => StoredPair {
                status: PairStatus::Settled,
                settlement: Some(PairSettlement::Edited),
                settled_at: Some(now),
                ..was.clone()
            },
            (PairStatus::Open, Some(claim)) => StoredPair { id: was.id, created_at: was.created_at, ..claim },
            (PairStatus::Settled, Some(claim)) if !has_same_words || claim.kind != was.kind || was.is_undone() => {
                StoredPair { id: was.id, ..claim }
            }
            (PairStatus::Settled, _) => continue,
        };
        if is != was {
            plan.changed.push((was, is));
        }
    }
    plan.new.extend(order.into_iter().filter_map(|both| claimed.remove(&both)));
    plan
}

impl StoredPair {
    /// Whether the requirement that was rejected with it stands again, given that both do.
    const fn is_undone(&self) -> bool {
        matches!(self.settlement, Some(PairSettlement::Merged | PairSettlement::RejectedOne))
    }
}

fn pair_of(
    project_id: Id<ids::Project>,
    claim: &PairClaim,
    (one, other): (&ComparedRequirement, &ComparedRequirement),
    now: Time,
) -> StoredPair {
    let span = |place: &std::ops::Range<usize>| TextSpan { start_offset: place.start, end_offset: place.end };
    let spans: Vec<Vec<TextSpan>> = claim.spans.iter().map(|places| places.iter().map(span).collect()).collect();
    StoredPair {
        id: Id::generate(),
        project_id,
        kind: match claim.relation {
            DemandRelation::Alike => PairKind::Duplicate,
            DemandRelation::Opposed => PairKind::Conflict,
        },
        first_id: one.id,
        second_id: other.id,
        first_key: one.key.clone(),
        second_key: other.key.clone(),
        strength: if claim.is_strong { PairStrength::High } else { PairStrength::Low },
        confidence: hundredths(claim.confidence),
        reason: claim.reason.clone(),
        spans: serde_json::to_string(&spans).unwrap_or_else(|_| "[[],[]]".to_owned()),
        status: PairStatus::Open,
        settlement: None,
        settled_by_id: None,
        settled_at: None,
        moved: None,
        run_id: other.run_id,
        created_at: now,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
fn hundredths(share: f32) -> i64 {
    (share.clamp(0.0, 1.0) * 100.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(number: u128, words: &str) -> ComparedRequirement {
        let id = uuid::Uuid::from_u128(number);
        ComparedRequirement { id: Id::from_uuid(id), key: words.to_owned(), run_id: Id::from_uuid(id) }
    }

    fn claim(one: usize, other: usize, relation: DemandRelation) -> PairClaim {
        let spans = [vec![], vec![]];
        PairClaim { one, other, relation, confidence: 0.92, is_strong: true, reason: String::new(), spans }
    }

    const CONFLICT: DemandRelation = DemandRelation::Opposed;

    /// The statuses and settlements of pairs after a plan.
    fn after(
        stored: Vec<StoredPair>,
        items: &[ComparedRequirement],
        claims: &[PairClaim],
    ) -> Vec<(PairStatus, Option<PairSettlement>)> {
        let project = Id::from_uuid(uuid::Uuid::nil());
        let plan = plan(project, items, claims, stored.clone(), Time::from_millis(9).unwrap());
        let kept = stored.into_iter().filter(|pair| !plan.dropped.contains(&pair.id));
        let changed =
            |pair: StoredPair| plan.changed.iter().find(|(was, _)| *was == pair).map_or(pair, |(_, is)| is.clone());
        let all: Vec<StoredPair> = kept.map(changed).chain(plan.new.clone()).collect();
        all.iter().map(|pair| (pair.status, pair.settlement)).collect()
    }

    fn found(items: &[ComparedRequirement], claims: &[PairClaim]) -> Vec<StoredPair> {
        plan(Id::from_uuid(uuid::Uuid::nil()), items, claims, Vec::new(), Time::from_millis(1).unwrap()).new
    }

    const OPEN: (PairStatus, Option<PairSettlement>) = (PairStatus::Open, None);

    #[test]
    fn what_is_claimed_again_stays_as_it_is() {
        let items = [item(1, "a"), item(2, "b")];
        let pairs = found(&items, &[claim(0, 1, CONFLICT)]);
        assert_eq!(after(pairs.clone(), &items, &[claim(0, 1, CONFLICT)]), [OPEN]);
        let plan = plan(
            Id::from_uuid(uuid::Uuid::nil()),
            &items,
            &[claim(0, 1, CONFLICT)],
            pairs,
            Time::from_millis(2).unwrap(),
        );
        assert!(plan.is_empty(), "{plan:?}");
    }

    #[test]
    fn what_is_claimed_no_more_goes_and_other_words_settle_it() {
        let pairs = found(&[item(1, "a"), item(2, "b")], &[claim(0, 1, CONFLICT)]);
        assert_eq!(after(pairs.clone(), &[item(1, "a"), item(2, "b")], &[]), []);
        let edited = [item(1, "a"), item(2, "c")];
        assert_eq!(after(pairs.clone(), &edited, &[]), [(PairStatus::Settled, Some(PairSettlement::Edited))]);
        // One of both was rejected: nothing is claimed of it.
        assert_eq!(after(pairs, &[item(1, "a")], &[]), [OPEN]);
    }

    #[test]
    fn a_settlement_is_of_these_words_and_of_this_kind() {
        let items = [item(1, "a"), item(2, "b")];
        let settle = |settlement| {
            let mut pairs = found(&items, &[claim(0, 1, CONFLICT)]);
            pairs.iter_mut().for_each(|pair| (pair.status, pair.settlement) = (PairStatus::Settled, Some(settlement)));
            pairs
        };
        let not_one = [(PairStatus::Settled, Some(PairSettlement::NotOne))];
        assert_eq!(after(settle(PairSettlement::NotOne), &items, &[claim(0, 1, CONFLICT)]), not_one);
        assert_eq!(after(settle(PairSettlement::NotOne), &items, &[]), not_one);
        assert_eq!(after(settle(PairSettlement::NotOne), &items, &[claim(0, 1, DemandRelation::Alike)]), [OPEN]);
        let edited = [item(1, "a"), item(2, "c")];
        assert_eq!(after(settle(PairSettlement::NotOne), &edited, &[claim(0, 1, CONFLICT)]), [OPEN]);
        assert_eq!(after(settle(PairSettlement::RejectedOne), &items, &[claim(0, 1, CONFLICT)]), [OPEN], "both stand");
        let rejected = [(PairStatus::Settled, Some(PairSettlement::RejectedOne))];
        assert_eq!(after(settle(PairSettlement::RejectedOne), &[item(1, "a")], &[]), rejected);
    }
}
