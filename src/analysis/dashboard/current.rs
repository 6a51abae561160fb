//! The dashboard of the newest run with the items as they are now: what people changed or accepted since stands in the place of
//! what was stored. Items that changed are in memory one at a time.

use std::cell::RefCell;
use std::collections::HashMap;

use actors::ids::Id;
use actors::run::Run;
use bytes::Bytes;
use pipeline::result::Metrics;
use serde::de::DeserializeOwned;
use serde::ser::{Error, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::filter::DashboardFilter;
use super::filtering::Sieve;
use super::model::{CountedItem, ResultsDashboard, count};
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::items::model::{Requirement, UserStory};
use crate::analysis::items::spooled::SpooledItems;
use crate::http::error::ApiError;
use crate::projects::item_kind::ItemKind;

/// A stored result with the items that changed since.
#[derive(Clone, Copy)]
pub struct CurrentResult<'a> {
    pub stored: &'a str,
    pub run_id: Id<Run>,
    pub changed: &'a SpooledItems,
}

/// Why a result was not parsed.
pub enum Unparsed {
    /// It has more bytes than it may have.
    TooLarge,
    Failed(ApiError),
}

/// The parts of a stored [`ResultsDashboard`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredParts<'a> {
    #[serde(borrow)]
    project_id: &'a RawValue,
    #[serde(borrow)]
    run_id: &'a RawValue,
    #[serde(borrow)]
    generated_at: &'a RawValue,
    #[serde(borrow)]
    summary: &'a RawValue,
    #[serde(borrow)]
    requirements: Vec<&'a RawValue>,
    #[serde(borrow)]
    user_stories: Vec<&'a RawValue>,
    #[serde(borrow)]
    risks: &'a RawValue,
    #[serde(borrow)]
    open_questions: &'a RawValue,
    #[serde(borrow)]
    action_items: &'a RawValue,
    metrics: Metrics,
    #[serde(borrow)]
    quality: &'a RawValue,
    #[serde(borrow)]
    artifacts: &'a RawValue,
    #[serde(borrow)]
    decisions: &'a RawValue,
}

/// A [`ResultsDashboard`] that is serialized, its fields in the same order: the metrics count what was serialized before them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentDashboard<'a> {
    project_id: &'a RawValue,
    run_id: &'a RawValue,
    generated_at: &'a RawValue,
    summary: &'a RawValue,
    requirements: ShownItems<'a>,
    user_stories: ShownItems<'a>,
    risks: &'a RawValue,
    open_questions: &'a RawValue,
    action_items: &'a RawValue,
    metrics: ShownMetrics<'a>,
    quality: &'a RawValue,
    artifacts: &'a RawValue,
    exports: &'a [DashboardExport],
    decisions: &'a RawValue,
}

/// An item at its place.
#[derive(Clone, Copy)]
enum PlacedItem<'a> {
    Stored(&'a RawValue),
    /// The number of the item among those that changed.
    Changed(usize),
}

impl PlacedItem<'_> {
    fn body(self, changed: &SpooledItems) -> std::io::Result<Bytes> {
        match self {
            Self::Stored(body) => Ok(Bytes::copy_from_slice(body.get().as_bytes())),
            Self::Changed(at) => changed.body(at),
        }
    }
}

#[derive(Deserialize)]
struct Identified {
    id: Uuid,
}

/// The items of a kind: changed ones in place of the former ones, and at the end those that the run proposed and people accepted.
fn placed<'a>(
    stored: Vec<&'a RawValue>,
    kind: ItemKind,
    run_id: Id<Run>,
    changed: &SpooledItems,
) -> serde_json::Result<Vec<PlacedItem<'a>>> {
    let mut items: Vec<PlacedItem<'a>> = stored.iter().map(|body| PlacedItem::Stored(body)).collect();
    if changed.is_empty() {
        return Ok(items);
    }
    let mut places = HashMap::with_capacity(stored.len());
    for (at, body) in stored.iter().enumerate() {
        places.insert(serde_json::from_str::<Identified>(body.get())?.id, at);
    }
    for (number, item) in changed.iter().filter(|(_, item)| item.kind == kind) {
        match places.get(&item.id).and_then(|at| items.get_mut(*at)) {
            Some(former) => *former = PlacedItem::Changed(number),
            None if item.run_id == run_id => items.push(PlacedItem::Changed(number)),
            None => {}
        }
    }
    Ok(items)
}

struct ShownItems<'a> {
    items: Vec<PlacedItem<'a>>,
    changed: &'a SpooledItems,
    /// `None` if nothing is counted anew.
    counted: Option<&'a RefCell<Vec<CountedItem>>>,
}

/// The part of an item by which it is counted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CountedBody {
    #[serde(rename = "type")]
    kind: Option<pipeline::result::RequirementType>,
    priority: pipeline::result::Priority,
    workflow_status: crate::analysis::items::model::WorkflowStatus,
    #[serde(default)]
    acceptance_criteria: Vec<serde::de::IgnoredAny>,
}

impl Serialize for ShownItems<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(Some(self.items.len()))?;
        for item in &self.items {
            let body = item.body(self.changed).map_err(S::Error::custom)?;
            if let Some(counted) = self.counted {
                let body: CountedBody = serde_json::from_slice(&body).map_err(S::Error::custom)?;
                counted.borrow_mut().push(CountedItem {
                    kind: body.kind,
                    priority: body.priority,
                    workflow_status: body.workflow_status,
                    criteria: body.acceptance_criteria.len(),
                });
            }
            let body: &RawValue = serde_json::from_slice(&body).map_err(S::Error::custom)?;
            items.serialize_element(body)?;
        }
        items.end()
    }
}

struct ShownMetrics<'a> {
    stored: Metrics,
    counted: Option<&'a RefCell<Vec<CountedItem>>>,
}

impl Serialize for ShownMetrics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut metrics = self.stored.clone();
        if let Some(counted) = self.counted {
            count(&mut metrics, counted.borrow_mut().drain(..));
        }
        metrics.serialize(serializer)
    }
}

/// Gives `take` the dashboard to serialize, once.
///
/// # Errors
/// 500 for a stored result or item that can't be parsed, and those of `take`.
pub fn shown(
    CurrentResult { stored, run_id, changed }: CurrentResult<'_>,
    exports: &[DashboardExport],
    take: impl FnOnce(&CurrentDashboard<'_>) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let parts: StoredParts<'_> = serde_json::from_str(stored).map_err(ApiError::internal)?;
    let counts = RefCell::new(Vec::new());
    let counted = (!changed.is_empty()).then_some(&counts);
    let items = |stored, kind| placed(stored, kind, run_id, changed).map_err(ApiError::internal);
    let dashboard = CurrentDashboard {
        project_id: parts.project_id,
        run_id: parts.run_id,
        generated_at: parts.generated_at,
        summary: parts.summary,
        requirements: ShownItems { items: items(parts.requirements, ItemKind::Requirement)?, changed, counted },
        user_stories: ShownItems { items: items(parts.user_stories, ItemKind::UserStory)?, changed, counted },
        risks: parts.risks,
        open_questions: parts.open_questions,
        action_items: parts.action_items,
        metrics: ShownMetrics { stored: parts.metrics, counted },
        quality: parts.quality,
        artifacts: parts.artifacts,
        exports,
        decisions: parts.decisions,
    };
    take(&dashboard)
}

/// Parses what a filter keeps of a result, if it has at most `most` bytes.
///
/// # Errors
/// [`Unparsed`], with 500 for a stored result or item that can't be parsed.
pub fn parsed(
    CurrentResult { stored, run_id, changed }: CurrentResult<'_>,
    filter: &DashboardFilter,
    most: usize,
) -> Result<ResultsDashboard, Unparsed> {
    let failed = |error: serde_json::Error| Unparsed::Failed(ApiError::internal(error));
    let parts: StoredParts<'_> = serde_json::from_str(stored).map_err(failed)?;
    let mut sieve = Sieve::new(filter);
    let mut room = Room { left: most };
    let requirements = placed(parts.requirements, ItemKind::Requirement, run_id, changed).map_err(failed)?;
    let requirements = room.kept(&requirements, changed, |one: &Requirement| sieve.keeps_requirement(one))?;
    let stories = placed(parts.user_stories, ItemKind::UserStory, run_id, changed).map_err(failed)?;
    let user_stories = room.kept(&stories, changed, |one: &UserStory| sieve.keeps_story(one))?;
    let mut dashboard = ResultsDashboard {
        project_id: value(parts.project_id).map_err(failed)?,
        run_id: value(parts.run_id).map_err(failed)?,
        generated_at: value(parts.generated_at).map_err(failed)?,
        summary: value(parts.summary).map_err(failed)?,
        requirements,
        user_stories,
        risks: value(parts.risks).map_err(failed)?,
        open_questions: value(parts.open_questions).map_err(failed)?,
        action_items: value(parts.action_items).map_err(failed)?,
        metrics: parts.metrics,
        quality: value(parts.quality).map_err(failed)?,
        artifacts: value(parts.artifacts).map_err(failed)?,
        exports: Vec::new(),
        decisions: value(parts.decisions).map_err(failed)?,
    };
    if !filter.is_empty() {
        filter.apply(&mut dashboard);
    } else if !changed.is_empty() {
        dashboard.count_items();
    }
    Ok(dashboard)
}

fn value<T: DeserializeOwned>(raw: &RawValue) -> serde_json::Result<T> {
    serde_json::from_str(raw.get())
}

/// How many bytes may still be parsed.
struct Room {
    left: usize,
}

impl Room {
    fn kept<T: DeserializeOwned>(
        &mut self,
        items: &[PlacedItem<'_>],
        changed: &SpooledItems,
        mut keeps: impl FnMut(&T) -> bool,
    ) -> Result<Vec<T>, Unparsed> {
        let mut kept = Vec::new();
        for item in items {
            let body = item.body(changed).map_err(|error| Unparsed::Failed(ApiError::unavailable(error)))?;
            let one = serde_json::from_slice(&body).map_err(|error| Unparsed::Failed(ApiError::internal(error)))?;
            if keeps(&one) {
                self.left = self.left.checked_sub(body.len()).ok_or(Unparsed::TooLarge)?;
                kept.push(one);
            }
        }
        Ok(kept)
    }
}
