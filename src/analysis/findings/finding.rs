//! A finding of a run, whichever kind it is, and the item that it becomes.

use std::collections::{BTreeSet, HashMap};
use std::mem::take;

use actors::ids::Id;
use actors::run::{AnalysisType, Run};
use actors::time::Time;
use pipeline::PipelineResult;
use pipeline::result::{
    ActionItemDraft, Citation, CriterionDraft, DecisionDraft, OpenQuestionDraft, RequirementDraft, RiskDraft,
    UserStoryDraft,
};
use uuid::Uuid;

use super::matching::{Likened, SourcePlace};
use super::reconciling::FoundText;
use crate::analysis::items::content_key::hash;
use crate::analysis::items::edits::MAX_TEXT_BYTES;
use crate::analysis::items::model::{
    AcceptanceCriterion, ActionItem, Decision, OpenQuestion, Requirement, RevisionSource, Risk, SourceReference,
    UserStory, WorkflowStatus,
};
use crate::analysis::items::project_item::ProjectItem;
use crate::projects::item_kind::ItemKind;

/// Maximum number of places that an item rests on. What is said again beyond that changes nothing.
const MAX_SOURCES: usize = 200;

/// A finding of a run.
pub enum FoundItem {
    Requirement(RequirementDraft),
    UserStory(UserStoryDraft),
    Risk(RiskDraft),
    OpenQuestion(OpenQuestionDraft),
    ActionItem(ActionItemDraft),
    Decision(DecisionDraft),
}

/// Whether an analysis looks for a kind of items.
#[must_use]
pub fn is_wanted(analysis: AnalysisType, kind: ItemKind) -> bool {
    match kind {
        ItemKind::Requirement => analysis.wants_requirements(),
        ItemKind::UserStory => analysis.wants_stories(),
        ItemKind::Risk | ItemKind::OpenQuestion => analysis.wants_risks(),
        ItemKind::ActionItem | ItemKind::Decision => analysis.wants_minutes(),
    }
}

/// What the items of a run have in common.
#[derive(Clone, Copy)]
pub struct Findings<'a> {
    pub run: &'a Run,
    pub now: Time,
    /// The requirements that the run found, by the keys of the findings.
    pub requirements: &'a HashMap<String, Uuid>,
}

impl FoundItem {
    /// Takes the findings of a kind out of a result.
    pub fn take(result: &mut PipelineResult, kind: ItemKind) -> Vec<Self> {
        match kind {
            ItemKind::Requirement => take(&mut result.requirements).into_iter().map(Self::Requirement).collect(),
            ItemKind::UserStory => take(&mut result.user_stories).into_iter().map(Self::UserStory).collect(),
            ItemKind::Risk => take(&mut result.risks).into_iter().map(Self::Risk).collect(),
            ItemKind::OpenQuestion => take(&mut result.open_questions).into_iter().map(Self::OpenQuestion).collect(),
            ItemKind::ActionItem => take(&mut result.action_items).into_iter().map(Self::ActionItem).collect(),
            ItemKind::Decision => take(&mut result.decisions).into_iter().map(Self::Decision).collect(),
        }
    }

    /// Its key, its content and its words, by which items are recognised.
    #[must_use]
    pub fn text(&self) -> FoundText {
        let (key, content, words) = match self {
            Self::Requirement(found) => {
                let content = (found.kind, found.category, &found.title, &found.statement, found.priority);
                (&found.key, hash(&content), &found.statement)
            }
            Self::UserStory(found) => {
                let criteria: Vec<&str> = found.acceptance_criteria.iter().map(|one| one.text.as_str()).collect();
                let told = (&found.title, &found.role, &found.goal, &found.benefit, &found.description);
                (&found.key, hash(&(told, found.priority, criteria)), &found.description)
            }
            Self::Risk(found) => {
                let rated = (found.severity, found.likelihood, &found.mitigation);
                (&found.key, hash(&(&found.title, &found.description, rated)), &found.description)
            }
            Self::OpenQuestion(found) => {
                (&found.key, hash(&(&found.question, &found.why, &found.raised_by)), &found.question)
            }
            Self::ActionItem(found) => {
                (&found.key, hash(&(&found.text, &found.assignee, &found.due_date)), &found.text)
            }
            Self::Decision(found) => (&found.key, hash(&(&found.text,)), &found.text),
        };
        FoundText {
            text_key: key.clone(),
            content_key: content,
            is_all_words: matches!(self, Self::Requirement(_) | Self::Decision(_)),
            likened: Likened::new(words, cited(self.sources())),
        }
    }

    fn sources(&self) -> &[Citation] {
        match self {
            Self::Requirement(found) => &found.sources,
            Self::UserStory(found) => &found.sources,
            Self::Risk(found) => &found.sources,
            Self::OpenQuestion(found) => &found.sources,
            Self::ActionItem(found) => &found.sources,
            Self::Decision(found) => &found.sources,
        }
    }

    /// Returns the item that it becomes, without a code, still to be reviewed. `former` is the item that it is about.
    #[must_use]
    pub fn item(self, id: Uuid, former: Option<&ProjectItem>, findings: Findings<'_>) -> ProjectItem {
        /// An item of a kind without references, with the fields that are its own.
        macro_rules! recorded {
            ($kind:ident, $found:ident, $($field:ident),+) => {
                ProjectItem::$kind($kind {
                    id,
                    code: String::new(),
                    $($field: $found.$field,)+
                    sources: references($found.sources, findings.run),
                    workflow_status: WorkflowStatus::NeedsReview,
                    version: 1,
                    revision_source: RevisionSource::AiGenerated,
                    suspect: false,
                    run_id: findings.run.id,
                    created_at: findings.now,
                    updated_at: findings.now,
                    deferred_until: None,
                })
            };
        }
        match self {
            Self::Requirement(found) => ProjectItem::Requirement(requirement(found, id, findings)),
            Self::UserStory(found) => {
                let former = match former {
                    Some(ProjectItem::UserStory(former)) => former.acceptance_criteria.as_slice(),
                    _ => &[],
                };
                ProjectItem::UserStory(story(found, id, former, findings))
            }
            Self::Risk(found) => recorded!(Risk, found, title, description, severity, likelihood, mitigation),
            Self::OpenQuestion(found) => recorded!(OpenQuestion, found, question, why, raised_by),
            Self::ActionItem(found) => recorded!(ActionItem, found, text, assignee, due_date),
            Self::Decision(found) => recorded!(Decision, found, text),
        }
    }
}

fn cited(sources: &[Citation]) -> Vec<SourcePlace> {
    let place = |source: &Citation| {
        let offsets = (source.start_offset, source.end_offset);
        SourcePlace::at(source.source_id.parse().ok()?, offsets, source.start_ms.zip(source.end_ms))
    };
    sources.iter().filter_map(place).collect()
}

/// The places of an item that was found now and is known from before: those of now, and those in other sources. A place in a newer
/// version than the one that was read now stays.
#[must_use]
pub fn merged(now: &[SourceReference], before: &[SourceReference]) -> Vec<SourceReference> {
    let of = |source: &SourceReference| source.document_id.or(source.recording_id);
    let is_newer = |one: &SourceReference, other: &SourceReference| of(one) == of(other) && one.version > other.version;
    let now: Vec<_> = now.iter().filter(|one| !before.iter().any(|other| is_newer(other, one))).collect();
    let seen: BTreeSet<_> = now.iter().map(|source| of(source)).collect();
    let before = before.iter().filter(|source| !seen.contains(&of(source)));
    now.into_iter().chain(before).take(MAX_SOURCES).cloned().collect()
}

/// The places of an item that was found twice in one run.
#[must_use]
pub fn united(first: &[SourceReference], second: &[SourceReference]) -> Vec<SourceReference> {
    let second = second.iter().filter(|source| !first.contains(source));
    first.iter().chain(second).take(MAX_SOURCES).cloned().collect()
}

fn requirement(found: RequirementDraft, id: Uuid, Findings { run, now, requirements }: Findings<'_>) -> Requirement {
    Requirement {
        id,
        code: String::new(),
        kind: found.kind,
        category: found.category,
        title: found.title,
        statement: found.statement,
        priority: found.priority,
        confidence: found.confidence,
        workflow_status: WorkflowStatus::NeedsReview,
        quality_issues: found.quality_issues,
        sources: references(found.sources, run),
        duplicate_of: found.duplicate_of.and_then(|key| requirements.get(&key).copied()).filter(|other| *other != id),
        conflicts_with: others(found.conflicts_with.iter().filter_map(|key| requirements.get(key).copied()), id),
        version: 1,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        run_id: run.id,
        created_at: now,
        updated_at: now,
        pattern: found.pattern,
        original: None,
        deferred_until: None,
    }
}

/// Each id once, but that of the item itself: two findings may be about one item.
fn others(ids: impl Iterator<Item = Uuid>, own: Uuid) -> Vec<Uuid> {
    let mut seen = BTreeSet::from([own]);
    ids.filter(|id| seen.insert(*id)).collect()
}

fn story(
    found: UserStoryDraft,
    id: Uuid,
    former: &[AcceptanceCriterion],
    Findings { run, now, requirements }: Findings<'_>,
) -> UserStory {
    let criterion = |(position, found): (usize, CriterionDraft)| AcceptanceCriterion {
        id: former.iter().find(|one| one.text == found.text).map_or_else(|| Id::<()>::generate().uuid(), |one| one.id),
        code: format!("AC-{:03}", position + 1),
        text: found.text,
        given: found.given,
        when: found.when,
        then: found.then,
    };
    UserStory {
        id,
        code: String::new(),
        requirement_ids: others(found.requirement_keys.iter().filter_map(|key| requirements.get(key).copied()), id),
        title: found.title,
        role: found.role,
        goal: found.goal,
        benefit: found.benefit,
        description: found.description,
        priority: found.priority,
        acceptance_criteria: fitting(found.acceptance_criteria).enumerate().map(criterion).collect(),
        workflow_status: WorkflowStatus::NeedsReview,
        quality_score: found.quality_score,
        quality_issues: found.quality_issues,
        sources: references(found.sources, run),
        version: 1,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        tracker_issue: None,
        run_id: run.id,
        created_at: now,
        updated_at: now,
        original: None,
        deferred_until: None,
    }
}

/// The first criteria that have half of the text that an item may have, which no honest source exceeds.
fn fitting(criteria: Vec<CriterionDraft>) -> impl Iterator<Item = CriterionDraft> {
    let mut left = MAX_TEXT_BYTES / 2;
    criteria.into_iter().map_while(move |one| {
        let clauses = [&one.given, &one.when, &one.then].into_iter().flatten().map(String::len).sum::<usize>();
        left = left.checked_sub(one.text.len() + clauses)?;
        Some(one)
    })
}

fn references(sources: Vec<Citation>, run: &Run) -> Vec<SourceReference> {
    sources.into_iter().map(|source| SourceReference::cited(source, run)).collect()
}

#[cfg(test)]
mod tests {
    use pipeline::SourceKind;

    use super::*;

    fn source(document: u128, version: i64, start_offset: usize) -> SourceReference {
        SourceReference {
            kind: SourceKind::Document,
            document_id: Some(Uuid::from_u128(document)),
            recording_id: None,
            version,
            quote: String::new(),
            page: None,
            section: None,
            start_offset,
            end_offset: start_offset + 1,
            start_ms: None,
            end_ms: None,
            speaker: None,
        }
    }

    #[test]
    fn what_was_read_now_takes_the_place_of_former_versions_and_not_of_newer_ones() {
        let before = [source(1, 1, 0), source(1, 1, 9), source(2, 1, 0)];
        assert_eq!(merged(&[source(1, 2, 5)], &before), [source(1, 2, 5), source(2, 1, 0)]);
        assert_eq!(merged(&[source(1, 1, 0)], &[source(1, 2, 5), source(2, 1, 0)]), [source(1, 2, 5), source(2, 1, 0)]);
        assert_eq!(merged(&[source(3, 1, 0)], &[source(1, 2, 5)]), [source(3, 1, 0), source(1, 2, 5)]);
    }
}
