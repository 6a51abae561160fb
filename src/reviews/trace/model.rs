//! Response types of the trace matrix.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::model::{SourceReference, TrackerIssue, WorkflowStatus};

/// From each requirement of a project to what it comes from and what covers it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceMatrix {
    /// In the order of the requirements' codes. With `gapsOnly`, those with a gap.
    pub rows: Vec<TraceRow>,
    /// Stories that cover no requirement of the project, without rejected ones.
    pub orphans: Vec<TracedStory>,
    /// Of all rows, also with `gapsOnly`.
    pub totals: TraceTotals,
}

/// A requirement with its sources, stories and gaps.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceRow {
    /// The requirement that the row is about.
    pub requirement: TracedRequirement,
    /// The stories that cover it, in the order of their codes, rejected ones among them.
    pub user_stories: Vec<TracedStory>,
    pub sources: Vec<SourceReference>,
    /// Empty for a rejected requirement. Rejected stories count for nothing.
    pub gaps: Vec<TraceGap>,
}

/// A requirement of the trace matrix.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TracedRequirement {
    pub id: Uuid,
    #[schema(example = "REQ-001")]
    pub code: String,
    pub title: String,
    pub workflow_status: WorkflowStatus,
}

/// A user story of the trace matrix.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TracedStory {
    pub id: Uuid,
    #[schema(example = "US-001")]
    pub code: String,
    /// How many acceptance criteria it has.
    pub criteria: usize,
    pub workflow_status: WorkflowStatus,
    #[schema(required)]
    pub tracker_issue: Option<TrackerIssue>,
}

/// What a requirement lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TraceGap {
    /// No story covers it.
    NoStory,
    /// A story that covers it has no acceptance criteria.
    NoCriteria,
    /// It names no source.
    NoSource,
    /// A story that covers it has no issue in the issue tracker.
    NotExported,
    /// It is suspect, or a story that covers it is.
    Suspect,
}

/// The figures of a trace matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceTotals {
    /// Without rejected ones, as all totals but the next.
    pub requirements: usize,
    /// Rejected requirements. They have rows, but no gaps.
    pub rejected_requirements: usize,
    /// User stories that are not rejected.
    pub user_stories: usize,
    /// Acceptance criteria of the stories.
    pub criteria: usize,
    /// Requirements that a story covers.
    pub covered: usize,
    /// User stories that cover no requirement.
    pub orphans: usize,
    pub gaps: GapCounts,
}

/// How many requirements have each gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GapCounts {
    /// Requirements without a user story.
    pub no_story: usize,
    /// Requirements with a user story that has no acceptance criteria.
    pub no_criteria: usize,
    /// Requirements without a source.
    pub no_source: usize,
    /// Requirements with a user story that has no issue in the issue tracker.
    pub not_exported: usize,
    /// Requirements that are suspect, or that have a suspect user story.
    pub suspect: usize,
}

impl GapCounts {
    pub fn add(&mut self, gap: TraceGap) {
        let count = match gap {
            TraceGap::NoStory => &mut self.no_story,
            TraceGap::NoCriteria => &mut self.no_criteria,
            TraceGap::NoSource => &mut self.no_source,
            TraceGap::NotExported => &mut self.not_exported,
            TraceGap::Suspect => &mut self.suspect,
        };
        *count += 1;
    }
}
