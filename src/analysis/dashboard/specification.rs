//! The specification as it stands: the items of the project, whichever runs found them. Their bodies are in a spool, and in memory
//! one at a time.

use std::collections::{BTreeMap, HashSet};

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use pipeline::engine::quality_score;
use pipeline::result::{IssueCode, IssueCount, Metrics, ModelMetrics, Priority, Quality, RequirementType, Summary};
use serde::ser::{Error, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use strum::VariantArray;
use uuid::Uuid;

use super::filter::DashboardFilter;
use super::filtering::Sieve;
use super::model::{Artifact, CountedItem, ResultsDashboard, count};
use super::shares::RunShare;
use super::summary::{self, StatedItem};
use super::unparsed::Unparsed;
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::spooled::SpooledItems;
use crate::analysis::items::store::item_of;
use crate::http::error::ApiError;
use crate::projects::item_kind::ItemKind;

/// The specification of a project, and what is known of the runs that it comes from.
pub struct StoredSpecification {
    pub project_id: Id<ids::Project>,
    /// As of when it is.
    pub now: Time,
    /// The oldest first.
    pub runs: Vec<RunShare>,
    /// What the newest run did, in sentences; `None` if it is the only one.
    pub latest: Option<String>,
    pub items: SpooledItems,
}

/// What the specification says of all its items.
struct SpecificationOverview {
    summary: Summary,
    metrics: Metrics,
    quality: Quality,
}

/// A [`ResultsDashboard`] that is serialized, its fields in the same order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownSpecification<'a> {
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    generated_at: Time,
    summary: Summary,
    requirements: ShownItems<'a>,
    user_stories: ShownItems<'a>,
    risks: ShownItems<'a>,
    open_questions: ShownItems<'a>,
    action_items: ShownItems<'a>,
    metrics: Metrics,
    quality: Quality,
    artifacts: &'a [Artifact],
    exports: &'a [DashboardExport],
    decisions: ShownItems<'a>,
}

/// The items of a kind.
struct ShownItems<'a> {
    items: &'a SpooledItems,
    kind: ItemKind,
}

impl Serialize for ShownItems<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self.items.iter().filter(|(_, item)| item.kind == self.kind);
        let mut items = serializer.serialize_seq(None)?;
        for (at, _) in own {
            let body = self.items.body(at).map_err(S::Error::custom)?;
            let body: &RawValue = serde_json::from_slice(&body).map_err(S::Error::custom)?;
            items.serialize_element(body)?;
        }
        items.end()
    }
}

impl StoredSpecification {
    /// The newest run that has added to it.
    #[must_use]
    pub fn newest_run(&self) -> Option<Id<Run>> {
        self.runs.last().map(|run| run.run_id)
    }

    /// When the newest run ended; before any run, the time of the response.
    fn generated_at(&self) -> Time {
        self.runs.last().map_or(self.now, |run| run.ended_at)
    }

    /// Returns a text that changes with anything that it says, and differs between projects. Blocks.
    ///
    /// # Errors
    /// The spool can't be read.
    pub fn revision(&self) -> std::io::Result<String> {
        let mut runs = Sha256::new();
        for RunShare { run_id, ended_at, summary, metrics, .. } in &self.runs {
            runs.update(format!("{run_id} {} {summary:?} {metrics:?}\n", ended_at.millis()));
        }
        runs.update(format!("{:?}", self.latest));
        let runs: String = hex::encode(runs.finalize()).chars().take(16).collect();
        Ok(format!("{}-{runs}-{}", self.project_id, self.items.hash(16)?))
    }

    /// The size of all that is stored, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.items.bytes()
    }

    /// How much memory it takes to show it: what is known of each item, and some items.
    #[must_use]
    pub fn bytes_shown(&self) -> usize {
        let largest = self.items.iter().map(|(_, item)| item.bytes).max().unwrap_or_default();
        self.items.iter().count().saturating_mul(KEPT_OF_ITEM_BYTES).saturating_add(largest.saturating_mul(4))
    }

    /// Gives `take` the dashboard to serialize, once. Blocks.
    ///
    /// # Errors
    /// 500 for a stored item that can't be parsed, and those of `take`.
    pub fn shown(
        &self,
        exports: &[DashboardExport],
        take: impl FnOnce(&ShownSpecification<'_>) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        let SpecificationOverview { summary, metrics, quality } = self.overview()?;
        let of = |kind| ShownItems { items: &self.items, kind };
        take(&ShownSpecification {
            project_id: self.project_id,
            run_id: self.newest_run(),
            generated_at: self.generated_at(),
            summary,
            requirements: of(ItemKind::Requirement),
            user_stories: of(ItemKind::UserStory),
            risks: of(ItemKind::Risk),
            open_questions: of(ItemKind::OpenQuestion),
            action_items: of(ItemKind::ActionItem),
            metrics,
            quality,
            artifacts: &[],
            exports,
            decisions: of(ItemKind::Decision),
        })
    }

    /// Parses what a filter keeps, if it has at most `most` bytes. Blocks.
    ///
    /// # Errors
    /// [`Unparsed`], with 500 for a stored item that can't be parsed.
    pub fn parsed(&self, filter: &DashboardFilter, most: usize) -> Result<ResultsDashboard, Unparsed> {
        let SpecificationOverview { summary, metrics, quality } = self.overview().map_err(Unparsed::Failed)?;
        let mut dashboard = ResultsDashboard {
            run_id: self.newest_run(),
            generated_at: self.generated_at(),
            summary,
            metrics,
            quality,
            ..ResultsDashboard::empty(self.project_id, self.now)
        };
        let (mut sieve, mut left) = (Sieve::new(filter), most);
        for kind in ItemKind::VARIANTS {
            for (at, _) in self.items.iter().filter(|(_, item)| item.kind == *kind) {
                let body = self.body(at).map_err(Unparsed::Failed)?;
                let text = std::str::from_utf8(&body).map_err(|error| Unparsed::Failed(ApiError::internal(error)))?;
                let item = item_of(*kind, text).map_err(|failed| Unparsed::Failed(failed.into()))?;
                if sieve.keeps(&item) {
                    left = left.checked_sub(body.len()).ok_or(Unparsed::TooLarge)?;
                    dashboard.push(item);
                }
            }
        }
        if !filter.is_empty() {
            dashboard.count_items();
        }
        Ok(dashboard)
    }

    fn body(&self, at: usize) -> Result<bytes::Bytes, ApiError> {
        self.items.body(at).map_err(ApiError::unavailable)
    }

    /// Goes through all items once.
    fn overview(&self) -> Result<SpecificationOverview, ApiError> {
        let mut counts = ItemCounts::default();
        for (at, item) in self.items.iter() {
            let body = self.body(at)?;
            let seen: CountedBody = serde_json::from_slice(&body).map_err(ApiError::internal)?;
            counts.add(at, item.kind, seen);
        }
        let read: HashSet<Uuid> = self.runs.iter().flat_map(|run| run.documents.iter().copied()).collect();
        let sources = read.union(&counts.quoted).count();
        let mut metrics = self.metrics();
        count(&mut metrics, counts.counted.drain(..));
        metrics.sources = u32_of(sources);
        let quality = counts.quality(sources);
        let summary = summary::of(&self.runs, self.latest.as_deref(), &counts.stated, |at| {
            let body = self.body(at)?;
            serde_json::from_slice(&body).map_err(ApiError::internal)
        })?;
        Ok(SpecificationOverview { summary, metrics, quality })
    }

    /// What all runs did together.
    fn metrics(&self) -> Metrics {
        let sum = |of: fn(&Metrics) -> u64| self.runs.iter().map(|run| of(&run.metrics)).sum::<u64>();
        let tokens: Vec<u64> = self.runs.iter().filter_map(|run| run.metrics.tokens).collect();
        let model: Option<ModelMetrics> = self.runs.iter().rev().find_map(|run| run.metrics.model.clone());
        Metrics {
            words: sum(|one| one.words),
            minutes: sum(|one| one.minutes),
            ungrounded: u32::try_from(sum(|one| one.ungrounded.into())).unwrap_or(u32::MAX),
            processing_ms: sum(|one| one.processing_ms),
            tokens: (!tokens.is_empty()).then(|| tokens.iter().sum()),
            model,
            ..Metrics::default()
        }
    }
}

/// What is kept in memory of an item while the others are gone through, in bytes.
const KEPT_OF_ITEM_BYTES: usize = 256;

/// The part of an item, of whichever kind, by which it is counted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CountedBody {
    #[serde(rename = "type")]
    kind: Option<RequirementType>,
    priority: Option<Priority>,
    workflow_status: WorkflowStatus,
    #[serde(default)]
    acceptance_criteria: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    quality_issues: Vec<CountedIssue>,
    #[serde(default)]
    conflicts_with: Vec<Uuid>,
    sources: Vec<CountedSource>,
}

#[derive(Deserialize)]
struct CountedIssue {
    code: IssueCode,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CountedSource {
    document_id: Option<Uuid>,
    recording_id: Option<Uuid>,
}

#[derive(Default)]
struct ItemCounts {
    counted: Vec<CountedItem>,
    stated: Vec<StatedItem>,
    quoted: HashSet<Uuid>,
    issues: BTreeMap<IssueCode, u32>,
    requirements: usize,
    clean: usize,
    /// How often a requirement is named as a contradiction of another one.
    conflicts: usize,
    /// Places of items beside their first ones.
    repeated: usize,
}

impl ItemCounts {
    fn add(&mut self, at: usize, kind: ItemKind, seen: CountedBody) {
        let source = |source: &CountedSource| source.document_id.or(source.recording_id);
        self.quoted.extend(seen.sources.iter().filter_map(source));
        self.repeated += seen.sources.len().saturating_sub(1);
        self.counted.push(CountedItem {
            item: kind,
            kind: seen.kind,
            priority: seen.priority,
            workflow_status: seen.workflow_status,
            criteria: seen.acceptance_criteria.len(),
        });
        if seen.workflow_status == WorkflowStatus::Rejected {
            return;
        }
        let source = seen.sources.first().and_then(source);
        self.stated.push(StatedItem { at, kind, priority: seen.priority, source });
        if kind == ItemKind::Requirement {
            self.requirements += 1;
            self.clean += usize::from(seen.quality_issues.is_empty());
            let codes: HashSet<IssueCode> = seen.quality_issues.iter().map(|issue| issue.code).collect();
            codes.into_iter().for_each(|code| *self.issues.entry(code).or_default() += 1);
            self.conflicts += seen.conflicts_with.len();
        }
    }

    fn quality(&self, sources: usize) -> Quality {
        // A pair is named by both of its ends.
        let conflicts = self.conflicts.div_ceil(2);
        Quality {
            score: quality_score(self.clean, self.requirements, conflicts),
            issues: self.issues.iter().map(|(code, count)| IssueCount { code: *code, count: *count }).collect(),
            coverage: share(self.quoted.len(), sources),
            duplicates: u32_of(self.repeated),
            conflicts: u32_of(conflicts),
        }
    }
}

fn u32_of(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// In two decimals.
fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { (f64::from(u32_of(part)) / f64::from(u32_of(of)) * 100.0).round() / 100.0 }
}
