//! Leaves of a dashboard what a filter keeps.

use std::collections::HashSet;

use uuid::Uuid;

use super::filter::DashboardFilter;
use crate::analysis::items::model::{
    ActionItem, Decision, OpenQuestion, Requirement, Risk, SourceReference, UserStory,
};
use crate::analysis::items::project_item::ProjectItem;

/// Decides item by item what a filter keeps: of requirements first, as stories are kept with one that they cover.
pub struct Sieve<'a> {
    filter: &'a DashboardFilter,
    wanted: Wanted,
    /// The requirements that were kept.
    covered: HashSet<Uuid>,
}

impl<'a> Sieve<'a> {
    pub fn new(filter: &'a DashboardFilter) -> Self {
        Self { filter, wanted: Wanted::of(filter), covered: HashSet::new() }
    }

    /// Whether an item is wanted. Requirements come first.
    pub fn keeps(&mut self, item: &ProjectItem) -> bool {
        match item {
            ProjectItem::Requirement(one) => self.keeps_requirement(one),
            ProjectItem::UserStory(one) => self.keeps_story(one),
            ProjectItem::Risk(one) => self.keeps_risk(one),
            ProjectItem::OpenQuestion(one) => self.keeps_question(one),
            ProjectItem::ActionItem(one) => self.keeps_action_item(one),
            ProjectItem::Decision(one) => self.keeps_decision(one),
        }
    }

    fn keeps_requirement(&mut self, one: &Requirement) -> bool {
        let filter = self.filter;
        let is_kept = filter.kind.is_none_or(|kind| kind == one.kind)
            && filter.priority.is_none_or(|priority| priority == one.priority)
            && filter.status.is_none_or(|status| status == one.workflow_status)
            && self.wanted.keeps(&one.sources, &[&one.code, &one.title, &one.statement]);
        if is_kept {
            self.covered.insert(one.id);
        }
        is_kept
    }

    fn keeps_story(&self, one: &UserStory) -> bool {
        let filter = self.filter;
        let mut texts = vec![one.code.as_str(), &one.title, &one.description];
        texts.extend(one.acceptance_criteria.iter().map(|criterion| criterion.text.as_str()));
        (filter.kind.is_none() || one.requirement_ids.iter().any(|id| self.covered.contains(id)))
            && filter.priority.is_none_or(|priority| priority == one.priority)
            && filter.status.is_none_or(|status| status == one.workflow_status)
            && self.wanted.keeps(&one.sources, &texts)
    }

    fn keeps_risk(&self, one: &Risk) -> bool {
        let mitigation = one.mitigation.as_deref().unwrap_or_default();
        self.wanted.keeps(&one.sources, &[&one.title, &one.description, mitigation])
    }

    fn keeps_question(&self, one: &OpenQuestion) -> bool {
        self.wanted.keeps(&one.sources, &[&one.question, &one.why])
    }

    fn keeps_action_item(&self, one: &ActionItem) -> bool {
        self.wanted.keeps(&one.sources, &[&one.text, one.assignee.as_deref().unwrap_or_default()])
    }

    fn keeps_decision(&self, one: &Decision) -> bool {
        self.wanted.keeps(&one.sources, &[&one.text])
    }
}

/// The filters that all kinds of items have, made ready for comparison.
struct Wanted {
    source: Option<Uuid>,
    speaker: Option<String>,
    search: Option<String>,
}

impl Wanted {
    fn of(filter: &DashboardFilter) -> Self {
        let lower = |text: &Option<String>| text.as_ref().map(|text| text.to_lowercase());
        Self { source: filter.source, speaker: lower(&filter.speaker), search: lower(&filter.search) }
    }

    fn keeps(&self, sources: &[SourceReference], texts: &[&str]) -> bool {
        let is_of = |source: &SourceReference, id: Uuid| source.document_id.or(source.recording_id) == Some(id);
        let said_by = |source: &SourceReference, speaker: &String| {
            source.speaker.as_ref().is_some_and(|own| own.to_lowercase() == *speaker)
        };
        self.source.is_none_or(|id| sources.iter().any(|source| is_of(source, id)))
            && self.speaker.as_ref().is_none_or(|speaker| sources.iter().any(|source| said_by(source, speaker)))
            && self.search.as_ref().is_none_or(|words| texts.iter().any(|text| text.to_lowercase().contains(words)))
    }
}
