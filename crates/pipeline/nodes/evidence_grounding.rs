//! Node that checks that every quote stands verbatim at its offsets. It removes source references that do not match,
//! and drops and counts items that have none left.
//!
//! The check is the same for every engine: invented quotes do not pass it.

use std::collections::HashMap;

use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::engine::{Items, Texts};
use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::super::request::SourceKind;
use super::super::result::Citation;
use super::{NodeContext, Step};

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
        let mut checker = QuoteChecker::of(&input.sources, &context.texts);
        context.control.report(0, 5)?;
        items.requirements.retain_mut(|item| checker.keep_verified(&mut item.sources));
        context.control.report(1, 5)?;
        items.risks.retain_mut(|item| checker.keep_verified(&mut item.sources));
        context.control.report(2, 5)?;
        items.open_questions.retain_mut(|item| checker.keep_verified(&mut item.sources));
        context.control.report(3, 5)?;
        items.action_items.retain_mut(|item| checker.keep_verified(&mut item.sources));
        context.control.report(4, 5)?;
        items.decisions.retain_mut(|item| checker.keep_verified(&mut item.sources));
        Ok(Grounded { items, dropped: checker.dropped })
    }
}

struct QuoteChecker<'a> {
    texts: &'a Texts,
    /// Slots by kind and id; of several sources with the same kind and id, the first.
    slots: HashMap<(SourceKind, &'a str), usize>,
    dropped: u32,
}

impl<'a> QuoteChecker<'a> {
    fn of(sources: &'a [ReadySource], texts: &'a Texts) -> Self {
        let slots = sources.iter().rev().map(|source| ((source.kind, source.id.as_str()), source.slot)).collect();
        Self { texts, slots, dropped: 0 }
    }

    fn keep_verified(&mut self, references: &mut Vec<Citation>) -> bool {
        references.retain(|reference| self.is_verbatim(reference));
        if references.is_empty() {
            self.dropped += 1;
        }
        !references.is_empty()
    }

    fn is_verbatim(&self, reference: &Citation) -> bool {
        let slot = self.slots.get(&(reference.kind, reference.source_id.as_str()));
        let text = slot.and_then(|slot| self.texts.get(*slot));
        let actual = text.and_then(|text| text.slice(reference.start_offset, reference.end_offset));
        !reference.quote.trim().is_empty() && actual == Some(reference.quote.as_str())
    }
}
