//! The dashboard's response types.

use std::collections::BTreeMap;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use pipeline::result::{Metrics, Priority, Quality, RequirementType, Summary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::analysis::exports::model::DashboardExport;
use crate::analysis::items::model::{ActionItem, Decision, OpenQuestion, Requirement, Risk, UserStory, WorkflowStatus};

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultsDashboard {
    pub project_id: Id<ids::Project>,
    /// Null while no run of the project has a result; all lists are empty then.
    #[schema(required)]
    pub run_id: Option<Id<Run>>,
    /// When the run ended whose results these are; without a run, the time of the response.
    pub generated_at: Time,
    /// The run's summary of the sources.
    pub summary: Summary,
    pub requirements: Vec<Requirement>,
    pub user_stories: Vec<UserStory>,
    pub risks: Vec<Risk>,
    pub open_questions: Vec<OpenQuestion>,
    pub action_items: Vec<ActionItem>,
    pub metrics: Metrics,
    pub quality: Quality,
    /// The exports of these results that can be downloaded.
    pub artifacts: Vec<Artifact>,
    /// The exports of this run that are kept, newest first.
    pub exports: Vec<DashboardExport>,
    pub decisions: Vec<Decision>,
}

/// A file produced by the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// What the file is, in words.
    pub name: String,
    /// The media type of the file.
    pub mime_type: String,
    /// The path of the download.
    pub url: String,
}

impl ResultsDashboard {
    /// The dashboard of a project in which no run has a result.
    #[must_use]
    pub fn empty(project_id: Id<ids::Project>, generated_at: Time) -> Self {
        Self {
            project_id,
            run_id: None,
            generated_at,
            summary: Summary::default(),
            requirements: Vec::new(),
            user_stories: Vec::new(),
            risks: Vec::new(),
            open_questions: Vec::new(),
            action_items: Vec::new(),
            metrics: Metrics::default(),
            quality: Quality::default(),
            artifacts: Vec::new(),
            exports: Vec::new(),
            decisions: Vec::new(),
        }
    }

    /// Counts the requirements and stories again, after some were left out or stand as people left them.
    pub fn count_items(&mut self) {
        let requirement = |one: &Requirement| CountedItem {
            kind: Some(one.kind),
            priority: one.priority,
            workflow_status: one.workflow_status,
            criteria: 0,
        };
        let story = |one: &UserStory| CountedItem {
            kind: None,
            priority: one.priority,
            workflow_status: one.workflow_status,
            criteria: one.acceptance_criteria.len(),
        };
        let counted = self.requirements.iter().map(requirement).chain(self.user_stories.iter().map(story));
        count(&mut self.metrics, counted);
    }
}

/// What the metrics count of a requirement or a story.
pub struct CountedItem {
    /// `None` for a story.
    pub kind: Option<RequirementType>,
    pub priority: Priority,
    pub workflow_status: WorkflowStatus,
    /// How many acceptance criteria it has.
    pub criteria: usize,
}

/// Replaces the counts of requirements and stories.
pub fn count(metrics: &mut Metrics, items: impl Iterator<Item = CountedItem>) {
    let (mut requirements, mut stories, mut criteria) = (0, 0, 0);
    (metrics.by_type, metrics.by_priority) = (BTreeMap::new(), BTreeMap::new());
    metrics.by_status = BTreeMap::from([(WorkflowStatus::NeedsReview.to_string(), 0)]);
    for item in items {
        *metrics.by_status.entry(item.workflow_status.to_string()).or_default() += 1;
        criteria += item.criteria;
        match item.kind {
            Some(kind) => {
                requirements += 1;
                *metrics.by_type.entry(kind).or_default() += 1;
                *metrics.by_priority.entry(item.priority).or_default() += 1;
            }
            None => stories += 1,
        }
    }
    (metrics.requirements, metrics.user_stories) = (requirements, stories);
    metrics.acceptance_criteria = u32::try_from(criteria).unwrap_or(u32::MAX);
}
