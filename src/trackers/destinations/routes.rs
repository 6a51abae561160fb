//! HTTP handlers of destinations.

use actix_web::HttpRequest;

use super::bodies::{ProjectsQuery, SaveTrackerDestination, SiteQuery};
use super::model::{TrackerDestination, TrackerIssueType};
use super::operations::{self, WishedDestination};
use crate::access::policy::Manager;
use crate::api::operation::Authorized;
use crate::clients::trackers::model::TrackerProjectOption;
use crate::http::code::Code;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Described, Input, Raw, ValidJson, ValidQuery};
use crate::http::route_table::path_parameter;
use crate::projects::model::Project;
use crate::trackers::connections::model::TrackerId;
use crate::trackers::state::Trackers;

pub async fn projects(
    request: Authorized<Manager<Project>, ValidQuery<ProjectsQuery>>,
    state: Trackers,
) -> Result<Reply<List<TrackerProjectOption>>, ApiError> {
    let ValidQuery(ProjectsQuery { site_id, search, page }) = request.input;
    let search = search.map(|search| search.0);
    operations::projects(&state, request.access.resource.id, site_id, search, page, request.request_id)
        .await
        .map(Reply::ok)
}

/// The tracker's project in the path, with the query.
pub struct OfTrackerProject {
    id: TrackerId,
    query: SiteQuery,
}

impl Input for OfTrackerProject {
    async fn take(request: &HttpRequest, raw: Raw) -> Result<Self, ApiError> {
        let text = path_parameter(request, "trackerProjectId");
        // An id that no tracker gives names nothing.
        let id = TrackerId::read(text).map_err(|_| ApiError::of(Code::NOT_FOUND))?;
        let ValidQuery(query) = ValidQuery::take(request, raw).await?;
        Ok(Self { id, query })
    }
    fn describe() -> Described {
        ValidQuery::<SiteQuery>::describe()
    }
}

pub async fn issue_types(
    request: Authorized<Manager<Project>, OfTrackerProject>,
    state: Trackers,
) -> Result<Reply<List<TrackerIssueType>>, ApiError> {
    let OfTrackerProject { id, query } = request.input;
    operations::issue_types(&state, request.access.resource.id, query.site_id, id, request.request_id)
        .await
        .map(Reply::ok)
}

pub async fn save(
    request: Authorized<Manager<Project>, ValidJson<SaveTrackerDestination>>,
    state: Trackers,
) -> Result<Reply<TrackerDestination>, ApiError> {
    let ValidJson(body) = request.input;
    let wished = WishedDestination {
        site_id: body.site_id,
        tracker_project_id: body.tracker_project_id,
        issue_type_id: body.issue_type_id,
        field_defaults: body.field_defaults.unwrap_or_default().0,
        labels: body.labels.unwrap_or_default(),
    };
    operations::save(&state, request.access.resource.id, wished, request.request_id).await.map(Reply::ok)
}
