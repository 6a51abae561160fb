//! The dashboard's response types.

use std::collections::BTreeMap;

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::results::model::{ActionItem, Decision, OpenQuestion, Requirement, Risk, UserStory};
use crate::pipeline::result as found;

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultsDashboard {
    #[schema(value_type = Uuid)]
    pub project_id: Id<ids::Project>,
    /// Null while no run of the project has a result; all lists are empty then.
    #[schema(required, value_type = Option<Uuid>)]
    pub run_id: Option<Id<Run>>,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub text: String,
    pub key_decisions: Vec<String>,
    pub scope: Vec<String>,
    pub out_of_scope: Vec<String>,
    pub assumptions: Vec<String>,
}

/// Counts and totals of a run's results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    pub requirements: u32,
    pub user_stories: u32,
    pub acceptance_criteria: u32,
    pub risks: u32,
    pub open_questions: u32,
    pub action_items: u32,
    pub decisions: u32,
    pub by_type: BTreeMap<String, u32>,
    pub by_priority: BTreeMap<String, u32>,
    pub by_status: BTreeMap<String, u32>,
    /// Number of sources that were read.
    pub sources: u32,
    pub words: u64,
    /// Minutes of speech.
    pub minutes: u64,
    /// Findings that were dropped because their quote does not occur in the source.
    pub ungrounded: u32,
    pub processing_ms: u64,
    /// Null when the engine does not count tokens.
    #[schema(required)]
    pub tokens: Option<u64>,
}

/// Quality indicators of a run's results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quality {
    /// Share of requirements without a quality issue, reduced by conflicts; 0–1.
    pub score: f64,
    pub issues: Vec<IssueCount>,
    /// Share of sources from which at least one finding comes; 0–1.
    pub coverage: f64,
    pub duplicates: u32,
    pub conflicts: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssueCount {
    #[schema(example = "VAGUE_WORD")]
    pub code: String,
    pub count: u32,
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
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub expires_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
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

impl From<found::Summary> for Summary {
    fn from(found: found::Summary) -> Self {
        Self {
            text: found.text,
            key_decisions: found.key_decisions,
            scope: found.scope,
            out_of_scope: found.out_of_scope,
            assumptions: found.assumptions,
        }
    }
}

/// Converts counts keyed by a pipeline enumeration to counts keyed by its serialized name.
fn spelled<K: Serialize>(counts: BTreeMap<K, u32>) -> BTreeMap<String, u32> {
    let name = |key: K| serde_json::to_value(key).ok().and_then(|value| value.as_str().map(str::to_owned));
    counts.into_iter().filter_map(|(key, count)| Some((name(key)?, count))).collect()
}

impl From<found::Metrics> for Metrics {
    fn from(found: found::Metrics) -> Self {
        Self {
            requirements: found.requirements,
            user_stories: found.user_stories,
            acceptance_criteria: found.acceptance_criteria,
            risks: found.risks,
            open_questions: found.open_questions,
            action_items: found.action_items,
            decisions: found.decisions,
            by_type: spelled(found.by_type),
            by_priority: spelled(found.by_priority),
            by_status: found.by_status,
            sources: found.sources,
            words: found.words,
            minutes: found.minutes,
            ungrounded: found.ungrounded,
            processing_ms: found.processing_ms,
            tokens: found.tokens,
        }
    }
}

impl From<found::Quality> for Quality {
    fn from(found: found::Quality) -> Self {
        let issue = |one: found::IssueCount| {
            let code = serde_json::to_value(one.code).ok()?.as_str()?.to_owned();
            Some(IssueCount { code, count: one.count })
        };
        Self {
            score: found.score,
            issues: found.issues.into_iter().filter_map(issue).collect(),
            coverage: found.coverage,
            duplicates: found.duplicates,
            conflicts: found.conflicts,
        }
    }
}
