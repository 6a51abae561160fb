//! The dashboard's response types.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use pipeline::result::{Metrics, Quality, Summary};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::results::model::{ActionItem, Decision, OpenQuestion, Requirement, Risk, UserStory};

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultsDashboard {
    pub project_id: Id<ids::Project>,
    /// Null while no run of the project has a result; all lists are empty then.
    #[schema(required)]
    pub run_id: Option<Id<Run>>,
    pub generated_at: Time,
    pub summary: Summary,
    pub requirements: Vec<Requirement>,
    pub user_stories: Vec<UserStory>,
    pub risks: Vec<Risk>,
    pub open_questions: Vec<OpenQuestion>,
    pub action_items: Vec<ActionItem>,
    pub metrics: Metrics,
    pub quality: Quality,
    pub artifacts: Vec<Artifact>,
    pub exports: Vec<DashboardExport>,
    pub decisions: Vec<Decision>,
}

/// A file produced by the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    pub name: String,
    pub mime_type: String,
    pub url: String,
}

/// A file that a user exported from the dashboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DashboardExport {
    pub id: Uuid,
    pub format: String,
    #[schema(value_type = Object)]
    pub filters: Value,
    pub file_name: String,
    pub size_bytes: i64,
    pub url: String,
    pub expires_at: Time,
    pub created_at: Time,
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
}
