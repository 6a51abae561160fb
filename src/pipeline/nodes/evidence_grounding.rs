//! Node that checks that every quote stands verbatim at its offsets. It removes source references that do not match,
//! and drops and counts items that have none left.
//!
//! The check is the same for every engine: invented quotes do not pass it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::super::engine::{Items, Texts};
use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::super::request::SourceKind;
use super::super::result::SourceReference;
use super::{Node, NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToGround {
    pub sources: Vec<ReadySource>,
    pub items: Items,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Grounded {
    pub items: Items,
    /// Number of items that were dropped.
    pub dropped: u32,
}

pub(in super::super) struct EvidenceGrounding;

impl Step for EvidenceGrounding {
    const NODE: Node = Node::EvidenceGrounding;
    type Input = ToGround;
    type Output = Grounded;

    fn work(input: &ToGround, context: &NodeContext) -> Result<Grounded, Halted> {
        let mut items = input.items.clone();
        let mut ground = Ground::of(&input.sources, &context.texts);
        context.pace.mark(0, 5)?;
        items.requirements.retain_mut(|item| ground.holds(&mut item.sources));
        context.pace.mark(1, 5)?;
        items.risks.retain_mut(|item| ground.holds(&mut item.sources));
        context.pace.mark(2, 5)?;
        items.open_questions.retain_mut(|item| ground.holds(&mut item.sources));
        context.pace.mark(3, 5)?;
        items.action_items.retain_mut(|item| ground.holds(&mut item.sources));
        context.pace.mark(4, 5)?;
        items.decisions.retain_mut(|item| ground.holds(&mut item.sources));
        Ok(Grounded { items, dropped: ground.dropped })
    }
}

struct Ground<'a> {
    texts: &'a Texts,
    /// Slots by kind and id; of several sources with the same kind and id, the first.
    slots: HashMap<(SourceKind, &'a str), usize>,
    dropped: u32,
}

impl<'a> Ground<'a> {
    fn of(sources: &'a [ReadySource], texts: &'a Texts) -> Self {
        let slots = sources.iter().rev().map(|source| ((source.kind, source.id.as_str()), source.slot)).collect();
        Self { texts, slots, dropped: 0 }
    }

    fn holds(&mut self, references: &mut Vec<SourceReference>) -> bool {
        references.retain(|reference| self.stands(reference));
        if references.is_empty() {
            self.dropped += 1;
        }
        !references.is_empty()
    }

    fn stands(&self, reference: &SourceReference) -> bool {
        let slot = self.slots.get(&(reference.kind, reference.source_id.as_str()));
        let text = slot.and_then(|slot| self.texts.get(*slot));
        let there = text.and_then(|text| text.slice(reference.start_offset, reference.end_offset));
        !reference.quote.trim().is_empty() && there == Some(reference.quote.as_str())
    }
}
