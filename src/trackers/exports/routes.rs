//! HTTP handlers of exports to trackers.

use std::collections::HashSet;

use actors::ids::Id;
use uuid::Uuid;

use super::bodies::ExportApprovedUserStories;
use super::model::{ExportOptions, TrackerExport};
use super::operations::{self, ChosenStories, WishedExport};
use super::store::StoredTrackerExport;
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::page::PageQuery;
use crate::projects::model::Project;
use crate::trackers::state::Trackers;

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
