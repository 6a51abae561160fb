//! Leaves of a dashboard what a filter keeps.

use std::collections::HashSet;

use uuid::Uuid;

use super::filter::DashboardFilter;
use super::model::ResultsDashboard;
use crate::analysis::items::model::{
    ActionItem, Decision, OpenQuestion, Requirement, Risk, SourceReference, UserStory,
};

impl DashboardFilter {
    /// Removes what is not wanted from a dashboard, and counts the rest.
    pub fn apply(&self, dashboard: &mut ResultsDashboard) {
        let mut sieve = Sieve::new(self);
        dashboard.requirements.retain(|one| sieve.keeps_requirement(one));
        dashboard.user_stories.retain(|one| sieve.keeps_story(one));
        dashboard.risks.retain(|one| sieve.keeps_risk(one));
        dashboard.open_questions.retain(|one| sieve.keeps_question(one));
        dashboard.action_items.retain(|one| sieve.keeps_action_item(one));
        dashboard.decisions.retain(|one| sieve.keeps_decision(one));
        dashboard.count_items();
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        dashboard.metrics.risks = count(dashboard.risks.len());
        dashboard.metrics.open_questions = count(dashboard.open_questions.len());
        dashboard.metrics.action_items = count(dashboard.action_items.len());
        dashboard.metrics.decisions = count(dashboard.decisions.len());
    }
}

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

    pub fn keeps_requirement(&mut self, one: &Requirement) -> bool {
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

    pub fn keeps_story(&self, one: &UserStory) -> bool {
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
