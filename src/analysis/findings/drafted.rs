//! What a draft consists of: the findings of one kind as items and as proposals.

use std::collections::HashMap;

use actors::ids::Id;
use uuid::Uuid;

use super::finding::{Findings, FoundItem, merged, united};
use super::reconciling::Fate;
use crate::analysis::effects::FindingEffect;
use crate::analysis::items::content_key::content_key;
use crate::analysis::items::model::RevisionSource;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::store::{FoundKeys, Item, item_of};
use crate::analysis::proposals::model::{FindingReason, Proposal, ProposalKind};
use crate::analysis::proposals::store::drafts::ProposalDraft;
use crate::db::DbError;
use crate::projects::item_kind::ItemKind;

/// Items of other ones that an item refers to: beyond, what is found changes nothing.
const MAX_REFERENCES: usize = 200;

/// An item that a run found, as it will be.
pub struct DraftedItem {
    pub item: ProjectItem,
    pub keys: FoundKeys,
    /// The item as it is stored; `None` for a new one.
    pub stored: Option<FormerItem>,
    /// Whether it becomes another one than is stored.
    pub is_changed: bool,
}

pub struct FormerItem {
    pub number: i64,
    pub body: String,
}

/// What a run has to say about an item.
pub struct DraftedFinding {
    pub item_id: Uuid,
    pub effect: FindingEffect,
    pub reason: Option<FindingReason>,
    pub proposal_id: Option<Id<Proposal>>,
}

/// The findings of one kind.
pub struct KindDraft {
    pub kind: ItemKind,
    /// In the order of the findings.
    pub items: Vec<DraftedItem>,
    pub findings: Vec<DraftedFinding>,
    pub proposals: Vec<ProposalDraft>,
    /// The items of the project that findings are about.
    stored: HashMap<Uuid, Item>,
    places: HashMap<Uuid, usize>,
    /// The places of the findings, by their items.
    noted: HashMap<Uuid, usize>,
}

impl KindDraft {
    pub fn new(kind: ItemKind, stored: HashMap<Uuid, Item>) -> Self {
        let (places, noted) = (HashMap::new(), HashMap::new());
        Self { kind, items: Vec::new(), findings: Vec::new(), proposals: Vec::new(), stored, places, noted }
    }

    /// The number of an item that the project has.
    pub fn stored_number(&self, id: Uuid) -> Option<i64> {
        self.stored.get(&id).map(|stored| stored.number)
    }

    /// Makes an item or a proposal of a finding. Findings about items that were deleted meanwhile are left out.
    ///
    /// # Errors
    /// A stored item is invalid.
    pub fn place(
        &mut self,
        finding: FoundItem,
        keys: FoundKeys,
        fate: Fate,
        findings: Findings<'_>,
    ) -> Result<(), DbError> {
        let Some(id) = fate.item_id() else { return Ok(()) };
        let stored = match (fate, self.stored.get(&id)) {
            (Fate::Added(_), _) => {
                let item = finding.item(id, None, findings);
                self.note(id, FindingEffect::Added, None, None);
                self.show(DraftedItem { item, keys, stored: None, is_changed: true });
                return Ok(());
            }
            (_, Some(stored)) => stored.clone(),
            (_, None) => {
                // It says the same as a new one of this run.
                if let Some(new) = self.places.get(&id).and_then(|at| self.items.get_mut(*at)) {
                    let found = finding.item(id, None, findings);
                    new.item.set_sources(united(new.item.sources(), found.sources()));
                }
                return Ok(());
            }
        };
        let present = item_of(self.kind, &stored.body)?;
        let mut found = finding.item(id, Some(&present), findings);
        match fate {
            Fate::Confirmed(_, reason) => self.confirm(&found, present, &stored, reason, findings),
            // Two findings with its words: the first one is enough.
            Fate::Refreshed(id) if self.places.contains_key(&id) => {}
            Fate::Refreshed(_) => {
                found.set_sources(merged(found.sources(), present.sources()));
                found.take_life(&present);
                if content_key(&present) != keys.content {
                    found.edited();
                }
                self.note(id, FindingEffect::Changed, Some(FindingReason::OtherContent), None);
                self.show(DraftedItem { item: found, keys, stored: Some(stored.into()), is_changed: true });
            }
            Fate::Changed(_, reason) => {
                if reason == FindingReason::OtherContent {
                    found.set_sources(merged(found.sources(), present.sources()));
                }
                let after = present.with_content(found, RevisionSource::AiRegenerated, findings.now);
                let after = after.as_ref().map(body).transpose()?;
                let proposal_id = Id::generate();
                self.proposals.push(ProposalDraft {
                    id: proposal_id,
                    item_id: id,
                    kind: ProposalKind::Changed,
                    reason: Some(reason),
                    text_key: keys.text,
                    content_key: keys.content,
                    target_version: Some(present.version()),
                    before: Some(stored.body.clone()),
                    after,
                });
                self.note(id, FindingEffect::Changed, Some(reason), Some(proposal_id));
                self.show_as_stored(present, &stored);
            }
            Fate::Kept(_) => self.show_as_stored(present, &stored),
            Fate::Added(_) | Fate::LeftOut => {}
        }
        Ok(())
    }

    /// Adds the places and the references of a finding to an item that says the same.
    fn confirm(
        &mut self,
        found: &ProjectItem,
        present: ProjectItem,
        stored: &Item,
        reason: FindingReason,
        findings: Findings<'_>,
    ) {
        let id = present.id();
        let place = self.places.get(&id).copied();
        let mut drafted = match place.and_then(|at| self.items.get_mut(at)) {
            Some(drafted) => {
                let sources = united(drafted.item.sources(), found.sources());
                drafted.is_changed |= sources != drafted.item.sources();
                drafted.item.set_sources(sources);
                drafted.is_changed |= add_references(&mut drafted.item, found);
                if drafted.is_changed {
                    drafted.item.changed_at(findings.now);
                }
                return;
            }
            None => {
                let keys = FoundKeys { text: stored.text_key.clone(), content: stored.content_key.clone() };
                DraftedItem { item: present, keys, stored: Some(stored.clone().into()), is_changed: false }
            }
        };
        let sources = merged(found.sources(), drafted.item.sources());
        drafted.is_changed = sources != drafted.item.sources();
        drafted.item.set_sources(sources);
        drafted.is_changed |= add_references(&mut drafted.item, found);
        if drafted.is_changed {
            drafted.item.changed_at(findings.now);
        }
        self.note(id, FindingEffect::Confirmed, Some(reason), None);
        self.show(drafted);
    }

    /// Proposes to reject an item that its sources do not say any more.
    ///
    /// # Errors
    /// The stored item is invalid.
    pub fn gone(&mut self, id: Uuid) -> Result<(), DbError> {
        let Some(stored) = self.stored.get(&id) else { return Ok(()) };
        let proposal_id = Id::generate();
        self.proposals.push(ProposalDraft {
            id: proposal_id,
            item_id: id,
            kind: ProposalKind::Gone,
            reason: Some(FindingReason::NotFound),
            text_key: stored.text_key.clone(),
            content_key: String::new(),
            target_version: Some(item_of(self.kind, &stored.body)?.version()),
            before: Some(stored.body.clone()),
            after: None,
        });
        self.note(id, FindingEffect::Gone, Some(FindingReason::NotFound), Some(proposal_id));
        Ok(())
    }

    fn note(
        &mut self,
        item_id: Uuid,
        effect: FindingEffect,
        reason: Option<FindingReason>,
        proposal_id: Option<Id<Proposal>>,
    ) {
        let noted = DraftedFinding { item_id, effect, reason, proposal_id };
        match self.noted.get(&item_id).and_then(|at| self.findings.get_mut(*at)) {
            // What is to be decided about an item says more than that it was found too.
            Some(former) if proposal_id.is_some() => *former = noted,
            Some(_) => {}
            None => {
                self.noted.insert(item_id, self.findings.len());
                self.findings.push(noted);
            }
        }
    }

    fn show(&mut self, drafted: DraftedItem) {
        self.places.insert(drafted.item.id(), self.items.len());
        self.items.push(drafted);
    }

    fn show_as_stored(&mut self, present: ProjectItem, stored: &Item) {
        if self.places.contains_key(&present.id()) {
            return;
        }
        let keys = FoundKeys { text: stored.text_key.clone(), content: stored.content_key.clone() };
        self.show(DraftedItem { item: present, keys, stored: Some(stored.clone().into()), is_changed: false });
    }
}

impl From<Item> for FormerItem {
    fn from(stored: Item) -> Self {
        Self { number: stored.number, body: stored.body }
    }
}

/// Adds the references of a finding to an item. Returns whether one was missing.
fn add_references(item: &mut ProjectItem, found: &ProjectItem) -> bool {
    let (mut is_any, mut count) = (false, item.references().len());
    for (reference, to) in found.references() {
        if count < MAX_REFERENCES && item.refer(reference, to) {
            (is_any, count) = (true, count + 1);
        }
    }
    is_any
}

fn body(item: &ProjectItem) -> Result<String, DbError> {
    serde_json::to_string(item).map_err(|error| DbError::Broken(error.to_string()))
}
