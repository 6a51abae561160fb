//! Converts the findings of a run to items of the project.

use std::collections::{BTreeSet, HashMap};

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use pipeline::result::{
    ActionItemDraft, Citation, CriterionDraft, DecisionDraft, OpenQuestionDraft, RequirementDraft, RiskDraft,
    UserStoryDraft,
};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::analysis::items::content_key::hash;
use crate::analysis::items::edits::MAX_TEXT_BYTES;
use crate::analysis::items::model::{
    AcceptanceCriterion, ActionItem, Decision, OpenQuestion, Requirement, RevisionSource, Risk, SourceReference,
    UserStory, WorkflowStatus,
};
use crate::analysis::items::store::Item;
use crate::analysis::proposals::matching::{Likened, SourcePlace};
use crate::analysis::proposals::planning::FoundText;

/// The project's existing items of one kind that findings of a run are about, and the ids of all of the latter; by the keys of
/// the findings.
pub struct Known {
    items: HashMap<String, Item>,
    ids: HashMap<String, Uuid>,
}

impl Known {
    pub const fn new(items: HashMap<String, Item>, ids: HashMap<String, Uuid>) -> Self {
        Self { items, ids }
    }

    /// The item that the project already has.
    pub fn item(&self, key: &str) -> Option<&Item> {
        self.items.get(key)
    }

    /// `None` if the run found no such item.
    fn id(&self, key: &str) -> Option<Uuid> {
        self.ids.get(key).copied()
    }

    /// The id of an item that was found; one that nobody will see gets an id too.
    fn own_id(&self, key: &str) -> Uuid {
        self.id(key).unwrap_or_else(|| Id::<()>::generate().uuid())
    }

    /// The stored item, if there is one and it can be deserialized.
    fn existing<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.items.get(key).and_then(|item| serde_json::from_str(&item.body).ok())
    }
}

/// A finding of a kind that becomes items.
pub trait FoundItem {
    fn text(&self) -> FoundText;
    fn source_count(&self) -> usize;
}

impl FoundItem for RequirementDraft {
    fn text(&self) -> FoundText {
        let content = (self.kind, self.category, &self.title, &self.statement, self.priority);
        FoundText {
            text_key: self.key.clone(),
            content_key: hash(&content),
            likened: Likened::new(&self.statement, cited(&self.sources)),
        }
    }
    fn source_count(&self) -> usize {
        self.sources.len()
    }
}

impl FoundItem for UserStoryDraft {
    fn text(&self) -> FoundText {
        let criteria: Vec<&str> = self.acceptance_criteria.iter().map(|one| one.text.as_str()).collect();
        let told = (&self.title, &self.role, &self.goal, &self.benefit, &self.description);
        FoundText {
            text_key: self.key.clone(),
            content_key: hash(&(told, self.priority, criteria)),
            likened: Likened::new(&self.description, cited(&self.sources)),
        }
    }
    fn source_count(&self) -> usize {
        self.sources.len()
    }
}

fn cited(sources: &[Citation]) -> Vec<SourcePlace> {
    let place = |source: &Citation| {
        let offsets = (source.start_offset, source.end_offset);
        SourcePlace::at(source.source_id.parse().ok()?, offsets, source.start_ms.zip(source.end_ms))
    };
    sources.iter().filter_map(place).collect()
}

/// Merges the sources found now with those found earlier in other documents.
fn merged(now: Vec<Citation>, before: Vec<SourceReference>) -> Vec<SourceReference> {
    let mut sources: Vec<SourceReference> = now.into_iter().map(SourceReference::from).collect();
    let of = |source: &SourceReference| source.document_id.or(source.recording_id);
    let seen: BTreeSet<_> = sources.iter().map(of).collect();
    sources.extend(before.into_iter().filter(|source| !seen.contains(&of(source))));
    sources
}

pub fn requirement(found: RequirementDraft, known: &Known, run: &Run, now: Time) -> Requirement {
    let existing: Option<Requirement> = known.existing(&found.key);
    let version = existing.as_ref().map_or(1, |existing| existing.version);
    let (created_at, run_id, before) =
        existing.map_or((now, run.id, Vec::new()), |existing| (existing.created_at, existing.run_id, existing.sources));
    Requirement {
        id: known.own_id(&found.key),
        code: String::new(),
        kind: found.kind,
        category: found.category,
        title: found.title,
        statement: found.statement,
        priority: found.priority,
        confidence: found.confidence,
        workflow_status: WorkflowStatus::NeedsReview,
        quality_issues: found.quality_issues,
        sources: merged(found.sources, before),
        duplicate_of: found.duplicate_of.and_then(|key| known.id(&key)),
        conflicts_with: found.conflicts_with.iter().filter_map(|key| known.id(key)).collect(),
        version,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        run_id,
        created_at,
        updated_at: now,
        pattern: found.pattern,
        original: None,
        deferred_until: None,
    }
}

pub fn story(found: UserStoryDraft, known: &Known, requirements: &Known, run: &Run, now: Time) -> UserStory {
    let existing: Option<UserStory> = known.existing(&found.key);
    let version = existing.as_ref().map_or(1, |existing| existing.version);
    let (created_at, run_id, before, criteria) = existing.map_or((now, run.id, Vec::new(), Vec::new()), |existing| {
        (existing.created_at, existing.run_id, existing.sources, existing.acceptance_criteria)
    });
    let criterion = |(position, found): (usize, CriterionDraft)| AcceptanceCriterion {
        id: criteria
            .iter()
            .find(|one| one.text == found.text)
            .map_or_else(|| Id::<()>::generate().uuid(), |one| one.id),
        code: format!("AC-{:03}", position + 1),
        text: found.text,
        given: found.given,
        when: found.when,
        then: found.then,
    };
    UserStory {
        id: known.own_id(&found.key),
        code: String::new(),
        requirement_ids: found.requirement_keys.iter().filter_map(|key| requirements.id(key)).collect(),
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
        sources: merged(found.sources, before),
        version,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        tracker_issue: None,
        run_id,
        created_at,
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

/// Converts findings whose codes are local to their run; they are numbered from 1, in order.
pub fn numbered<F, T>(found: Vec<F>, make: impl Fn(F, Uuid, usize) -> T) -> Vec<T> {
    found
        .into_iter()
        .enumerate()
        .map(|(position, found)| make(found, Id::<()>::generate().uuid(), position + 1))
        .collect()
}

fn references(sources: Vec<Citation>) -> Vec<SourceReference> {
    sources.into_iter().map(Into::into).collect()
}

pub fn risk(found: RiskDraft, id: Uuid, number: usize) -> Risk {
    Risk {
        id,
        code: format!("RISK-{number:03}"),
        title: found.title,
        description: found.description,
        severity: found.severity,
        likelihood: found.likelihood,
        mitigation: found.mitigation,
        sources: references(found.sources),
    }
}

pub fn open_question(found: OpenQuestionDraft, id: Uuid, number: usize) -> OpenQuestion {
    OpenQuestion {
        id,
        code: format!("Q-{number:03}"),
        question: found.question,
        why: found.why,
        raised_by: found.raised_by,
        sources: references(found.sources),
    }
}

pub fn action_item(found: ActionItemDraft, id: Uuid, number: usize) -> ActionItem {
    ActionItem {
        id,
        code: format!("ACT-{number:03}"),
        text: found.text,
        assignee: found.assignee,
        due_date: found.due_date,
        sources: references(found.sources),
    }
}

pub fn decision(found: DecisionDraft, id: Uuid, number: usize) -> Decision {
    Decision { id, code: format!("DEC-{number:03}"), text: found.text, sources: references(found.sources) }
}
