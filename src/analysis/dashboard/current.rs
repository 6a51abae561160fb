//! The dashboard of the newest run with the items as they are now: what people changed or accepted since stands in the place of
//! what was stored. Only what changed is parsed as a whole.

use std::collections::HashMap;

use actors::ids::Id;
use actors::run::Run;
use pipeline::result::{Metrics, Priority, RequirementType};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::model::{CountedItem, ResultsDashboard, count};
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::results::model::{Requirement, UserStory, WorkflowStatus};
use crate::analysis::results::store::{ChangedItem, Kind};
use crate::http::envelope::success;
use crate::http::error::ApiError;

/// The parts of a [`super::model::ResultsDashboard`], in their order.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct DashboardParts<'a> {
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
    #[serde(skip_deserializing)]
    exports: &'a [DashboardExport],
    #[serde(borrow)]
    decisions: &'a RawValue,
}

/// The part of an item by which it is found and counted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemOutline {
    id: Uuid,
    #[serde(rename = "type")]
    kind: Option<RequirementType>,
    priority: Priority,
    workflow_status: WorkflowStatus,
    #[serde(default)]
    acceptance_criteria: Vec<IgnoredAny>,
}

/// Returns 16 hex digits that change with any of the items.
pub fn hash(changed: &[ChangedItem]) -> String {
    let mut hash = Sha256::new();
    for item in changed {
        hash.update(&item.body);
    }
    hex::encode(hash.finalize()).chars().take(16).collect()
}

/// Serializes the stored result of a run with the items that changed since: in place of the former ones, and at the end those
/// that the run proposed and people accepted. `exports` are those of the run.
///
/// # Errors
/// 500 for a stored result or item that can't be parsed.
pub fn rendered(
    stored: &str,
    run_id: Id<Run>,
    changed: &[ChangedItem],
    exports: &[DashboardExport],
    message: &'static str,
) -> Result<Vec<u8>, ApiError> {
    let mut parts: DashboardParts<'_> = serde_json::from_str(stored).map_err(ApiError::internal)?;
    parts.exports = exports;
    if changed.is_empty() {
        return success(200, message, &parts);
    }
    let (mut requirements, mut stories) = (Vec::new(), Vec::new());
    for item in changed {
        let body: &RawValue = serde_json::from_str(&item.body).map_err(ApiError::internal)?;
        match item.kind {
            Kind::Requirement => requirements.push((body, item.run_id == run_id)),
            Kind::UserStory => stories.push((body, item.run_id == run_id)),
        }
    }
    let mut outlines = replace(&mut parts.requirements, requirements)?;
    outlines.extend(replace(&mut parts.user_stories, stories)?);
    let counted = outlines.into_iter().map(|item| CountedItem {
        kind: item.kind,
        priority: item.priority,
        workflow_status: item.workflow_status,
        criteria: item.acceptance_criteria.len(),
    });
    count(&mut parts.metrics, counted);
    success(200, message, &parts)
}

/// Parses the stored result of a run, with the items that changed since as [`rendered`] shows them.
///
/// # Errors
/// 500 for a stored result or item that can't be parsed.
pub fn parsed(stored: &str, run_id: Id<Run>, changed: &[ChangedItem]) -> Result<ResultsDashboard, ApiError> {
    let mut dashboard: ResultsDashboard = serde_json::from_str(stored).map_err(ApiError::internal)?;
    if changed.is_empty() {
        return Ok(dashboard);
    }
    let requirements = dashboard.requirements.iter().enumerate().map(|(at, one)| (one.id, at));
    let stories = dashboard.user_stories.iter().enumerate().map(|(at, one)| (one.id, at));
    let places: HashMap<Uuid, usize> = requirements.chain(stories).collect();
    for item in changed {
        let is_of_run = item.run_id == run_id;
        match item.kind {
            Kind::Requirement => {
                let one: Requirement = serde_json::from_str(&item.body).map_err(ApiError::internal)?;
                put(&mut dashboard.requirements, places.get(&one.id).copied(), one, is_of_run);
            }
            Kind::UserStory => {
                let one: UserStory = serde_json::from_str(&item.body).map_err(ApiError::internal)?;
                put(&mut dashboard.user_stories, places.get(&one.id).copied(), one, is_of_run);
            }
        }
    }
    dashboard.count_items();
    Ok(dashboard)
}

/// Puts an item in its place, or at the end if it is new and of the run.
fn put<T>(items: &mut Vec<T>, place: Option<usize>, item: T, is_of_run: bool) {
    match place.and_then(|at| items.get_mut(at)) {
        Some(former) => *former = item,
        None if is_of_run => items.push(item),
        None => {}
    }
}

/// Replaces the items that changed, and adds those of the run that are not among them. Returns the outlines of all.
fn replace<'a>(
    items: &mut Vec<&'a RawValue>,
    changed: Vec<(&'a RawValue, bool)>,
) -> Result<Vec<ItemOutline>, ApiError> {
    let outline = |item: &RawValue| serde_json::from_str::<ItemOutline>(item.get()).map_err(ApiError::internal);
    let mut outlines = items.iter().map(|item| outline(item)).collect::<Result<Vec<_>, _>>()?;
    let places: HashMap<Uuid, usize> = outlines.iter().enumerate().map(|(at, item)| (item.id, at)).collect();
    for (body, is_of_run) in changed {
        let item = outline(body)?;
        let place = places.get(&item.id).copied();
        match place.and_then(|at| Some((items.get_mut(at)?, outlines.get_mut(at)?))) {
            Some((former, outlined)) => (*former, *outlined) = (body, item),
            None if is_of_run => {
                items.push(body);
                outlines.push(item);
            }
            None => {}
        }
    }
    Ok(outlines)
}
