//! What requirements say of the pairs that they are in: `duplicateOf`, `conflictsWith` and the quality issue CONFLICT follow the
//! strong pairs that are open. Nobody edits them, so that the version of a requirement stays.

use std::collections::HashMap;

use actors::ids::{self, Id};
use pipeline::engine::conflict_message;
use pipeline::result::{IssueCode, QualityIssue};
use uuid::Uuid;

use super::model::{PairKind, PairStatus, PairStrength};
use super::store::{StoredPair, shown_of};
use crate::analysis::changes::ItemChanges;
use crate::analysis::items::model::{Requirement, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::change::find_to_change;
use crate::db::{Conn, DbError};

/// A pair as one of its requirements sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairLink {
    kind: PairKind,
    /// Whether the other one came first.
    is_later: bool,
    other: LinkedItem,
    reason: String,
}

/// A requirement that another one is a pair with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedItem {
    id: Uuid,
    code: String,
    title: String,
}

impl LinkedItem {
    pub fn of(requirement: &Requirement) -> Self {
        Self { id: requirement.id, code: requirement.code.clone(), title: requirement.title.clone() }
    }
}

/// Returns for each requirement of the pairs how it is linked, in the order of the codes of the others; `standing` has the
/// requirements that were not rejected.
pub fn links_of<'a>(
    pairs: impl Iterator<Item = &'a StoredPair>,
    standing: &HashMap<Uuid, LinkedItem>,
) -> HashMap<Uuid, Vec<PairLink>> {
    let mut links: HashMap<Uuid, Vec<PairLink>> = HashMap::new();
    let is_shown = |pair: &&StoredPair| pair.status == PairStatus::Open && pair.strength == PairStrength::High;
    for pair in pairs.filter(is_shown) {
        let both = standing.get(&pair.first_id.uuid()).zip(standing.get(&pair.second_id.uuid()));
        let Some((first, second)) = both else { continue };
        for (own, other, is_later) in [(first, second, false), (second, first, true)] {
            let link = PairLink { kind: pair.kind, is_later, other: other.clone(), reason: pair.reason.clone() };
            links.entry(own.id).or_default().push(link);
        }
    }
    // A code has no more digits than it needs, from three on.
    let order = |link: &PairLink| (link.other.code.len(), link.other.code.clone());
    links.values_mut().for_each(|links| links.sort_by_cached_key(order));
    links
}

/// Returns the requirement with these links; `None` if it has them.
pub fn linked(requirement: &Requirement, links: &[PairLink]) -> Option<Requirement> {
    let of = |kind: PairKind| links.iter().filter(move |link| link.kind == kind);
    let conflict =
        |link: &PairLink| QualityIssue::new(IssueCode::Conflict, conflict_message(&link.other.title, &link.reason));
    let own = requirement.quality_issues.iter().filter(|issue| issue.code != IssueCode::Conflict).cloned();
    let is = Requirement {
        duplicate_of: of(PairKind::Duplicate).find(|link| link.is_later).map(|link| link.other.id),
        conflicts_with: of(PairKind::Conflict).map(|link| link.other.id).collect(),
        quality_issues: own.chain(of(PairKind::Conflict).map(conflict)).collect(),
        ..requirement.clone()
    };
    (is != *requirement).then_some(is)
}

/// Has requirements say what the pairs of now are, as a part of a change.
///
/// # Errors
/// Only database errors.
pub async fn follow_pairs(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    changes: &mut ItemChanges,
    items: &[Id<()>],
) -> Result<(), DbError> {
    let pairs = shown_of(conn, items).await?;
    let mut present: HashMap<Uuid, Requirement> = HashMap::new();
    let partners = pairs.iter().flat_map(|pair| [pair.first_id, pair.second_id]);
    for id in items.iter().copied().chain(partners) {
        if !present.contains_key(&id.uuid())
            && let Some(ProjectItem::Requirement(requirement)) = find_to_change(conn, project_id, id).await?
        {
            present.insert(id.uuid(), requirement);
        }
    }
    let standing = present.iter().filter(|(_, one)| one.workflow_status != WorkflowStatus::Rejected);
    let standing: HashMap<Uuid, LinkedItem> = standing.map(|(id, one)| (*id, LinkedItem::of(one))).collect();
    let links = links_of(pairs.iter(), &standing);
    for id in items {
        let own = links.get(&id.uuid()).map(Vec::as_slice).unwrap_or_default();
        if let Some(requirement) = present.get(&id.uuid()).and_then(|one| linked(one, own)) {
            changes.relink(conn, &ProjectItem::Requirement(requirement)).await?;
        }
    }
    Ok(())
}
