//! The HTTP endpoints of exports to trackers.

use std::collections::HashSet;

use actors::ids::Id;
use utoipa::ToSchema;
use uuid::Uuid;

use super::MOST_STORIES;
use super::model::{ExportOptions, TrackerExport};
use super::operations::{self, ChosenStories, WishedExport};
use super::store::StoredTrackerExport;
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, ValidJson, ValidQuery};
use crate::http::page::PageQuery;
use crate::http::reason::Reason;
use crate::projects::model::Project;
use crate::trackers::state::Trackers;

/// Which user stories to export.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ExportApprovedUserStories {
    /// These stories; absent: all that are approved and not suspect. Of stories that are not approved the export says so.
    #[schema(max_items = 5000)]
    pub user_story_ids: Option<Vec<Id<()>>>,
    /// The stories that this earlier export did not export, in place of `userStoryIds`.
    pub retry_of: Option<Id<TrackerExport>>,
    /// Send nothing: only say what would be created, changed or skipped, and what the tracker would refuse.
    pub dry_run: Option<bool>,
    /// Create the issues anew that were deleted in the tracker.
    pub recreate_missing: Option<bool>,
    /// Overwrite what was edited in the tracker.
    pub overwrite_edited: Option<bool>,
}

impl Body for ExportApprovedUserStories {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let has_ids = fields.has("userStoryIds");
        let user_story_ids = fields.values("userStoryIds", MOST_STORIES, |_| Ok(()));
        let retry_of = fields.optional("retryOf");
        let dry_run = fields.optional("dryRun");
        let recreate_missing = fields.optional("recreateMissing");
        let overwrite_edited = fields.optional("overwriteEdited");
        if has_ids && matches!(retry_of, Ok(Some(_))) {
            return Err(fields.fault("retryOf", Reason::InvalidValue, "Give this or userStoryIds, not both."));
        }
        if has_ids && matches!(&user_story_ids, Ok(ids) if ids.is_empty()) {
            return Err(fields.fault("userStoryIds", Reason::TooShort, "This must have at least one item."));
        }
        Ok(Self {
            user_story_ids: Some(user_story_ids?).filter(|_| has_ids),
            retry_of: retry_of?,
            dry_run: dry_run?,
            recreate_missing: recreate_missing?,
            overwrite_edited: overwrite_edited?,
        })
    }
}

impl ExportApprovedUserStories {
    fn wished(self, id: Id<TrackerExport>) -> WishedExport {
        let stories = match (self.user_story_ids, self.retry_of) {
            (Some(ids), _) => {
                let mut ids: Vec<Uuid> = ids.into_iter().map(Id::uuid).collect();
                let mut seen = HashSet::new();
                ids.retain(|id| seen.insert(*id));
                ChosenStories::Some(ids)
            }
            (None, Some(export_id)) => ChosenStories::FailedOf(export_id),
            (None, None) => ChosenStories::Approved,
        };
        let options = ExportOptions {
            recreate_missing: self.recreate_missing.unwrap_or(false),
            overwrite_edited: self.overwrite_edited.unwrap_or(false),
        };
        WishedExport { id, stories, dry_run: self.dry_run.unwrap_or(false), options }
    }
}

pub async fn create(
    request: Authorized<Analyst<Project>, ValidJson<ExportApprovedUserStories>>,
    state: Trackers,
) -> Result<Reply<TrackerExport>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let Analyst { caller, resource: project, .. } = request.access;
    operations::create(&state, project.id, caller.user_id, body.wished(id), request.request_id)
        .await
        .map(Reply::accepted)
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<PageQuery>>,
    state: Trackers,
) -> Result<Reply<List<TrackerExport>>, ApiError> {
    let ValidQuery(page) = request.input;
    operations::list(&state, request.access.resource.id, page).await.map(Reply::ok)
}

pub async fn details(
    request: Authorized<Member<StoredTrackerExport>, Empty>,
    state: Trackers,
) -> Result<Reply<TrackerExport>, ApiError> {
    operations::details(&state, request.access.resource).await.map(Reply::ok)
}

pub async fn cancel(
    request: Authorized<Analyst<StoredTrackerExport>, Empty>,
    state: Trackers,
) -> Result<Reply<TrackerExport>, ApiError> {
    operations::cancel(&state, request.access.resource, request.request_id).await.map(Reply::ok)
}
