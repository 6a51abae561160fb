//! Node that finds quality issues of requirements and stories, conflicts between requirements, and the share of sources
//! covered.

use std::collections::BTreeSet;

use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::engine::Items;
use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::super::result::{CheckedItems, UserStoryDraft};
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToCheck {
    pub sources: Vec<ReadySource>,
    pub items: Items,
    pub user_stories: Vec<UserStoryDraft>,
}

pub(in super::super) struct QualityChecks;

impl Step for QualityChecks {
    const NODE: Node = Node::QualityChecks;
    type Input = ToCheck;
    type Output = CheckedItems;

    fn work(input: &ToCheck, context: &NodeContext) -> Result<CheckedItems, Halted> {
        let mut checked = context.engine.check(&input.items.requirements, &input.user_stories, &context.control)?;
        checked.quality.duplicates = input.items.merged;
        checked.quality.coverage = coverage(&input.sources, &input.items);
        Ok(checked)
    }
}

/// Returns the share of sources from which at least one item comes, rounded to two decimals.
fn coverage(sources: &[ReadySource], items: &Items) -> f64 {
    let covered: BTreeSet<&str> = items.all_sources().map(|reference| reference.source_id.as_str()).collect();
    let all = u32::try_from(sources.len()).unwrap_or(u32::MAX);
    let some = u32::try_from(covered.len()).unwrap_or(u32::MAX);
    if all == 0 { 0.0 } else { (f64::from(some) / f64::from(all) * 100.0).round() / 100.0 }
}
