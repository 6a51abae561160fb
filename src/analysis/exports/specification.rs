//! Turns a dashboard into the specification that is written to files.

use std::collections::HashMap;

use exports::specification::{
    ActionItemEntry, CriterionEntry, DecisionEntry, OpenQuestionEntry, ProjectHead, QualityNote, RequirementEntry,
    RiskEntry, SelectionHead, SourceEntry, Specification, SpecificationSummary, UserStoryEntry,
};
use pipeline::result::QualityIssue;
use uuid::Uuid;

use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::items::model::{AcceptanceCriterion, Requirement, SourceReference, UserStory};
use crate::projects::model::Project;

/// What the cover of a file says beside its project.
pub struct ExportCover {
    /// The name of the person who exports.
    pub exported_by: String,
    pub selection: SelectionHead,
}

/// Describes a dashboard's items; `names` has the names of the sources.
#[must_use]
pub fn specification(
    project: &Project,
    dashboard: ResultsDashboard,
    names: &HashMap<Uuid, String>,
    cover: ExportCover,
) -> Specification {
    let edited = dashboard.requirements.iter().map(|one| one.updated_at);
    let edited = edited.chain(dashboard.user_stories.iter().map(|one| one.updated_at)).max();
    // What no run has found was not written at any other time than the project itself.
    let written = if dashboard.run_id.is_some() { dashboard.generated_at } else { project.updated_at };
    let sources = |all: Vec<SourceReference>| all.into_iter().map(|one| source(one, names)).collect();
    Specification {
        project: ProjectHead {
            id: project.id.to_string(),
            name: project.name.clone(),
            description: project.description.clone(),
            language: project.language.to_string(),
        },
        as_of: edited.map_or(written, |edited| edited.max(written)).to_string(),
        exported_by: cover.exported_by,
        selection: cover.selection,
        run_id: dashboard.run_id.map(|id| id.to_string()),
        summary: SpecificationSummary {
            text: dashboard.summary.text,
            key_decisions: dashboard.summary.key_decisions,
            scope: dashboard.summary.scope,
            out_of_scope: dashboard.summary.out_of_scope,
            assumptions: dashboard.summary.assumptions,
        },
        requirements: dashboard.requirements.into_iter().map(|one| requirement_entry(one, names)).collect(),
        user_stories: dashboard.user_stories.into_iter().map(|one| user_story_entry(one, names)).collect(),
        risks: dashboard
            .risks
            .into_iter()
            .map(|one| RiskEntry {
                id: one.id.to_string(),
                code: one.code,
                title: one.title,
                description: one.description,
                severity: one.severity.to_string(),
                likelihood: one.likelihood.to_string(),
                mitigation: one.mitigation,
                sources: sources(one.sources),
            })
            .collect(),
        open_questions: dashboard
            .open_questions
            .into_iter()
            .map(|one| OpenQuestionEntry {
                id: one.id.to_string(),
                code: one.code,
                question: one.question,
                why: one.why,
                raised_by: one.raised_by,
                sources: sources(one.sources),
            })
            .collect(),
        action_items: dashboard
            .action_items
            .into_iter()
            .map(|one| ActionItemEntry {
                id: one.id.to_string(),
                code: one.code,
                text: one.text,
                assignee: one.assignee,
                due_date: one.due_date,
                sources: sources(one.sources),
            })
            .collect(),
        decisions: dashboard
            .decisions
            .into_iter()
            .map(|one| DecisionEntry {
                id: one.id.to_string(),
                code: one.code,
                text: one.text,
                sources: sources(one.sources),
            })
            .collect(),
    }
}

/// Describes a requirement; `names` has the names of the sources.
#[must_use]
pub fn requirement_entry(one: Requirement, names: &HashMap<Uuid, String>) -> RequirementEntry {
    RequirementEntry {
        id: one.id.to_string(),
        code: one.code,
        kind: one.kind.to_string(),
        category: one.category.map(|category| category.to_string()),
        title: one.title,
        statement: one.statement,
        priority: one.priority.to_string(),
        confidence: one.confidence,
        workflow_status: one.workflow_status.to_string(),
        suspect: one.suspect,
        quality_issues: one.quality_issues.into_iter().map(note).collect(),
        duplicate_of: one.duplicate_of.map(|id| id.to_string()),
        conflicts_with: one.conflicts_with.iter().map(Uuid::to_string).collect(),
        version: one.version,
        revision_source: one.revision_source.to_string(),
        sources: one.sources.into_iter().map(|one| source(one, names)).collect(),
        created_at: one.created_at.to_string(),
        updated_at: one.updated_at.to_string(),
    }
}

/// Describes a user story; `names` has the names of the sources.
#[must_use]
pub fn user_story_entry(one: UserStory, names: &HashMap<Uuid, String>) -> UserStoryEntry {
    let (tracker_key, tracker_url) = one.tracker_issue.map(|issue| (issue.key, issue.url)).unzip();
    UserStoryEntry {
        id: one.id.to_string(),
        code: one.code,
        requirement_ids: one.requirement_ids.iter().map(Uuid::to_string).collect(),
        title: one.title,
        role: one.role,
        goal: one.goal,
        benefit: one.benefit,
        description: one.description,
        priority: one.priority.to_string(),
        acceptance_criteria: one.acceptance_criteria.into_iter().map(criterion).collect(),
        workflow_status: one.workflow_status.to_string(),
        suspect: one.suspect,
        quality_score: one.quality_score,
        quality_issues: one.quality_issues.into_iter().map(note).collect(),
        version: one.version,
        revision_source: one.revision_source.to_string(),
        tracker_key,
        tracker_url,
        sources: one.sources.into_iter().map(|one| source(one, names)).collect(),
        created_at: one.created_at.to_string(),
        updated_at: one.updated_at.to_string(),
    }
}

fn criterion(one: AcceptanceCriterion) -> CriterionEntry {
    CriterionEntry {
        id: one.id.to_string(),
        code: one.code,
        text: one.text,
        given: one.given,
        when: one.when,
        then: one.then,
    }
}

fn note(issue: QualityIssue) -> QualityNote {
    QualityNote { code: issue.code.to_string(), message: issue.message, severity: issue.severity.to_string() }
}

fn source(one: SourceReference, names: &HashMap<Uuid, String>) -> SourceEntry {
    let id = one.document_id.or(one.recording_id);
    SourceEntry {
        kind: one.kind.to_string(),
        id: id.map(|id| id.to_string()).unwrap_or_default(),
        // A source that was deleted has no name any more.
        name: id.and_then(|id| names.get(&id)).cloned().unwrap_or_default(),
        quote: one.quote,
        page: one.page,
        section: one.section,
        start_offset: one.start_offset,
        end_offset: one.end_offset,
        start_ms: one.start_ms,
        end_ms: one.end_ms,
        speaker: one.speaker,
    }
}
