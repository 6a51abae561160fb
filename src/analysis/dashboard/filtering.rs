//! Leaves of a dashboard what a filter keeps.

use std::collections::HashSet;

use uuid::Uuid;

use super::filter::DashboardFilter;
use super::model::ResultsDashboard;
use crate::analysis::results::model::{Requirement, SourceReference, UserStory};

impl DashboardFilter {
    /// Removes what is not wanted from a dashboard, and counts the rest.
    pub fn apply(&self, dashboard: &mut ResultsDashboard) {
        let wanted = Wanted::of(self);
        dashboard.requirements.retain(|one| self.keeps_requirement(&wanted, one));
        let covered: HashSet<Uuid> = dashboard.requirements.iter().map(|one| one.id).collect();
        dashboard.user_stories.retain(|one| self.keeps_story(&wanted, one, &covered));
        dashboard.risks.retain(|one| {
            wanted.keeps(&one.sources, &[&one.title, &one.description, one.mitigation.as_deref().unwrap_or_default()])
        });
        dashboard.open_questions.retain(|one| wanted.keeps(&one.sources, &[&one.question, &one.why]));
        dashboard
            .action_items
            .retain(|one| wanted.keeps(&one.sources, &[&one.text, one.assignee.as_deref().unwrap_or_default()]));
        dashboard.decisions.retain(|one| wanted.keeps(&one.sources, &[&one.text]));
        dashboard.count_items();
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        dashboard.metrics.risks = count(dashboard.risks.len());
        dashboard.metrics.open_questions = count(dashboard.open_questions.len());
        dashboard.metrics.action_items = count(dashboard.action_items.len());
        dashboard.metrics.decisions = count(dashboard.decisions.len());
    }

    fn keeps_requirement(&self, wanted: &Wanted, one: &Requirement) -> bool {
        self.kind.is_none_or(|kind| kind == one.kind)
            && self.priority.is_none_or(|priority| priority == one.priority)
            && self.status.is_none_or(|status| status == one.workflow_status)
            && wanted.keeps(&one.sources, &[&one.code, &one.title, &one.statement])
    }

    fn keeps_story(&self, wanted: &Wanted, one: &UserStory, covered: &HashSet<Uuid>) -> bool {
        let mut texts = vec![one.code.as_str(), &one.title, &one.description];
        texts.extend(one.acceptance_criteria.iter().map(|criterion| criterion.text.as_str()));
        (self.kind.is_none() || one.requirement_ids.iter().any(|id| covered.contains(id)))
            && self.priority.is_none_or(|priority| priority == one.priority)
            && self.status.is_none_or(|status| status == one.workflow_status)
            && wanted.keeps(&one.sources, &texts)
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
