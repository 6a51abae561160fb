//! The dashboard's response types.

use std::collections::BTreeMap;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use pipeline::result::{Metrics, Priority, Quality, RequirementType, Summary};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::exports::model::DashboardExport;
use crate::analysis::items::model::{ActionItem, Decision, OpenQuestion, Requirement, Risk, UserStory, WorkflowStatus};
use crate::analysis::items::project_item::ProjectItem;
use crate::projects::item_kind::ItemKind;

/// The specification of a project as it stands, or what one run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultsDashboard {
    pub project_id: Id<ids::Project>,
    /// The run; of the specification, the newest run that has a result. Null while no run of the project has one.
    #[schema(required)]
    pub run_id: Option<Id<Run>>,
    /// When that run ended; without a run, the time of the response.
    pub generated_at: Time,
    /// Of the specification: what matters most, what was decided and what is open, in sentences of items with their codes. Of a
    /// run: its sources in short.
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
    /// The exports of the specification, or of this run, that are kept, newest first.
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

    /// Adds an item to those of its kind.
    pub fn push(&mut self, item: ProjectItem) {
        match item {
            ProjectItem::Requirement(one) => self.requirements.push(one),
            ProjectItem::UserStory(one) => self.user_stories.push(one),
            ProjectItem::Risk(one) => self.risks.push(one),
            ProjectItem::OpenQuestion(one) => self.open_questions.push(one),
            ProjectItem::ActionItem(one) => self.action_items.push(one),
            ProjectItem::Decision(one) => self.decisions.push(one),
        }
    }

    /// Leaves out all items but those that `keeps` says to keep, by id and status.
    #[must_use]
    pub fn keep(mut self, keeps: impl Fn(Uuid, WorkflowStatus) -> bool) -> Self {
        macro_rules! keep_of {
            ($($list:ident),*) => {
                $(self.$list.retain(|one| keeps(one.id, one.workflow_status));)*
            };
        }
        keep_of!(requirements, user_stories, risks, open_questions, action_items, decisions);
        self.count_items();
        self
    }

    /// Counts the items again, after some were added or left out.
    pub fn count_items(&mut self) {
        let requirement = |one: &Requirement| CountedItem {
            item: ItemKind::Requirement,
            kind: Some(one.kind),
            priority: Some(one.priority),
            workflow_status: one.workflow_status,
            criteria: 0,
        };
        let story = |one: &UserStory| CountedItem {
            item: ItemKind::UserStory,
            kind: None,
            priority: Some(one.priority),
            workflow_status: one.workflow_status,
            criteria: one.acceptance_criteria.len(),
        };
        let other = |item: ItemKind, workflow_status: WorkflowStatus| CountedItem {
            item,
            kind: None,
            priority: None,
            workflow_status,
            criteria: 0,
        };
        let counted = self
            .requirements
            .iter()
            .map(requirement)
            .chain(self.user_stories.iter().map(story))
            .chain(self.risks.iter().map(|one| other(ItemKind::Risk, one.workflow_status)))
            .chain(self.open_questions.iter().map(|one| other(ItemKind::OpenQuestion, one.workflow_status)))
            .chain(self.action_items.iter().map(|one| other(ItemKind::ActionItem, one.workflow_status)))
            .chain(self.decisions.iter().map(|one| other(ItemKind::Decision, one.workflow_status)));
        count(&mut self.metrics, counted);
    }
}

/// What the metrics count of an item.
pub struct CountedItem {
    pub item: ItemKind,
    /// Of a requirement.
    pub kind: Option<RequirementType>,
    /// Of a requirement or a story.
    pub priority: Option<Priority>,
    pub workflow_status: WorkflowStatus,
    /// How many acceptance criteria it has.
    pub criteria: usize,
}

/// Replaces the counts of items. The statuses are those of requirements and stories, which people review one by one.
pub fn count(metrics: &mut Metrics, items: impl Iterator<Item = CountedItem>) {
    let (mut criteria, mut counts) = (0, BTreeMap::<ItemKind, u32>::new());
    (metrics.by_type, metrics.by_priority) = (BTreeMap::new(), BTreeMap::new());
    metrics.by_status = BTreeMap::from([(WorkflowStatus::NeedsReview.to_string(), 0)]);
    for CountedItem { item, kind, priority, workflow_status, criteria: own } in items {
        *counts.entry(item).or_default() += 1;
        criteria += own;
        if let Some(kind) = kind {
            *metrics.by_type.entry(kind).or_default() += 1;
        }
        if let (Some(priority), ItemKind::Requirement) = (priority, item) {
            *metrics.by_priority.entry(priority).or_default() += 1;
        }
        if matches!(item, ItemKind::Requirement | ItemKind::UserStory) {
            *metrics.by_status.entry(workflow_status.to_string()).or_default() += 1;
        }
    }
    let of = |kind: ItemKind| counts.get(&kind).copied().unwrap_or_default();
    (metrics.requirements, metrics.user_stories) = (of(ItemKind::Requirement), of(ItemKind::UserStory));
    (metrics.risks, metrics.open_questions) = (of(ItemKind::Risk), of(ItemKind::OpenQuestion));
    (metrics.action_items, metrics.decisions) = (of(ItemKind::ActionItem), of(ItemKind::Decision));
    metrics.acceptance_criteria = u32::try_from(criteria).unwrap_or(u32::MAX);
}
