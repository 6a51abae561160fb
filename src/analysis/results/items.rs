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

use super::model::{
    AcceptanceCriterion, ActionItem, Decision, OpenQuestion, Requirement, RevisionSource, Risk, SourceReference,
    UserStory, WorkflowStatus,
};
use super::store::{Facts, Item, Kind};

/// The project's existing items of one kind among those that a run found, and the ids of all of the latter.
pub struct Known {
    items: HashMap<String, Item>,
    ids: HashMap<String, Uuid>,
    keys: HashMap<Uuid, String>,
    last_number: i64,
}

impl Known {
    /// `last_number` is the last number that was assigned.
    pub fn of(existing: Vec<Item>, keys: Vec<String>, last_number: i64) -> Self {
        let items: HashMap<String, Item> = existing.into_iter().map(|item| (item.text_key.clone(), item)).collect();
        let id = |key: &str| items.get(key).map_or_else(|| Id::<()>::generate().uuid(), |item| item.id.0.uuid());
        let ids: HashMap<String, Uuid> = keys.into_iter().map(|key| (key.clone(), id(&key))).collect();
        let keys = ids.iter().map(|(key, id)| (*id, key.clone())).collect();
        Self { items, ids, keys, last_number }
    }

    pub const fn last_number(&self) -> i64 {
        self.last_number
    }

    pub fn key(&self, id: Uuid) -> Option<String> {
        self.keys.get(&id).cloned()
    }

    /// The number of an item that the project already has.
    pub fn number(&self, key: &str) -> Option<i64> {
        self.items.get(key).map(|item| item.number)
    }

    /// `None` if the run found no such item.
    fn id(&self, key: &str) -> Option<Uuid> {
        self.ids.get(key).copied()
    }

    /// The id of an item that was found; [`Known::of`] assigned one to each.
    fn own_id(&self, key: &str) -> Uuid {
        self.id(key).unwrap_or_else(|| Id::<()>::generate().uuid())
    }

    /// The stored item, if there is one and it can be deserialized.
    fn existing<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.items.get(key).and_then(|item| serde_json::from_str(&item.body).ok())
    }
}

/// What both kinds of items have in common.
pub trait Coded: serde::Serialize {
    fn facts(&self) -> Facts;
    fn set_code(&mut self, code: String);
}

impl Coded for Requirement {
    fn facts(&self) -> Facts {
        Facts {
            id: self.id,
            kind: Kind::Requirement,
            item_type: self.kind.into_str(),
            priority: self.priority.into_str(),
            search_text: format!("{} {}", self.title, self.statement).to_lowercase(),
        }
    }
    fn set_code(&mut self, code: String) {
        self.code = code;
    }
}

impl Coded for UserStory {
    fn facts(&self) -> Facts {
        Facts {
            id: self.id,
            kind: Kind::UserStory,
            item_type: "",
            priority: self.priority.into_str(),
            search_text: format!("{} {}", self.title, self.description).to_lowercase(),
        }
    }
    fn set_code(&mut self, code: String) {
        self.code = code;
    }
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
        version: 1,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        run_id,
        created_at,
        updated_at: now,
        pattern: found.pattern,
    }
}

pub fn story(found: UserStoryDraft, known: &Known, requirements: &Known, run: &Run, now: Time) -> UserStory {
    let existing: Option<UserStory> = known.existing(&found.key);
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
        acceptance_criteria: found.acceptance_criteria.into_iter().enumerate().map(criterion).collect(),
        workflow_status: WorkflowStatus::NeedsReview,
        quality_score: found.quality_score,
        quality_issues: found.quality_issues,
        sources: merged(found.sources, before),
        version: 1,
        revision_source: RevisionSource::AiGenerated,
        suspect: false,
        tracker_issue: None,
        run_id,
        created_at,
        updated_at: now,
    }
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
