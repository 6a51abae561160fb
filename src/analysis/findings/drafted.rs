//! What a draft consists of: the findings of one kind as items and proposals, with the references between them.

use std::collections::HashMap;

use actors::ids::Id;
use actors::time::Time;
use uuid::Uuid;

use super::items::Known;
use crate::analysis::items::content_key::content_key;
use crate::analysis::items::model::RevisionSource;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::{FoundKeys, Item, item_of};
use crate::analysis::proposals::model::{Proposal, ProposalKind};
use crate::analysis::proposals::planning::{Fate, KindPlan, KnownItem};
use crate::analysis::proposals::store::ReferenceDraft;
use crate::analysis::proposals::store::drafts::ProposalDraft;
use crate::db::DbError;
use crate::projects::item_kind::ItemKind;

/// How many items refer to one that is proposed: what accepting it changes is bounded. References beyond are left out.
const MAX_REFERENCES: usize = 200;

/// The items by their keys, where nobody has touched one.
pub fn known_items(known: &HashMap<String, Item>) -> HashMap<String, KnownItem> {
    let known_item =
        |item: &Item| KnownItem { id: item.id.uuid(), is_touched: item.touched, content_key: item.content_key.clone() };
    known.iter().map(|(key, item)| (key.clone(), known_item(item))).collect()
}

/// What becomes of the findings of one kind.
pub struct PlannedKind {
    pub kind: ItemKind,
    /// The last number that was assigned.
    pub last_number: i64,
    pub plan: KindPlan,
    pub known: Known,
    /// Of the findings, in their order.
    keys: Vec<FoundKeys>,
    /// The ids of the NEW proposals, by those of the items that they would add.
    new: HashMap<Uuid, Id<Proposal>>,
    /// Items that are not known by the words of a finding.
    targets: HashMap<Uuid, Item>,
}

/// An item that the dashboard shows.
pub struct ShownItem {
    pub item: ProjectItem,
    /// Of an item that the run publishes.
    pub keys: Option<FoundKeys>,
}

/// The findings of one kind.
pub struct DraftedKind {
    pub shown: Vec<ShownItem>,
    pub proposals: Vec<ProposalDraft>,
}

impl PlannedKind {
    pub fn new(
        kind: ItemKind,
        last_number: i64,
        plan: KindPlan,
        keys: Vec<FoundKeys>,
        mut items: HashMap<String, Item>,
        targets: HashMap<Uuid, Item>,
    ) -> Self {
        let (mut ids, mut new) = (HashMap::new(), HashMap::new());
        for (keys, fate) in keys.iter().zip(&plan.fates) {
            if let Fate::Proposed { item_id, kind: ProposalKind::New } = fate {
                new.insert(*item_id, Id::generate());
            }
            if let Some(id) = fate.item_id() {
                ids.entry(keys.text.clone()).or_insert(id);
                if let Some(item) = targets.get(&id) {
                    items.entry(keys.text.clone()).or_insert_with(|| item.clone());
                }
            }
        }
        Self { kind, last_number, plan, known: Known::new(items, ids), keys, new, targets }
    }

    /// Makes items and proposals of the findings, each with the number of its own sources. What is published refers only to
    /// items that exist, and its references to others are collected; a proposal keeps its own until it is accepted.
    ///
    /// # Errors
    /// A stored item is invalid.
    pub fn draft(
        &self,
        made: impl Iterator<Item = (ProjectItem, usize)>,
        references: &mut References,
        now: Time,
    ) -> Result<DraftedKind, DbError> {
        let mut drafted = DraftedKind { shown: Vec::new(), proposals: Vec::new() };
        for (((item, sources), keys), fate) in made.zip(&self.keys).zip(&self.plan.fates) {
            if *fate != Fate::LeftOut {
                self.place(item, sources, keys, *fate, references, now, &mut drafted)?;
            }
        }
        for id in &self.plan.gone {
            let Some(target) = self.targets.get(id) else { continue };
            let item = item_of(self.kind, &target.body)?;
            drafted.proposals.push(ProposalDraft {
                id: Id::generate(),
                item_id: *id,
                kind: ProposalKind::Gone,
                text_key: target.text_key.clone(),
                content_key: String::new(),
                target_version: Some(item.version()),
                before: Some(target.body.clone()),
                after: None,
            });
            drafted.shown.push(ShownItem { item, keys: None });
        }
        Ok(drafted)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one finding, and where they go")]
    fn place(
        &self,
        mut item: ProjectItem,
        sources: usize,
        keys: &FoundKeys,
        fate: Fate,
        references: &mut References,
        now: Time,
        drafted: &mut DraftedKind,
    ) -> Result<(), DbError> {
        let existing = self.known.item(&keys.text);
        let stored = existing.map(|existing| item_of(self.kind, &existing.body)).transpose()?;
        match (fate, existing, stored) {
            (Fate::Published(_), _, stored) => {
                references.collect(&mut item);
                if stored.is_some_and(|stored| content_key(&stored) != keys.content) {
                    item.edited();
                }
                drafted.shown.push(ShownItem { item, keys: Some(keys.clone()) });
            }
            (Fate::Kept(_), _, Some(stored)) => {
                // A story that stays as it is may cover what is new.
                if let ProjectItem::UserStory(_) = item {
                    references.collect(&mut item);
                }
                drafted.shown.push(ShownItem { item: stored, keys: None });
            }
            (Fate::Proposed { item_id, kind: ProposalKind::New }, _, _) => {
                let id = self.new.get(&item_id).copied().unwrap_or_else(Id::generate);
                drafted.proposals.push(ProposalDraft {
                    id,
                    item_id,
                    kind: ProposalKind::New,
                    text_key: keys.text.clone(),
                    content_key: keys.content.clone(),
                    target_version: None,
                    before: None,
                    after: Some(body(&item)?),
                });
            }
            (Fate::Proposed { item_id, kind }, Some(existing), Some(stored)) => {
                if existing.text_key != keys.text {
                    // What quoted the former words does not quote these.
                    item.keep_sources(sources);
                }
                let after = stored
                    .with_content(item, RevisionSource::AiRegenerated, now)
                    .map(|after| body(&after))
                    .transpose()?;
                drafted.proposals.push(ProposalDraft {
                    id: Id::generate(),
                    item_id,
                    kind,
                    text_key: keys.text.clone(),
                    content_key: keys.content.clone(),
                    target_version: Some(stored.version()),
                    before: Some(existing.body.clone()),
                    after,
                });
                drafted.shown.push(ShownItem { item: stored, keys: None });
            }
            // Deleted meanwhile, or not to be seen.
            (Fate::Kept(_) | Fate::Proposed { .. } | Fate::LeftOut, _, _) => {}
        }
        Ok(())
    }
}

fn body(item: &ProjectItem) -> Result<String, DbError> {
    serde_json::to_string(item).map_err(|error| DbError::Broken(error.to_string()))
}

/// The references of items to requirements that are proposed.
pub struct References {
    new: HashMap<Uuid, Id<Proposal>>,
    counts: HashMap<Uuid, usize>,
    pub drafts: Vec<ReferenceDraft>,
}

impl References {
    pub fn to(requirements: &PlannedKind) -> Self {
        Self { new: requirements.new.clone(), counts: HashMap::new(), drafts: Vec::new() }
    }

    /// Collects the references of an item, and removes them from it.
    fn collect(&mut self, item: &mut ProjectItem) {
        for (reference, to) in item.references() {
            let Some(proposal) = self.new.get(&to) else { continue };
            let count = self.counts.entry(to).or_default();
            if *count < MAX_REFERENCES {
                *count += 1;
                self.drafts.push(ReferenceDraft::new(*proposal, item.id(), reference));
            }
        }
        item.retain_references(|id| !self.new.contains_key(id));
    }
}
